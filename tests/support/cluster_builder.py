"""Clusters in one line per noun, and hands that carry a plan out.

Nothing runs here: a bound pod holds its node at once, an evicted one stays in the way until `let_go`. A pod's uid is
its name, unless it was created again: then it is another pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.cluster import Cluster
from scheduler.core.model import CPU, GPU, PODS, Budget, Counts, Group, Key, Node, Pod, Queue, Requirement, Shape
from scheduler.core.plan import plan
from scheduler.core.policy import Policy

SPACE = "team"


@cache
def shape(gpus: int = 0, cpu: int = 0, **more: Any) -> Shape:
    """Equal shapes are one object, as the runtime has it; `more` are further fields of a Shape."""
    asked = {PODS: 1, GPU: gpus, CPU: cpu}
    return Shape(requests=tuple(sorted((name, amount) for name, amount in asked.items() if amount)), **more)


@dataclass(frozen=True)
class Decision:
    """A plan, by the names of those it is about."""

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
    def why(self) -> dict[str, str]:
        return {one.pod.key[1]: one.message for one in self.actions if isinstance(one, Report)}

    @property
    def phases(self) -> dict[str, str]:
        return {one.group.key[1]: one.phase for one in self.actions if isinstance(one, SetGroupPhase)}

    @property
    def changes(self) -> list[Action]:
        """What is to be done, beyond telling who waits why."""
        return [one for one in self.actions if not isinstance(one, Report)]


class World:
    """A cluster that grows line by line. Each noun is a little younger than the one before it."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.cluster, self.policy = Cluster(), policy or Policy()
        self._clock = 0.0

    def node(self, name: str, gpus: int = 0, cpu: int = 0, pods: int = 110, **more: Any) -> Node:
        offered = {GPU: gpus, CPU: cpu, PODS: pods}
        node = Node(name, {resource: amount for resource, amount in offered.items() if amount}, **more)
        self.cluster.set_node(node)
        return node

    def pod(self, name: str, gpus: int = 0, priority: int = 0, on: str = "", *, cpu: int = 0, **more: Any) -> Pod:
        """`more` are fields of a Shape or of a Pod."""
        kept = {key: more.pop(key) for key in ("selector", "affinity", "preferred", "tolerations") if key in more}
        now = self.tick()
        basics: dict[str, Any] = {
            "created": now,
            "started": now if on else 0.0,
            "scheduler": "muster-scheduler",
            "uid": name,
        }
        pod = Pod(key=(SPACE, name), shape=shape(gpus, cpu, **kept), priority=priority, node=on, **(basics | more))
        self.cluster.set_pod(pod)
        return pod

    def group(self, name: str, minimum: int, **more: Any) -> Group:
        basics: dict[str, Any] = {"kind": "volcano", "created": self.tick()}
        group = Group(key=(SPACE, name), minimum=minimum, **(basics | more))
        self.cluster.set_group(group)
        return group

    def gang(self, name: str, pods: int, gpus: int, priority: int = 0, on: str = "", **group: Any) -> list[Pod]:
        """`on`: it runs there. `group` are fields of a Group; a minimum that is left out is everybody."""
        minimum = group.pop("minimum", pods)
        self.group(name, minimum, **({"phase": "Running"} if on else {}) | group)
        members = [
            self.pod(f"{name}-{number}", gpus, priority, on, group=(SPACE, name), queue="") for number in range(pods)
        ]
        if on:
            self.count()
        return members

    def queue(self, name: str, gpus: int | None = None, **more: Any) -> Queue:
        basics: dict[str, Any] = {"capability": {} if gpus is None else {GPU: gpus}}
        queue = Queue(name, **(basics | more))
        self.cluster.set_queue(queue)
        return queue

    def budget(self, name: str, allowed: int, selector: Mapping[str, str], *lines: Requirement) -> None:
        self.cluster.set_budget(Budget((SPACE, name), allowed, selector, lines))

    def tick(self) -> float:
        self._clock += 1.0
        return self._clock

    def plan(self) -> Decision:
        return Decision(tuple(plan(self.cluster, self.policy)))

    def step(self) -> Decision:
        """Plan, and carry it out; those who are told to go are still leaving afterwards."""
        decision = self.plan()
        self.cluster.settle()
        self.carry_out(decision.actions)
        return decision

    def carry_out(self, actions: Iterable[Action]) -> None:
        for action in actions:
            match action:
                case Bind(pod, node):
                    self._become(pod, node=node, nominated="", started=self.tick())
                case Evict(pod) | Release(pod):
                    self._become(pod, leaving=True)
                case Nominate(pod, node):
                    self._become(pod, nominated=node)
                case SetGroupPhase(group, phase, counts):
                    current = self.cluster.groups[group.key]
                    self.cluster.set_group(replace(current, phase=phase, counts=counts))
                case Report():
                    pass
        self.count()

    def settle(self, most: int = 20, *, replaced: bool = False) -> list[Decision]:
        """Step by step until nothing is left to do; whoever leaves is gone before the next step."""
        steps: list[Decision] = []
        while len(steps) < most:
            steps.append(self.step())
            if not self.let_go(replaced=replaced) and not steps[-1].changes:
                return steps
        raise AssertionError(f"not at rest after {most} plans; the last one: {steps[-1].changes}")

    def let_go(self, *, replaced: bool = False) -> list[Pod]:
        """Those who are leaving are gone; a controller may create each of them again under its name."""
        gone = [pod for pod in self.cluster.pods.values() if pod.leaving]
        for pod in gone:
            self.cluster.remove_pod(pod.uid)
            if replaced:
                fresh: dict[str, Any] = {"uid": f"{pod.uid}+", "node": "", "nominated": "", "leaving": False}
                self.cluster.set_pod(replace(pod, created=self.tick(), **fresh))
        self.count()
        return gone

    def finish(self, *names: str, failed: bool = False) -> None:
        """They come to an end and are counted by their group."""
        for name in names:
            pod = self[name]
            self.cluster.remove_pod(pod.uid)
            if pod.group is not None:
                counts = self.cluster.counts.get(pod.group, Counts())
                ended = {"failed": counts.failed + 1} if failed else {"succeeded": counts.succeeded + 1}
                self.cluster.set_counts(pod.group, replace(counts, **ended))
        self.count()

    def delete(self, *names: str) -> None:
        for name in names:
            self.cluster.remove_pod(self[name].uid)
        self.count()

    def change(self, name: str, **fields: Any) -> None:
        self._become(self[name], **fields)

    def change_group(self, name: str, **fields: Any) -> None:
        self.cluster.set_group(replace(self.cluster.groups[SPACE, name], **fields))

    def count(self) -> None:
        """The nodes say at once who runs."""
        for key in self.cluster.groups:
            counts = self.cluster.counts.get(key, Counts())
            running = sum(bool(pod.node) and not pod.leaving for pod in self.cluster.members(key))
            if counts.running != running:
                self.cluster.set_counts(key, replace(counts, running=running))

    def copy(self) -> World:
        """The same objects, met in another order, by somebody who remembers nothing."""
        other, mine = World(self.policy), self.cluster
        for pod in reversed(mine.pods.values()):
            other.cluster.set_pod(pod)
        for group in sorted(mine.groups.values(), key=lambda group: group.key):
            other.cluster.set_group(group)
        for of_group, counts in mine.counts.items():
            other.cluster.set_counts(of_group, counts)
        for queue in mine.queues.values():
            other.cluster.set_queue(queue)
        for budget in mine.budgets.values():
            other.cluster.set_budget(budget)
        for node in reversed(mine.nodes.values()):
            other.cluster.set_node(node)
        other._clock = self._clock
        return other

    def where(self, *names: str) -> dict[str, str]:
        """The nodes of those who are there and not leaving; of all, when no name is given."""
        there = {pod.key[1]: pod.node for pod in self.cluster.pods.values() if not pod.leaving}
        return {name: there[name] for name in names} if names else there

    def __getitem__(self, name: str) -> Pod:
        return next(pod for pod in self.cluster.pods.values() if pod.key[1] == name)

    def _become(self, pod: Pod, **fields: Any) -> None:
        current = self.cluster.pods.get(pod.uid)
        if current is not None:
            self.cluster.set_pod(replace(current, **fields))


def key(name: str) -> Key:
    return SPACE, name
