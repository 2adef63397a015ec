"""The API of a kind cluster as scenarios see it: without the real node, its pods, and what is told of the node itself.

The recorder asks `own` about each object of a watch, for its bytes go past this class. Trap: the cluster's own
scheduler signs its events with the node's name, and they are what scenarios are about; the name alone hides nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from muster.cluster.api import Api
from muster.cluster.connections import Connection
from muster.cluster.resources import Resource

_TELLING = ("name", "nodeName")  # the fields that make an object the node's
_AS_SENT = (",", ":")  # by the API server: no blanks


class ScenarioView(Api):
    """`hidden` is the name of the real node."""

    hidden = ""

    def own(self, raw: bytes) -> bytes | None:
        return None if any(f'"{field}":"{self.hidden}"'.encode() in raw for field in _TELLING) else raw

    def list(self, resource: Resource, namespace: str | None = None, **query: str) -> dict[str, Any]:
        answer = super().list(resource, namespace, **query)
        items = [one for one in answer["items"] if self.own(json.dumps(one, separators=_AS_SENT).encode())]
        answer["items"] = items
        return answer


@dataclass(frozen=True)
class KindConnection(Connection):
    """A connection for scenarios; `node` is what they do not see."""

    node: str = ""

    @cached_property
    def api(self) -> Api:
        api = ScenarioView.connect(self.kubeconfig, self.context)
        assert isinstance(api, ScenarioView)
        api.hidden = self.node
        return api
