"""Assumed pods: the state that the watch showed last, plus the effects of actions that are not confirmed yet.

A plan must not repeat what is in flight, so an action is assumed from the moment of the decision. The watch confirms
it; a rejected request makes the cache forget it. A binding or a deletion is never undone, so seeing it confirms it. A
nomination can be undone: the resourceVersion returned by the write tells which events are older.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scheduler.core.cluster_state import ClusterState
from scheduler.core.scheduling_types import Pod


@dataclass(slots=True)
class _PodState:
    """The observed pod, and what is assumed on top of it."""

    observed: Pod
    version: int
    node: str = ""
    terminating: bool = False
    nominated: str | None = None
    nominated_version: int | None = None  # resourceVersion returned by the write; None while in flight
    generation: int = 0  # of the newest nomination: the response to an older one confirms nothing
    problem: str = ""

    def assumed(self) -> Pod:
        observed = self.observed
        if not (self.node or self.terminating or self.problem) and self.nominated is None:
            return observed
        node = observed.node or self.node
        nominated = "" if node else observed.nominated if self.nominated is None else self.nominated
        return replace(
            observed,
            node=node,
            default_spread=() if node else observed.default_spread,
            binding=not observed.node and bool(node),
            nominated=nominated,
            terminating=observed.terminating or self.terminating,
            problem=observed.problem or ("" if node else self.problem),
        )

    def confirm(self) -> None:
        if self.observed.node:
            self.node, self.problem, self.nominated = "", "", None
        if self.observed.terminating:
            self.terminating = False
        if self.nominated_version is not None and self.version >= self.nominated_version:
            self.nominated, self.nominated_version = None, None


class AssumedPods:
    """Maintains the pods of the cluster state; calls `changed` when one of them changes."""

    def __init__(self, cluster: ClusterState, changed: Callable[[], None], *, strict_queues: bool = False) -> None:
        self._cluster, self._strict_queues = cluster, strict_queues
        self._changed = changed
        self._states: dict[str, _PodState] = {}

    def observe(self, pod: Pod, version: int) -> None:
        state = self._states.get(pod.uid)
        if state is None:
            state = self._states[pod.uid] = _PodState(pod, version)
        else:
            state.observed, state.version = pod, version
        state.confirm()
        self._publish(state)

    def remove(self, uid: str) -> None:
        """The pod was deleted or has ended: it uses no resources any more."""
        if self._states.pop(uid, None) is not None:
            self._cluster.remove_pod(uid)
            self._changed()

    def version(self, uid: str) -> int:
        """The newest known resourceVersion: of the watch, or of an answer that the watch has not shown yet."""
        state = self._states.get(uid)
        return max(state.version, state.nominated_version or 0) if state else 0

    def assume_bound(self, uid: str, node: str) -> None:
        if state := self._states.get(uid):
            state.node = node
            self._publish(state)

    def forget_binding(self, uid: str, problem: str = "") -> None:
        """The binding was rejected; with a problem, the pod stays pending until `clear_problem`."""
        if state := self._states.get(uid):
            state.node, state.problem = "", problem
            state.confirm()
            self._publish(state)

    def clear_problem(self, uid: str) -> None:
        if state := self._states.get(uid):
            state.problem = ""
            self._publish(state)

    def assume_deleted(self, uid: str) -> None:
        if state := self._states.get(uid):
            state.terminating = True
            self._publish(state)

    def forget_deletion(self, uid: str) -> None:
        if state := self._states.get(uid):
            state.terminating = False
            self._publish(state)

    def assume_nominated(self, uid: str, node: str) -> int:
        """Returns the generation of this nomination."""
        state = self._states.get(uid)
        if state is None:
            return 0
        state.nominated, state.nominated_version = node, None
        state.generation += 1
        self._publish(state)
        return state.generation

    def confirm_nomination(self, uid: str, generation: int, version: int) -> None:
        state = self._states.get(uid)
        if state and state.generation == generation:
            state.nominated_version = version
            state.confirm()
            self._publish(state)

    def forget_nomination(self, uid: str, generation: int) -> None:
        state = self._states.get(uid)
        if state and state.generation == generation:
            state.nominated, state.nominated_version = None, None
            self._publish(state)

    def _publish(self, state: _PodState) -> None:
        pod, known = self._cluster.counters.classify(state.assumed()), self._cluster.pods.get(state.observed.uid)
        if known == pod:
            return
        self._cluster.set_pod(pod)
        binding_confirmed = known is not None and known.binding and replace(known, binding=False) == pod
        if not binding_confirmed or self._cluster.binding_may_unblock_queue(pod, strict_by_default=self._strict_queues):
            self._changed()
