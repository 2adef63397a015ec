"""One change that the API server sent, and the moment at which it arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from muster.recording.objects import Object


class Moment(NamedTuple):
    """A point in a history: the resourceVersion orders, the arrival time (monotonic seconds) measures.

    resourceVersions of different kinds compare only where one etcd serves them all: on a cluster that Muster started.
    Elsewhere the version is 0 throughout and the arrival orders, too; within one kind that is the order of versions.
    """

    version: int
    at: float


@dataclass(frozen=True, slots=True)
class Record:
    """An object as it was at a moment."""

    kind: str
    change: str  # ADDED, MODIFIED or DELETED
    moment: Moment
    object: Object
    raw: bytes

    @property
    def key(self) -> tuple[str, str]:
        return self.object.metadata.namespace, self.object.metadata.name
