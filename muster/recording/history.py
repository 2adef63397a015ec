"""Everything that happened since a scenario began, append-only, with the history of each pod and node kept up to date.

To wait for a change, wait on `changed`: it is notified of each new record, so nothing here ever polls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from muster.recording.conventions import KUBERNETES, Conventions
from muster.recording.objects import Event
from muster.recording.pod_history import ROLE_LABEL, NodeHistory, PodHistory
from muster.recording.records import Moment, Record

KINDS = ("Pod", "Node", "Event")


class History:
    """The records of one scenario. Read it with `changed` held; the recorder's threads write to it."""

    def __init__(
        self,
        namespace: str = "",
        *,
        tolerance: float = 0.0,
        conventions: Conventions = KUBERNETES,
        unused_nodes: frozenset[str] = frozenset(),
    ) -> None:
        self.namespace = namespace
        self.unused_nodes = unused_nodes  # real nodes of the cluster that the scenario does not use
        self.tolerance = tolerance  # seconds by which records of different kinds may arrive out of order
        self.conventions = conventions
        self.began = time.monotonic()
        self.last_activity = self.began  # when a pod last reached a milestone or a node changed, probes left out
        self.changed = threading.Condition(threading.RLock())
        self.records: dict[str, list[Record]] = {kind: [] for kind in KINDS}
        self._custom_objects: dict[tuple[str, str, str], list[Record]] = {}  # by kind, namespace and name
        self.other_namespaces: dict[str, str] = {}  # pods of the scenario that are in another namespace, by name
        self.aliases: dict[str, str] = {}  # the name that a scenario uses for an object, and the one the API gave it
        self.removed_on_purpose: set[str] = set()  # uids of pods that the scenario itself deleted or ended
        self.expected_victims: set[str] = set()  # uids of the victims that the scenario's steps have counted
        self.outside_changes: list[float] = []  # when the scenario itself changed something
        self.gpu_ids: dict[str, tuple[str, ...]] = {}  # that a kubelet has given to a pod, by uid; real nodes only
        self.gaps: list[str] = []  # kinds of which changes may have been missed
        self._pods: dict[str, PodHistory] = {}
        self._by_name: dict[tuple[str, str], PodHistory] = {}
        self.nodes: dict[str, NodeHistory] = {}

    def append(self, *records: Record) -> None:
        with self.changed:
            for record in records:
                self._add(record)
            self.changed.notify_all()

    def group_of(self, pod: PodHistory) -> str:
        """The group that the spec, the labels or the annotations of a pod name, or an empty string."""
        if (native := pod.latest.spec.scheduling_group) and native.pod_group_name:
            return native.pod_group_name
        values = {**pod.latest.metadata.annotations, **pod.latest.metadata.labels}
        return next((values[key] for key in self.conventions.group_name_keys if values.get(key)), "")

    def mark_gap(self, kind: str) -> None:
        """Changes of that kind may have been missed."""
        with self.changed:
            self.gaps.append(kind)
            self.changed.notify_all()

    def _add(self, record: Record) -> None:
        if record.kind == "Node" and record.object.metadata.name in self.unused_nodes:
            return
        self.records.setdefault(record.kind, []).append(record)
        if record.kind == "Pod":
            uid = record.object.metadata.uid
            pod = self._pods.get(uid)
            if pod is None:
                pod = PodHistory.begin(record, self.conventions.disruption_conditions)
                self._pods[uid] = self._by_name[record.key] = pod
            before = pod.milestones if pod.states else None
            pod.add(record)
            self._note_activity(record, ignored=pod.is_probe or pod.milestones == before)
        elif record.kind == "Node":
            name = record.object.metadata.name
            node = self.nodes.setdefault(name, NodeHistory(name))
            known = node.relevant if node.states else None
            node.add(record)
            is_probe = ROLE_LABEL in record.object.metadata.labels
            self._note_activity(record, ignored=is_probe or node.relevant == known)
        elif record.kind != "Event":
            self._custom_objects.setdefault((record.kind, *record.key), []).append(record)

    def _note_activity(self, record: Record, *, ignored: bool) -> None:
        if not ignored:
            self.last_activity = record.moment.at

    @property
    def pods(self) -> list[PodHistory]:
        """Every pod ever seen, in order of appearance; probe pods and leftovers of other scenarios left out."""
        return [pod for pod in self._pods.values() if not pod.is_probe and not self._is_leftover(pod)]

    def _is_leftover(self, pod: PodHistory) -> bool:
        """Deleted before this scenario began; the record of it may arrive a moment later."""
        return pod.deleting is not None and pod.deleting.at < self.began

    @property
    def pods_and_probes(self) -> list[PodHistory]:
        return list(self._pods.values())

    def pod(self, name: str) -> PodHistory | None:
        """The newest pod of that name in the scenario's namespace, or in the one that the scenario put it in."""
        return self.pod_in(self.other_namespaces.get(name, self.namespace), name)

    def pod_in(self, namespace: str, name: str) -> PodHistory | None:
        return self._by_name.get((namespace, name))

    def pods_named(self, names: tuple[str, ...]) -> list[PodHistory]:
        """The newest pod of each name, where one was seen."""
        return [pod for name in names if (pod := self.pod(name))]

    def events(self, reason: str | None = None, about: str | None = None) -> Iterator[tuple[Moment, Event]]:
        """Events as they came, by reason and by the uid of the object they are about; their deletion is no event."""
        for record in self.records["Event"]:
            event = record.object
            assert isinstance(event, Event)
            if record.change == "DELETED":
                continue
            if reason in (None, event.reason) and about in (None, event.involved_object.uid):
                yield record.moment, event

    def custom_objects(self, kind: str, name: str) -> list[Record]:
        """All states of a scheduler's or an operator's own object, in the scenario's namespace or cluster-scoped."""
        name = self.aliases.get(name, name)
        found = self._custom_objects.get((kind, self.namespace, name))
        return found or self._custom_objects.get((kind, "", name), [])

    @property
    def now(self) -> Moment:
        """The newest moment that is known."""
        newest = [records[-1].moment for records in self.records.values() if records]
        return max(newest, default=Moment(0, self.began))

    def surely_before(self, moment: Moment) -> Moment:
        """The newest moment that certainly lies before the given one in records of every kind."""
        return Moment(moment.version, moment.at - self.tolerance)

    def surely_after(self, moment: Moment) -> Moment:
        """The earliest moment that certainly lies after the given one in records of every kind."""
        return Moment(moment.version, moment.at + self.tolerance)

    def seconds(self, moment: Moment) -> float:
        """A moment as seconds since the scenario began."""
        return moment.at - self.began
