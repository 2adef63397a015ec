"""A fake cluster for tests of the scheduler core: one line per object; plans can be executed on it.

Nothing runs here: a bound pod uses its node at once, an evicted one is terminating until `delete_terminating`. A pod's
uid is its name; a re-created pod gets another uid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import plan
from scheduler.core.pod_constraints import SelectorRequirement
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import (
    CPU,
    GPU,
    PODS,
    Counts,
    DisruptionBudget,
    Group,
    Key,
    Node,
    Pod,
    PodRequirements,
    Queue,
)

NAMESPACE = "team"


@cache
def requirements(gpus: int = 0, cpu: int = 0, **more: Any) -> PodRequirements:
    """Equal requirements are one object, as in the runtime; `more` are further fields of PodRequirements."""
    requested = {PODS: 1, GPU: gpus, CPU: cpu}
    return PodRequirements(
        requests=tuple(sorted((name, amount) for name, amount in requested.items() if amount)), **more
    )


@dataclass(frozen=True)
class Decision:
    """A plan, by the names of the pods and groups."""

    actions: tuple[Action, ...]

    @property
    def bound(self) -> dict[str, str]:
        return {one.pod.key[1]: one.node for one in self.actions if isinstance(one, Bind)}

    @property
    def evictions(self) -> list[Evict]:
        return [one for one in self.actions if isinstance(one, Evict)]

    @property
    def evicted(self) -> set[str]:
        return {one.pod.key[1] for one in self.evictions}

    @property
    def released(self) -> set[str]:
        return {one.pod.key[1] for one in self.actions if isinstance(one, Release)}

    @property
    def nominated(self) -> dict[str, str]:
        return {one.pod.key[1]: one.node for one in self.actions if isinstance(one, Nominate)}

    @property
    def reasons(self) -> dict[str, str]:
        return {one.pod.key[1]: one.message for one in self.actions if isinstance(one, Report)}

    @property
    def phases(self) -> dict[str, str]:
        return {one.group.key[1]: one.phase for one in self.actions if isinstance(one, SetGroupPhase)}

    @property
    def changes(self) -> list[Action]:
        """All actions but reports."""
        return [one for one in self.actions if not isinstance(one, Report)]


class FakeCluster:
    """A cluster state with a clock: each object is a little younger than the one before it."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.state, self.policy = ClusterState(), policy or Policy()
        self._clock = 0.0

    def node(self, name: str, gpus: int = 0, cpu: int = 0, pods: int = 110, **more: Any) -> Node:
        allocatable = {GPU: gpus, CPU: cpu, PODS: pods}
        node = Node(name, {resource: amount for resource, amount in allocatable.items() if amount}, **more)
        self.state.set_node(node)
        return node

    def pod(self, name: str, gpus: int = 0, priority: int = 0, on: str = "", *, cpu: int = 0, **more: Any) -> Pod:
        """`more` are fields of PodRequirements or of Pod."""
        constraints = {
            key: more.pop(key)
            for key in ("selector", "affinity", "preferred", "tolerations", "volumes", "constraints")
            if key in more
        }
        now = self.tick()
        defaults: dict[str, Any] = {
            "created": now,
            "started": now if on else 0.0,
            "scheduler": "muster-scheduler",
            "key": (NAMESPACE, name),
            "uid": name,
        }
        pod = Pod(
            requirements=requirements(gpus, cpu, **constraints),
            priority=priority,
            node=on,
            **(defaults | more),
        )
        self.state.set_pod(pod)
        return pod

    def group(self, name: str, min_member: int, **more: Any) -> Group:
        defaults: dict[str, Any] = {"kind": "volcano", "created": self.tick()}
        group = Group(key=(NAMESPACE, name), min_member=min_member, **(defaults | more))
        self.state.set_group(group)
        return group

    def gang(self, name: str, pods: int, gpus: int, priority: int = 0, on: str = "", **group: Any) -> list[Pod]:
        """`on`: it runs there. `group` are fields of a Group; min_member defaults to all members."""
        min_member = group.pop("min_member", pods)
        self.group(name, min_member, **({"phase": "Running"} if on else {}) | group)
        members = [
            self.pod(f"{name}-{number}", gpus, priority, on, group=(NAMESPACE, name), queue="")
            for number in range(pods)
        ]
        if on:
            self.count()
        return members

    def queue(self, name: str, gpus: int | None = None, **more: Any) -> Queue:
        defaults: dict[str, Any] = {"capability": {} if gpus is None else {GPU: gpus}}
        queue = Queue(name, **(defaults | more))
        self.state.set_queue(queue)
        return queue

    def budget(self, name: str, allowed: int, selector: Mapping[str, str], *lines: SelectorRequirement) -> None:
        self.state.set_budget(DisruptionBudget((NAMESPACE, name), allowed, selector, lines))

    def tick(self) -> float:
        self._clock += 1.0
        return self._clock

    def plan(self) -> Decision:
        return Decision(tuple(plan(self.state, self.policy)))

    def step(self) -> Decision:
        """Plan, and execute the plan; evicted pods are terminating afterwards."""
        decision = self.plan()
        self.state.clear_changes()
        self.carry_out(decision.actions)
        return decision

    def carry_out(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Bind(pod, node):
                    self._update(pod, node=node, nominated="", started=self.tick())
                case Evict(pod) | Release(pod):
                    self._update(pod, terminating=True)
                case Nominate(pod, node):
                    self._update(pod, nominated=node)
                case SetGroupPhase(group, phase, counts):
                    current = self.state.groups[group.key]
                    self.state.set_group(replace(current, phase=phase, counts=counts))
                case Report():
                    pass
        self.count()

    def settle(self, most: int = 20, *, replaced: bool = False) -> list[Decision]:
        """Step until nothing changes; terminating pods are deleted before the next step."""
        steps: list[Decision] = []
        while len(steps) < most:
            steps.append(self.step())
            if not self.delete_terminating(replaced=replaced) and not steps[-1].changes:
                return steps
        raise AssertionError(f"not stable after {most} plans; the last one: {steps[-1].changes}")

    def delete_terminating(self, *, replaced: bool = False) -> list[Pod]:
        """Delete terminating pods; with `replaced`, a controller re-creates each of them under its name."""
        deleted = [pod for pod in self.state.pods.values() if pod.terminating]
        for pod in deleted:
            self.state.remove_pod(pod.uid)
            if replaced:
                changes: dict[str, Any] = {"uid": f"{pod.uid}+", "node": "", "nominated": "", "terminating": False}
                self.state.set_pod(replace(pod, created=self.tick(), **changes))
        self.count()
        return deleted

    def finish(self, *names: str, failed: bool = False) -> None:
        """These pods end, and their group counts them."""
        for name in names:
            pod = self[name]
            self.state.remove_pod(pod.uid)
            if pod.group is not None:
                counts = self.state.counts.get(pod.group, Counts())
                ended = {"failed": counts.failed + 1} if failed else {"succeeded": counts.succeeded + 1}
                self.state.set_counts(pod.group, replace(counts, **ended))
        self.count()

    def delete(self, *names: str) -> None:
        for name in names:
            self.state.remove_pod(self[name].uid)
        self.count()

    def change(self, name: str, **fields: Any) -> None:
        self._update(self[name], **fields)

    def change_group(self, name: str, **fields: Any) -> None:
        self.state.set_group(replace(self.state.groups[NAMESPACE, name], **fields))

    def count(self) -> None:
        """Update the running counts of all groups."""
        for key in self.state.groups:
            counts = self.state.counts.get(key, Counts())
            running = sum(bool(pod.node) and not pod.terminating for pod in self.state.members(key))
            if counts.running != running:
                self.state.set_counts(key, replace(counts, running=running))

    def copy(self) -> FakeCluster:
        """The same objects, observed in another order by a restarted scheduler."""
        other, state = FakeCluster(self.policy), self.state
        for pod in reversed(state.pods.values()):
            other.state.set_pod(pod)
        for group in sorted(state.groups.values(), key=lambda group: group.key):
            other.state.set_group(group)
        for of_group, counts in state.counts.items():
            other.state.set_counts(of_group, counts)
        for queue in state.queues.values():
            other.state.set_queue(queue)
        for budget in state.budgets.values():
            other.state.set_budget(budget)
        for node in reversed(state.nodes.values()):
            other.state.set_node(node)
        other._clock = self._clock
        return other

    def where(self, *names: str) -> dict[str, str]:
        """The nodes of these pods, or of all; terminating pods are left out."""
        there = {pod.key[1]: pod.node for pod in self.state.pods.values() if not pod.terminating}
        return {name: there[name] for name in names} if names else there

    def __getitem__(self, name: str) -> Pod:
        return next(pod for pod in self.state.pods.values() if pod.key[1] == name)

    def _update(self, pod: Pod, **fields: Any) -> None:
        current = self.state.pods.get(pod.uid)
        if current is not None:
            self.state.set_pod(replace(current, **fields))


def key(name: str) -> Key:
    return NAMESPACE, name
