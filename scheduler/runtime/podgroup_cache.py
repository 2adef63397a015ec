"""What is believed of groups: their objects, how their members stand, and the status that is being written.

Both families share one name space: of two namesakes the older one counts, and pods that name either belong to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from scheduler.client import DELETED
from scheduler.core.cluster import Cluster
from scheduler.core.model import Counts, Group, Key
from scheduler.runtime.customs import read_group
from scheduler.runtime.objects import ApiPod, Custom, PriorityClass
from scheduler.runtime.reading import group_of


@dataclass(slots=True, eq=False)
class Written:
    """A status on its way. Several may be, one after the other: each is confirmed by its own answer."""

    phase: str
    counts: Counts
    version: int | None = None  # what the write returned; None while it is under way


class Groups:
    """Keeps the cluster's groups and counts; `changed` is called whenever one of them is not what it was."""

    def __init__(self, cluster: Cluster, changed: Callable[[], None]) -> None:
        self.classes: dict[str, PriorityClass] = {}
        self._cluster = cluster
        self._changed = changed
        self._found: dict[Key, dict[str, Custom]] = defaultdict(dict)  # by kind
        self._written: dict[Key, Written] = {}
        self._phases: dict[Key, dict[str, str]] = defaultdict(dict)  # of the members, by uid
        self._bound: dict[Key, set[str]] = defaultdict(set)
        self._home: dict[str, Key] = {}

    def saw(self, kind: str, change: str, found: Custom) -> None:
        key = found.metadata.key
        if change == DELETED:
            self._found[key].pop(kind, None)
        else:
            self._found[key][kind] = found
        self._tell(key)

    def saw_class(self, change: str, found: PriorityClass) -> None:
        if change == DELETED:
            self.classes.pop(found.metadata.name, None)
        else:
            self.classes[found.metadata.name] = found
        for key in list(self._found):
            self._tell(key)

    def saw_member(self, found: ApiPod) -> None:
        uid, key = found.metadata.uid, group_of(found)
        if self._home.get(uid) != key:
            self.lost_member(uid)
        if key is None:
            return
        self._home[uid] = key
        if found.spec.node_name:
            self._bound[key].add(uid)
        if self._phases[key].get(uid) != found.status.phase:
            self._phases[key][uid] = found.status.phase
            self._count(key)

    def lost_member(self, uid: str) -> None:
        key = self._home.pop(uid, None)
        if key is not None:
            self._phases[key].pop(uid, None)
            self._bound[key].discard(uid)
            self._count(key)
            if not self._phases[key]:
                del self._phases[key], self._bound[key]

    def scheduled(self, key: Key) -> int:
        """Members that have a node, or had one when they came to their end."""
        return len(self._bound.get(key, ()))

    def found(self, group: Group) -> Custom | None:
        return self._found.get(group.key, {}).get(group.kind)

    def writing(self, group: Group, phase: str, counts: Counts) -> Written:
        self._written[group.key] = wrote = Written(phase, counts)
        self._tell(group.key)
        return wrote

    def written(self, key: Key, wrote: Written, version: int) -> None:
        wrote.version = version
        self._tell(key)

    def not_written(self, key: Key, wrote: Written) -> None:
        if self._written.get(key) is wrote:
            del self._written[key]
            self._tell(key)

    def _tell(self, key: Key) -> None:
        kinds = self._found.get(key)
        if not kinds:
            self._found.pop(key, None)
            self._written.pop(key, None)
            if key in self._cluster.groups:
                self._cluster.remove_group(key)
                self._changed()
            return
        kind, found = min(kinds.items(), key=lambda item: (item[1].metadata.creation_timestamp or "", item[0]))
        group = read_group(found, kind, self.classes)
        wrote = self._written.get(key)
        if wrote and wrote.version is not None and int(found.metadata.resource_version or 0) >= wrote.version:
            del self._written[key]
        elif wrote:
            group = replace(group, phase=wrote.phase, counts=wrote.counts)
        if self._cluster.groups.get(key) != group:
            self._cluster.set_group(group)
            self._count(key)  # members may have been there before their group
            self._changed()

    def _count(self, key: Key) -> None:
        phases = list(self._phases.get(key, {}).values())
        counts = Counts(phases.count("Running"), *(phases.count(phase) for phase in ("Succeeded", "Failed")))
        if self._cluster.counts.get(key, Counts()) != counts:
            self._cluster.set_counts(key, counts)
            self._changed()
