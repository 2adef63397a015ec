"""Checks of a plan that share no code with the scheduler: they count usage by node and by queue themselves."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from scheduler.core.actions import Bind, Evict
from scheduler.core.scheduling_types import Counts, Node, Pod
from tests.support.cluster_builder import Decision, FakeCluster

Use = dict[str, dict[str, int]]
_NONE = Counts()


def state_of(cluster: FakeCluster) -> tuple[object, ...]:
    """Everything that a plan must not change."""
    mine = cluster.state
    objects = dict(mine.pods), dict(mine.nodes), dict(mine.groups), dict(mine.queues), dict(mine.counts)
    indexes = list(mine.pending), set(mine.changed_groups), mine.table.used.tolist(), mine.table.terminating.tolist()
    return *objects, *indexes


def queue_of(pod: Pod, cluster: FakeCluster) -> str:
    group = cluster.state.groups.get(pod.group) if pod.group else None
    return (group.queue if group else pod.queue) or "default"


def allows(node: Node, pod: Pod) -> bool:
    if node.cordoned or (node.taints and not pod.requirements.tolerations):
        return False
    return all(node.labels.get(name) == value for name, value in pod.requirements.selector)


def check_binds(cluster: FakeCluster, decision: Decision) -> None:
    """No binding overcommits a node, exceeds a capability, or ignores taints, cordons and selectors."""
    on_node, in_queue = usage(cluster, terminating=True)
    for one in decision.actions:
        if isinstance(one, Bind):
            node, queue = cluster.state.nodes[one.node], cluster.state.queues.get(queue_of(one.pod, cluster))
            assert allows(node, one.pod)
            for resource, amount in one.pod.requests:
                on_node[one.node][resource] += amount
                in_queue[queue_of(one.pod, cluster)][resource] += amount
                assert on_node[one.node][resource] <= node.allocatable.get(resource, 0)
                if queue is not None and resource in queue.capability:
                    assert in_queue[queue.name][resource] <= queue.capability[resource]


def usage(cluster: FakeCluster, *, terminating: bool) -> tuple[Use, Use]:
    """Resources in use, by node and by queue; with or without terminating pods."""
    on_node: Use = defaultdict(lambda: defaultdict(int))
    in_queue: Use = defaultdict(lambda: defaultdict(int))
    for pod in cluster.state.pods.values():
        for resource, amount in pod.requests if pod.node and (terminating or not pod.terminating) else ():
            on_node[pod.node][resource] += amount
            in_queue[queue_of(pod, cluster)][resource] += amount
    return on_node, in_queue


def check_evictions(cluster: FakeCluster, decision: Decision) -> None:
    """Every victim is preemptible, of strictly lower priority than its preemptor, and in the same queue."""
    pending = [pod for pod in cluster.state.pods.values() if not pod.node and not pod.terminating and not pod.gated]
    for eviction in decision.evictions:
        victim, trigger = eviction.pod, eviction.trigger
        linked = {trigger.group} | (cluster.state.groups[trigger.group].linked_groups if trigger.group else set())
        gang = [pod for pod in pending if pod.group in linked and pod.group] or [trigger]
        named = eviction.beneficiary == "/".join(trigger.key)
        beneficiaries = [trigger] if named else gang
        assert victim.node
        assert not victim.terminating
        assert not victim.non_preemptible
        assert victim.priority < min(pod.priority for pod in beneficiaries)
        assert all(pod.preempts for pod in beneficiaries)
        assert queue_of(victim, cluster) in {queue_of(pod, cluster) for pod in beneficiaries}


def check_pending_pods(cluster: FakeCluster, decision: Decision) -> None:
    """Every pending pod has a reason, and no pending pod fits."""
    evicts = any(isinstance(one, Evict) for one in decision.actions)
    now, used_now = usage(cluster, terminating=True)
    later, used_later = usage(cluster, terminating=False)
    for pod in cluster.state.pods.values():
        if pod.nominated and not pod.node:
            for resource, amount in pod.requests:
                later[pod.nominated][resource] += amount
                used_later[queue_of(pod, cluster)][resource] += amount
    for pod in cluster.state.pending.values():
        assert decision.reasons[pod.key[1]]
        queue = cluster.state.queues.get(queue_of(pod, cluster))
        known = queue is not None or not pod.queue
        if evicts or pod.group or not known or (queue is not None and (not queue.is_open or queue.strict)):
            continue
        limits = queue.capability if queue else {}
        for resource, amount in pod.requests:
            held = max(use[queue_of(pod, cluster)][resource] for use in (used_now, used_later))
            if resource in limits and held + amount > limits[resource]:
                break
        else:
            for node in cluster.state.nodes.values():
                if allows(node, pod):
                    assert any(
                        use[node.name][resource] + amount > node.allocatable.get(resource, 0)
                        for resource, amount in pod.requests
                        for use in (now, later)
                    ), f"{pod.key} fits on {node.name}"


def check_pending_gangs(cluster: FakeCluster, decision: Decision) -> None:
    """No pending gang fits with minMember members."""
    if decision.evictions:
        return
    layers = [usage(cluster, terminating=terminating) for terminating in (True, False)]
    for pod in cluster.state.pending.values():
        if pod.nominated:
            for resource, amount in pod.requests:
                layers[1][0][pod.nominated][resource] += amount
                layers[1][1][queue_of(pod, cluster)][resource] += amount
    for group in cluster.state.groups.values():
        members = cluster.state.members(group.key)
        queue = cluster.state.queues.get(group.queue or "default")
        accepts_work = not group.queue if queue is None else queue.is_open and not queue.strict
        not_comparable = (
            any(pod.node or pod.gated or pod.terminating or pod.nominated for pod in members) or group.linked_groups
        )
        if (
            not_comparable
            or not accepts_work
            or len(members) < group.min_member
            or cluster.state.counts.get(group.key, _NONE) != _NONE
        ):
            continue
        name = group.queue or "default"
        limits = queue.capability if queue else {}
        queue_usage = {what: most - max(one[1][name][what] for one in layers) for what, most in limits.items()}
        free = {
            node.name: {
                what: amount - max(one[0][node.name][what] for one in layers)
                for what, amount in node.allocatable.items()
            }
            for node in cluster.state.nodes.values()
        }
        for members_to_start in combinations(members, group.min_member):
            assert not fits(list(members_to_start), free, queue_usage, cluster), (
                f"{group.key} can start with {[one.key for one in members_to_start]}"
            )


def fits(pods: list[Pod], free: Use, queue_usage: dict[str, int], cluster: FakeCluster) -> bool:
    """Whether any placement exists: all of them are tried."""
    if not pods:
        return True
    pod, *rest = pods
    if any(what in queue_usage and queue_usage[what] < amount for what, amount in pod.requests):
        return False
    less = {what: left - dict(pod.requests).get(what, 0) for what, left in queue_usage.items()}
    for name, capacity in free.items():
        if allows(cluster.state.nodes[name], pod) and all(capacity.get(what, 0) >= n for what, n in pod.requests):
            taken = {**free, name: {what: left - dict(pod.requests).get(what, 0) for what, left in capacity.items()}}
            if fits(rest, taken, less, cluster):
                return True
    return False


def check_nominations(cluster: FakeCluster) -> None:
    """Nominated pods fit once terminating pods are gone: the reserved capacity was not given to others."""
    later, _ = usage(cluster, terminating=False)
    nominated_pods = [pod for pod in cluster.state.pending.values() if pod.nominated]
    for pod in nominated_pods:
        for resource, amount in pod.requests:
            later[pod.nominated][resource] += amount
    for pod in nominated_pods:
        for resource, _ in pod.requests:
            assert later[pod.nominated][resource] <= cluster.state.nodes[pod.nominated].allocatable.get(resource, 0)
