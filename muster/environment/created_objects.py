"""The namespaced objects that a scenario creates, as its writes to the API show them, deleted one by one at its end.

Deleting the namespace instead would make the API server list and delete every kind that it serves, which was half of
all requests of a run. On a cluster of Muster's own the namespace stays; no later scenario uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from muster.cluster.api import Api, Write
from muster.cluster.resources import POD, SERVICE_ACCOUNT

_COLLECTION = re.compile(r"^/apis?/(?:[^/]+/)?v[^/]+/namespaces/(?P<namespace>[^/]+)/(?P<plural>[^/]+)$")
_NOT_DELETED = (
    POD.plural,  # deleted as a collection
    SERVICE_ACCOUNT.plural,  # a controller would create it again
)


class CreatedObjects:
    """Collects the objects of one scenario in namespaces that are its own."""

    def __init__(self) -> None:
        self._paths: list[str] = []

    def and_for(self, other: Callable[[Write], None]) -> Callable[[Write], None]:
        """A listener to writes for both."""

        def listen(write: Write) -> None:
            self.write(write)
            other(write)

        return listen

    def write(self, write: Write) -> None:
        found = _COLLECTION.match(write.path)
        if write.method != "POST" or found is None or found["plural"] in _NOT_DELETED:
            return
        name = (write.body or {}).get("metadata", {}).get("name")
        if name:
            self._paths.append(f"{write.path}/{name}")

    def delete(self, api: Api) -> None:
        """The newest first, as objects refer to older ones; what they own is garbage-collected."""
        while self._paths:
            api.delete_path(self._paths.pop())
