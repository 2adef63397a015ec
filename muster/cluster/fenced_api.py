"""The API behind a fence: steps, recorder and commands speak of `gpu-1`, the cluster hears `gpu-1-muster-k7m2qx0`.

The trap is the watch: its bytes go past this class, so the recorder asks `own` about each object that it reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3

from muster.cluster.api import Api
from muster.cluster.fences import QUESTIONS, Fence

_BESIDE = ".fence"  # the file that fences a kubeconfig, for every Muster command that is given it


class FencedApi(Api):
    """One run's view of the cluster."""

    one_order = False

    def __init__(self, client: Any, fence: Fence) -> None:
        super().__init__(client)
        self.fence = fence
        self._token = fence.token.encode()

    def own(self, raw: bytes) -> bytes | None:
        return self.fence.shown(raw) if self._token in raw else None

    def read(self, path: str, **query: str) -> bytes:
        """As it came: whoever decodes it asks `own` about each object."""
        return super()._bytes("GET", path, query=query)

    def _bytes(self, method: str, path: str, **options: Any) -> bytes:
        return self.fence.shown(super()._bytes(method, path, **options))

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None,
        content_type: str,
        timeout: float,
    ) -> urllib3.BaseHTTPResponse:
        fence = self.fence
        if method == "GET" and (selector := fence.selector(path)):
            asked = query.get("labelSelector")
            query = {**query, "labelSelector": f"{asked},{selector}" if asked else selector}
        fenced = fence.path(method, path)
        if body is not None and not fenced.startswith(QUESTIONS):
            body = fence.created(body) if method == "POST" else fence.changed(path, body)
        return super()._send(method, fenced, query, body, content_type, timeout)


def write_fence(kubeconfig: Path, fence: Fence) -> None:
    """From now on whoever connects with this kubeconfig is behind the fence."""
    described = {"run": fence.run, "scheduler": fence.scheduler}
    kubeconfig.with_name(kubeconfig.name + _BESIDE).write_text(json.dumps(described), encoding="utf-8")


def read_fence(kubeconfig: Path) -> Fence | None:
    file = kubeconfig.with_name(kubeconfig.name + _BESIDE)
    return Fence(**json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else None
