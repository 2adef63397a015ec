"""Executes actions: assumed at once, written in the background, forgotten when the API server refuses.

Writes to one object keep the order of the decisions; different objects do not wait for each other. After an error the
object is retried with exponential backoff. Why a pod is pending is written by the PendingReporter, and no other write
waits for that.

A gang must not stay partially bound because one member's binding is always rejected. After some attempts that member
gets a problem, and the plan releases the others. From then on its binding is tried first, and those of the others are
written only if it succeeds: so no member is released twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import TypeVar

from scheduler.client import ApiError, Client, Unreachable
from scheduler.core.actions import Action, Bind, BindVolumes, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.scheduling_types import Key, Pod
from scheduler.core.scheduling_units import STARTED
from scheduler.runtime import requests
from scheduler.runtime.assumed_volumes import NodeSelection, VolumeChoice, VolumeReservation
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder, group_reference, pod_reference
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.pending_reporter import PendingReporter
from scheduler.runtime.pod_volumes import claims_to_bind
from scheduler.runtime.podgroup_cache import PendingStatus

_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.2, 30.0  # seconds
_BINDING_ATTEMPTS = 3  # then the pod has a problem, and the bound members of its gang are released
_NAME = "muster-scheduler"  # reports about PodGroups that do not name a scheduler
_COUNTS_INTERVAL = 0.2  # seconds between two writes of a PodGroup that change no more than its counts
_SERVER_ERROR = 500  # from this status on, the request may have been carried out

_K = TypeVar("_K")
_log = logging.getLogger(__name__)


class PartialGangStart(Exception):
    """Some members of a gang were bound and others were not."""


class MemberRejected(Exception):
    """Another member of the gang, which was rejected before, was rejected again."""


class NotBoundInOrder(Exception):
    """A binding ahead in a strict-FIFO queue has failed."""


# Logged without a traceback.
_EXPECTED_ERRORS = (ApiError, Unreachable, PartialGangStart, MemberRejected, NotBoundInOrder)


class Executor:
    """`start` assumes the action's result and returns; `drain` waits for all writes in flight."""

    def __init__(self, client: Client, events: EventRecorder, cache: Cache, metrics: Metrics) -> None:
        self._client, self._events, self._cache, self._metrics = client, events, cache, metrics
        self._last: dict[object, asyncio.Task[bool]] = {}
        self._failures: dict[object, int] = {}
        self._gang_bindings: dict[Key, list[asyncio.Task[bool]]] = {}  # the bindings that start a gang
        self._reporter = PendingReporter(events, cache, metrics, self._last.get)
        cache.on_pod_deleted = self._forget_pod

    def start(self, action: Action) -> bool:
        """Execute the action in the background; False when it would change nothing."""
        pods, podgroups = self._cache.assumed_pods, self._cache.podgroups
        match action:
            case Bind(pod, node):
                self._reporter.forget(pod.uid)
                pods.assume_bound(pod.uid, node)
                self._run("bind", pod.uid, self._bind_in_order(action), self._binding_failed(pod))
            case BindVolumes(pod, node):
                choices = self._choose_volumes(pod, node)
                if not choices:
                    return False
                forget_choices = self._forget_after_backoff(pod, lambda _: self._cache.volumes.forget(choices))
                self._run("bind-volumes", pod.uid, self._bind_volumes(choices), forget_choices)
            case Evict(pod):
                pods.assume_deleted(pod.uid)
                self._run("evict", pod.uid, self._evict(action), self._forget_after_backoff(pod, pods.forget_deletion))
            case Release(pod):
                pods.assume_deleted(pod.uid)
                forget = self._forget_after_backoff(pod, pods.forget_deletion)
                self._run("release", pod.uid, self._release(action), forget)
            case Nominate(pod, node):
                generation = pods.assume_nominated(pod.uid, node)
                forget = self._forget_after_backoff(pod, partial(pods.forget_nomination, generation=generation))
                self._run("nominate", pod.uid, self._nominate(action, generation), forget)
            case Report():
                return self._reporter.report(action)
            case SetGroupPhase(group, phase, counts):
                if (group.phase, group.counts) == (phase, counts):
                    return False
                key = group.key
                if phase in STARTED and group.phase not in STARTED:
                    self._gang_bindings[key] = self._bindings_of_gang(key)
                pending = podgroups.assume_status(group, phase, counts)
                forget_status = partial(self._forget_group_status, pending=pending)
                work = self._set_group_phase(action, pending)
                self._run("set-phase", key, work, lambda _: self._status_failed(key, forget_status))
        return True

    def _forget_pod(self, uid: str) -> None:
        """Drop all state of a deleted pod."""
        self._reporter.forget(uid)
        self._events.forget(uid)
        self._failures.pop(uid, None)

    async def drain(self) -> None:
        while self._last:
            await asyncio.wait(list(self._last.values()))
        await self._reporter.drain()

    def _run(
        self, kind: str, key: object, work: Coroutine[None, None, None], on_failure: Callable[[Exception], None]
    ) -> None:
        self._metrics.decisions.add(kind)
        task = asyncio.create_task(self._execute(kind, key, work, on_failure, self._last.get(key)))
        self._last[key] = task
        task.add_done_callback(lambda done: self._last.pop(key) if self._last.get(key) is done else None)

    async def _execute(
        self,
        kind: str,
        key: object,
        work: Awaitable[None],
        on_failure: Callable[[Exception], None],
        previous: asyncio.Task[bool] | None,
    ) -> bool:
        """Execute one action after the previous one of the same object; whether it succeeded."""
        if previous is not None:
            await asyncio.wait([previous])
        try:
            await work
        except Exception as error:  # whatever it was, nothing stays assumed after a failed write
            self._metrics.actions.add(kind, "error")
            fields = {"action": kind, "object": str(key), "error": str(error)}
            _log.warning("action failed", extra={"fields": fields}, exc_info=not isinstance(error, _EXPECTED_ERRORS))
            if not isinstance(error, MemberRejected) and self._is_known(key):
                self._failures[key] = self._failures.get(key, 0) + 1
            on_failure(error)
            return False
        self._metrics.actions.add(kind, "success")
        self._failures.pop(key, None)
        return True

    def _is_known(self, key: object) -> bool:
        """Failures of an object that is gone are not counted: nothing would ever forget them."""
        return key in self._cache.api_pods or key in self._cache.cluster.groups

    def _bind_in_order(self, action: Bind) -> Coroutine[None, None, None]:
        """Bind when the bindings ahead in the queue are done; one that is not in flight is done or has failed."""
        ahead = [self._last[uid] for uid in action.after if uid in self._last]
        has_failed = any(self._is_unbound(uid) for uid in action.after if uid not in self._last)

        async def bind() -> None:
            if has_failed:
                await asyncio.sleep(_FIRST_BACKOFF)  # the next cycle may find the same
            if has_failed or not all(await asyncio.gather(*ahead)):
                raise NotBoundInOrder("a pod ahead in its strict-FIFO queue could not be bound")
            await self._bind(action)

        return bind()

    def _is_unbound(self, uid: str) -> bool:
        """Pending again, or assumed to be bound until the end of a backoff. A deleted pod keeps no other waiting."""
        pod = self._cache.cluster.pods.get(uid)
        return pod is not None and (not pod.node or uid in self._failures)

    async def _bind(self, action: Bind) -> None:
        await self._rejected_members_first(action.pod)
        try:
            await requests.bind(self._client, action.pod, action.node)
        except (ApiError, Unreachable) as error:
            if not _outcome_unknown(error) or await self._read_bound_node(action.pod) != action.node:
                raise
        note = f"Successfully assigned {'/'.join(action.pod.key)} to {action.node}"
        self._events.record(
            pod_reference(action.pod), by=action.pod.scheduler, reason="Scheduled", action="Binding", note=note
        )

    async def _rejected_members_first(self, pod: Pod) -> None:
        if pod.group not in self._gang_bindings or pod.uid in self._failures:
            return
        members = (one.uid for one in self._linked_members(pod.group))
        rejected = [self._last[uid] for uid in members if uid in self._failures and uid in self._last]
        if rejected and not all(await asyncio.gather(*rejected)):
            raise MemberRejected(f"the binding of another member of {'/'.join(pod.group)} was rejected again")

    async def _read_bound_node(self, pod: Pod) -> str:
        """Read the pod until its node is known: until then its resources must not be given to others."""
        while True:
            try:
                return await requests.node_of(self._client, pod)
            except (ApiError, Unreachable) as error:
                if not _outcome_unknown(error):
                    raise

    async def _evict(self, action: Evict) -> None:
        pod, trigger = action.pod, action.trigger
        try:
            await requests.mark_preempted(self._client, pod, action.message)
            self._events.record(
                pod_reference(pod),
                by=trigger.scheduler,
                reason="Preempted",
                action="Preempting",
                note=f"Preempted by pod {trigger.uid} on node {pod.node}",
                related=pod_reference(trigger),
            )
            await requests.delete(self._client, pod)
        except ApiError as error:
            if not error.is_missing:  # already gone
                raise

    async def _release(self, action: Release) -> None:
        pod = action.pod
        try:
            await requests.mark_released(self._client, pod, action.message)
            self._events.record(
                pod_reference(pod), by=pod.scheduler, reason="Released", action="Releasing", note=action.message
            )
            await requests.delete(self._client, pod)
        except ApiError as error:
            if not error.is_missing:
                raise

    async def _nominate(self, action: Nominate, generation: int) -> None:
        version = await requests.nominate(self._client, action.pod, action.node)
        self._cache.assumed_pods.confirm_nomination(action.pod.uid, generation, version)

    def _choose_volumes(self, pod: Pod, node: str) -> list[VolumeChoice]:
        """For those of the pod's claims that were not chosen for before."""
        found, on = self._cache.api_pods.get(pod.uid), self._cache.cluster.nodes.get(node)
        if found is None or on is None:
            return []
        return self._cache.volumes.choose(claims_to_bind(found, self._cache.volumes), on)

    async def _bind_volumes(self, choices: Sequence[VolumeChoice]) -> None:
        """What was written is not taken back when a later write fails: the next attempt goes on from there."""
        for choice in choices:
            match choice:
                case VolumeReservation(claim, volume):
                    version = await requests.reserve_volume(self._client, volume, claim)
                case NodeSelection(claim, node):
                    version = await requests.select_node(self._client, claim, node)
            self._cache.volumes.confirm(choice, version)

    def _bindings_of_gang(self, key: Key) -> list[asyncio.Task[bool]]:
        binding = self._cache.cluster.binding
        members = (pod.uid for pod in self._linked_members(key))
        return [self._last[uid] for uid in members if uid in binding and uid in self._last]

    def _linked_members(self, key: Key) -> list[Pod]:
        """Of all groups that start together with this one."""
        cluster = self._cache.cluster
        return [
            pod for one in (cluster.linked(key) if key in cluster.groups else [key]) for pod in cluster.members(one)
        ]

    async def _set_group_phase(self, action: SetGroupPhase, pending: PendingStatus) -> None:
        """A started phase is written after all bindings are done: else a crash could leave a partially bound gang."""
        group, podgroups = action.group, self._cache.podgroups
        if action.phase in STARTED and (bindings := self._gang_bindings.get(group.key)) is not None:
            if not all(await asyncio.gather(*bindings)):
                raise PartialGangStart(f"not all members of {'/'.join(group.key)} could be bound")
            self._gang_bindings.pop(group.key, None)
        if podgroups.is_superseded(group.key, pending):
            return
        if podgroups.observed_phase(group) == action.phase:  # only counts have changed: others may follow soon
            await asyncio.sleep(_COUNTS_INTERVAL)
        status = requests.group_status(action, podgroups.api_object(group), podgroups.scheduled(group.key))
        podgroups.confirm_status(group.key, pending, await requests.set_group_status(self._client, group, status))
        if action.message:
            self._events.record_series(
                group_reference(group), by=group.scheduler or _NAME, reason="Unschedulable", note=action.message
            )

    def _forget_group_status(self, key: Key, pending: PendingStatus) -> None:
        self._cache.podgroups.forget_status(key, pending)
        group = self._cache.cluster.groups.get(key)
        for linked in self._cache.cluster.linked(key) if group is not None and key in self._gang_bindings else ():
            self._cache.podgroups.forget_unwritten_status(linked)  # at once: none of them has started
        if group is None or group.phase not in STARTED:  # no longer assumed to have started
            self._gang_bindings.pop(key, None)
        if group is None:
            self._failures.pop(key, None)

    def _status_failed(self, key: Key, forget: Callable[[Key], None]) -> None:
        """A gang with a member that cannot be bound is decided about at once, others after a backoff."""
        if any(pod.problem for pod in self._linked_members(key)):
            forget(key)
        else:
            self._after_backoff(key, forget)

    def _binding_failed(self, pod: Pod) -> Callable[[Exception], None]:
        assumed_pods = self._cache.assumed_pods

        def on_failure(error: Exception) -> None:
            if isinstance(error, MemberRejected | NotBoundInOrder):
                assumed_pods.forget_binding(pod.uid)  # nothing was written: the next cycle decides
            elif _may_be_outdated(pod, error) and self._failures.get(pod.uid, 0) < _BINDING_ATTEMPTS:
                self._after_backoff(pod.uid, assumed_pods.forget_binding)
            else:
                assumed_pods.forget_binding(pod.uid, f"binding rejected: {error}")
                self._after_backoff(pod.uid, assumed_pods.clear_problem)

        return on_failure

    def _forget_after_backoff(self, pod: Pod, forget: Callable[[str], None]) -> Callable[[Exception], None]:
        return lambda _: self._after_backoff(pod.uid, forget)

    def _after_backoff(self, key: _K, forget: Callable[[_K], None]) -> None:
        backoff = min(_FIRST_BACKOFF * 2 ** min(self._failures.get(key, 0), 10), _LONGEST_BACKOFF)
        asyncio.get_running_loop().call_later(backoff, forget, key)


def _may_be_outdated(pod: Pod, error: Exception) -> bool:
    """Whether to try again before the pod gets a problem: it may have changed, which the watch will show."""
    return pod.group is not None or (isinstance(error, ApiError) and (error.is_conflict or error.is_missing))


def _outcome_unknown(error: ApiError | Unreachable) -> bool:
    """Whether the request may have been carried out despite the error."""
    return isinstance(error, Unreachable) or error.status >= _SERVER_ERROR
