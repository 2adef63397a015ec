"""Everything that happened since a scenario began, append-only, with lifelines kept up to date as it grows.

Whoever waits, waits on `changed`: it is notified by each new record, so nothing here ever polls.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

from muster.chronicle.lifelines import ROLE_LABEL, NodeLife, PodLife
from muster.chronicle.objects import Event
from muster.chronicle.records import Moment, Record

KINDS = ("Pod", "Node", "Event")


class History:
    """The record of one scenario. Read it with `changed` held; the recorder's threads write to it."""

    def __init__(self, namespace: str = "", *, tolerance: float = 0.0) -> None:
        self.namespace = namespace
        self.tolerance = tolerance  # seconds by which news of different kinds may overtake each other
        self.began = time.monotonic()
        self.last_stir = self.began  # when a pod last reached a milestone or a node changed, canaries left out
        self.changed = threading.Condition(threading.RLock())
        self.records: dict[str, list[Record]] = {kind: [] for kind in KINDS}
        self._things: dict[tuple[str, str, str], list[Record]] = {}  # by kind, namespace and name
        self.elsewhere: dict[str, str] = {}  # pods of the scenario that live in another namespace
        self.known_as: dict[str, str] = {}  # what a scenario calls a thing, and the name that the API gave it
        self.removed_on_purpose: set[str] = set()  # uids of pods that the scenario itself deleted
        self.gaps: list[str] = []  # kinds of which something may have gone unseen
        self._pods: dict[str, PodLife] = {}
        self._by_name: dict[tuple[str, str], PodLife] = {}
        self.nodes: dict[str, NodeLife] = {}

    def append(self, *records: Record) -> None:
        with self.changed:
            for record in records:
                self._note(record)
            self.changed.notify_all()

    def miss(self, kind: str) -> None:
        """Something of that kind may have happened unseen."""
        with self.changed:
            self.gaps.append(kind)
            self.changed.notify_all()

    def _note(self, record: Record) -> None:
        self.records.setdefault(record.kind, []).append(record)
        if record.kind == "Pod":
            uid = record.object.metadata.uid
            life = self._pods.get(uid)
            if life is None:
                life = self._pods[uid] = self._by_name[record.key] = PodLife.begin(record)
            before = life.milestones if life.states else None
            life.add(record)
            self._stir(record, canary=life.is_canary or life.milestones == before)
        elif record.kind == "Node":
            name = record.object.metadata.name
            self.nodes.setdefault(name, NodeLife(name)).add(record)
            self._stir(record, canary=ROLE_LABEL in record.object.metadata.labels)
        elif record.kind != "Event":
            self._things.setdefault((record.kind, *record.key), []).append(record)

    def _stir(self, record: Record, *, canary: bool) -> None:
        if not canary:
            self.last_stir = record.moment.at

    @property
    def pods(self) -> list[PodLife]:
        """Every pod ever seen, in the order in which they appeared; canaries and leftovers of other scenes left out."""
        return [life for life in self._pods.values() if not life.is_canary and not self._is_leftover(life)]

    def _is_leftover(self, life: PodLife) -> bool:
        """Cleared away before this scenario began; the news of it may come a moment later."""
        return life.deleting is not None and life.deleting.at < self.began

    @property
    def pods_and_canaries(self) -> list[PodLife]:
        return list(self._pods.values())

    def pod(self, name: str) -> PodLife | None:
        """The newest pod of that name in the scenario's namespace, or in the one that the scenario put it in."""
        return self.pod_in(self.elsewhere.get(name, self.namespace), name)

    def pod_in(self, namespace: str, name: str) -> PodLife | None:
        return self._by_name.get((namespace, name))

    def events(self, reason: str | None = None, about: str | None = None) -> Iterator[tuple[Moment, Event]]:
        """Events as they came, by reason and by the uid of the object they are about."""
        for record in self.records["Event"]:
            event = record.object
            assert isinstance(event, Event)
            if reason in (None, event.reason) and about in (None, event.involved_object.uid):
                yield record.moment, event

    def thing(self, kind: str, name: str) -> list[Record]:
        """A scheduler's own object through its changes, from the scenario's namespace or from none."""
        name = self.known_as.get(name, name)
        return self._things.get((kind, self.namespace, name)) or self._things.get((kind, "", name), [])

    @property
    def now(self) -> Moment:
        """The newest moment that is known."""
        newest = [records[-1].moment for records in self.records.values() if records]
        return max(newest, default=Moment(0, self.began))

    def surely_before(self, moment: Moment) -> Moment:
        """What another kind had become by then had become so before; where one order holds, the moment itself."""
        return Moment(moment.version, moment.at - self.tolerance)

    def surely_after(self, moment: Moment) -> Moment:
        return Moment(moment.version, moment.at + self.tolerance)

    def seconds(self, moment: Moment) -> float:
        """A moment as seconds since the scenario began."""
        return moment.at - self.began
