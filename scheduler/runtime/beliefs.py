"""What is believed of pods: what the watch said last, and on top of it what was done and is not confirmed yet.

A plan must not repeat what is under way, so a decision counts from the moment it is made. The watch confirms it, a
refusal takes it back. A binding and a deletion are never undone by anybody, so they are confirmed by seeing them; a
nomination can be, so the version that the write returned tells which events are older than it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scheduler.core.cluster import Cluster
from scheduler.core.model import Pod


@dataclass(slots=True)
class _Belief:
    seen: Pod
    version: int
    node: str = ""
    leaving: bool = False
    nominated: str | None = None
    nominated_by: int | None = None  # the version that the write returned; None while it is under way
    turn: int = 0  # of the newest nomination: the answer to an older one confirms nothing
    problem: str = ""

    def now(self) -> Pod:
        seen = self.seen
        if not (self.node or self.leaving or self.problem) and self.nominated is None:
            return seen
        node = seen.node or self.node
        nominated = "" if node else seen.nominated if self.nominated is None else self.nominated
        return replace(
            seen,
            node=node,
            binding=not seen.node and bool(node),
            nominated=nominated,
            leaving=seen.leaving or self.leaving,
            problem=seen.problem or ("" if node else self.problem),
        )

    def confirm(self) -> None:
        if self.seen.node:
            self.node, self.problem, self.nominated = "", "", None
        if self.seen.leaving:
            self.leaving = False
        if self.nominated_by is not None and self.version >= self.nominated_by:
            self.nominated, self.nominated_by = None, None


class Beliefs:
    """Keeps the cluster's pods; `changed` is called whenever one of them is not what it was."""

    def __init__(self, cluster: Cluster, changed: Callable[[], None]) -> None:
        self._cluster = cluster
        self._changed = changed
        self._known: dict[str, _Belief] = {}

    def saw(self, pod: Pod, version: int) -> None:
        belief = self._known.get(pod.uid)
        if belief is None:
            belief = self._known[pod.uid] = _Belief(pod, version)
        else:
            belief.seen, belief.version = pod, version
        belief.confirm()
        self._tell(belief)

    def lost(self, uid: str) -> None:
        """Gone, or at its end: it holds nothing any more."""
        if self._known.pop(uid, None) is not None:
            self._cluster.remove_pod(uid)
            self._changed()

    def knows(self, uid: str) -> bool:
        return uid in self._known

    def bound(self, uid: str, node: str) -> None:
        if belief := self._known.get(uid):
            belief.node = node
            self._tell(belief)

    def not_bound(self, uid: str, problem: str = "") -> None:
        """The binding was refused; with a reason, the pod waits until it is `forgiven`."""
        if belief := self._known.get(uid):
            belief.node, belief.problem = "", problem
            belief.confirm()
            self._tell(belief)

    def forgiven(self, uid: str) -> None:
        if belief := self._known.get(uid):
            belief.problem = ""
            self._tell(belief)

    def leaving(self, uid: str) -> None:
        if belief := self._known.get(uid):
            belief.leaving = True
            self._tell(belief)

    def not_leaving(self, uid: str) -> None:
        if belief := self._known.get(uid):
            belief.leaving = False
            self._tell(belief)

    def nominated(self, uid: str, node: str) -> int:
        """The turn by which this nomination is told from others."""
        belief = self._known.get(uid)
        if belief is None:
            return 0
        belief.nominated, belief.nominated_by = node, None
        belief.turn += 1
        self._tell(belief)
        return belief.turn

    def nomination_written(self, uid: str, turn: int, version: int) -> None:
        belief = self._known.get(uid)
        if belief and belief.turn == turn:
            belief.nominated_by = version
            belief.confirm()
            self._tell(belief)

    def not_nominated(self, uid: str, turn: int) -> None:
        belief = self._known.get(uid)
        if belief and belief.turn == turn:
            belief.nominated, belief.nominated_by = None, None
            self._tell(belief)

    def _tell(self, belief: _Belief) -> None:
        pod, known = belief.now(), self._cluster.pods.get(belief.seen.uid)
        if known == pod:
            return
        self._cluster.set_pod(pod)
        only_confirmed = known is not None and known.binding and replace(known, binding=False) == pod
        if not only_confirmed or self._cluster.waits_for_bindings(pod):
            self._changed()
