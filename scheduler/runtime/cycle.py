"""One scheduling cycle, in slices: decisions take effect while those about later units are still being made.

Deciding about thousands of pending pods takes a few hundred milliseconds. So after each slice the event loop has time
to send what was decided and to read what has changed. All decisions of a cycle are made on the state that it began
with: together they are the plan. What the watches show meanwhile is for the next cycle, with one exception: a decision
about an object that is not any more what it was is dropped, as a whole, so that no part of a gang is bound.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from scheduler.core.actions import Action, Bind, BindVolumes, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import decisions
from scheduler.core.policy import Policy
from scheduler.core.scheduling_units import FINISHED
from scheduler.core.search_turns import SearchTurns

_SLICE = 0.025  # seconds; a single decision may take longer
_PAUSE = 0.005  # seconds between two slices: enough to send what the first has started


async def run_cycle(
    cluster: ClusterState, policy: Policy, start: Callable[[Action], object], turns: SearchTurns | None = None
) -> None:
    """Decide about all pending units, and `start` the actions, which may change the cluster state."""
    view, is_detached = cluster.view(), False
    cluster.clear_changes()
    held: list[Sequence[Action]] = []  # nothing may change before the view is detached
    try:
        slice_ends = time.perf_counter() + _SLICE
        for actions in decisions(view, policy, turns):
            held.append(actions)
            if not is_detached:
                if time.perf_counter() < slice_ends:
                    continue
                cluster.detach()
                is_detached = True
            for decided in held:
                for action in still_valid(decided, view, cluster):
                    start(action)
                if time.perf_counter() >= slice_ends:
                    await asyncio.sleep(_PAUSE)
                    slice_ends = time.perf_counter() + _SLICE
            held.clear()
        for decided in held:  # a short cycle: nothing has changed meanwhile
            for action in decided:
                start(action)
    except Exception:
        cluster.changed_groups |= view.changed_groups
        raise


def still_valid(decided: Sequence[Action], then: ClusterState, now: ClusterState) -> Sequence[Action]:
    """What remains of a decision about one unit: nothing, if a pod, a node or a queue is not what it was."""
    if all(_places_are_valid(action, then, now) for action in decided):
        return [action for action in decided if _is_valid(action, now)]
    now.changed_groups.update(action.group.key for action in decided if isinstance(action, SetGroupPhase))
    return ()


def _places_are_valid(action: Action, then: ClusterState, now: ClusterState) -> bool:
    if not isinstance(action, Bind | BindVolumes | Nominate) or not action.node:
        return True
    queue = then.queue_of(action.pod)
    is_same = now.nodes.get(action.node) is then.nodes.get(action.node)
    is_same = is_same and now.queues.get(queue) is then.queues.get(queue)  # it may be closed now
    return is_same and _is_pending(action.pod.uid, now)


def _is_valid(action: Action, now: ClusterState) -> bool:
    """What cannot be undone about a group is left to the next cycle if the group has changed."""
    match action:
        case Evict(pod):
            return _is_bound(pod.uid, now)
        case Release(pod):
            return _is_bound(pod.uid, now) and pod.group not in now.changed_groups
        case Nominate(pod) | Report(pod):
            return _is_pending(pod.uid, now)
        case SetGroupPhase(group, phase):
            return group.key in now.groups and not (phase in FINISHED and group.key in now.changed_groups)
    return True


def _is_pending(uid: str, now: ClusterState) -> bool:
    pod = now.pods.get(uid)
    return pod is not None and not pod.node and not pod.terminating


def _is_bound(uid: str, now: ClusterState) -> bool:
    pod = now.pods.get(uid)
    return pod is not None and bool(pod.node) and not pod.terminating
