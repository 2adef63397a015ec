"""How long one decision keeps the others waiting: the longest decision of a unit, the whole plan, and the longest wait.

python -m bench.decisions [part of a case's name …]

The cases are those that once stalled the scheduler: each is one hostile or heavy tenant beside plain pods.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from bench.decision_waits import longest_wait
from bench.statistics import spread
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle
from scheduler.core.pod_constraints import (
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    SelectorRequirement,
    SpreadConstraint,
    VolumeUsers,
)
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import GPU, PODS, DisruptionBudget, Group, Node, Pod, PodRequirements, Queue
from scheduler.core.scheduling_units import pending_units
from scheduler.core.search_turns import SearchTurns
from scheduler.core.volume_requirements import NO_VOLUME, VolumeRequirement

REPEATS = 3
IS_A = (SelectorRequirement("app", "In", ("a",)),)
PORT = PodConstraints(ports=frozenset({HostPort("0.0.0.0", "TCP", 80)}))
APART = PodConstraints(anti_affinity=(PodTerm("host", PodSelection(IS_A, frozenset({"bench"}))),))
SPREAD = PodConstraints(spread=(SpreadConstraint("host", 1, "bench", IS_A),))
POLICY = Policy()
Key = tuple[str, str]


def main(names: list[str]) -> None:
    print(
        "ms of CPU: median (min–max); longest decision of one unit, then the whole plan; then, on the clock and where"
    )
    print("there are no gangs, the longest time from a decision until its write starts")
    for name, build in cases():
        if not names or any(part in name for part in names):
            taken = [measure(build) for _ in range(REPEATS)]
            longest, whole = ([1000 * one[which] for one in taken] for which in (0, 1))
            waits = "" if build().groups else spread([1000 * longest_wait(build) for _ in range(REPEATS)], 1)
            print(f"  {name:<58} {spread(longest, 1):>24} {spread(whole, 1):>26} {waits:>26}", flush=True)


def measure(build: Callable[[], ClusterState]) -> tuple[float, float]:
    cluster = build()
    assert cluster.table
    gc.collect()  # what building the cluster has left behind is not part of a decision
    began = time.process_time()
    cycle = SchedulingCycle(cluster, POLICY, SearchTurns())
    pending = pending_units(cluster, POLICY)
    longest, last = 0.0, time.process_time()
    for unit in pending:
        cycle.decide(unit)
        now = time.process_time()
        longest, last = max(longest, now - last), now
    return longest, last - began


def cases() -> Iterator[tuple[str, Callable[[], ClusterState]]]:
    for nodes in (400, 1_600, 5_000):
        yield f"hopeless mixed gang beside a plain pod, {nodes} nodes", partial(mixed_gang, nodes)
    for nodes in (500, 5_000):
        yield f"200 preemptors, {nodes} nodes", partial(preemptors, nodes, 200)
    yield "the same with 500 PodDisruptionBudgets, all used up", partial(preemptors, 5_000, 200, budgets=500)
    for members in (64, 512):
        yield f"gang of {members} x 8 GPUs preempts, 5000 nodes", partial(preempting_gang, members)
    for members in (128, 512):
        yield f"the same in a queue at its capability, {members} members", partial(preempting_gang, members, 8 * 5_000)
    yield "late members of 100 gangs, 5000 nodes", partial(late_members, 100)
    for affinities in (50, 400):
        yield f"{affinities} distinct node affinities, 5000 nodes", partial(distinct_affinities, affinities)
    for queues in (25, 200):
        yield f"{queues} queues with one preemptor each, 5000 nodes", partial(many_queues, queues)
    for groups in (50, 400):
        yield f"{groups} groups that name all later ones", partial(linked, groups)
    yield "one pod beside 20000 pending, 5000 nodes", partial(backlog, 20_000)
    yield "20000 pods that fit, 5000 nodes", partial(fitting, 20_000)
    for services in (1, 400):
        yield f"400 pods of {services} Services beside 40000, 5000 nodes", partial(default_spread, services)
    yield "500 pods and 5000 local volumes, WaitForFirstConsumer", partial(first_consumers, 500)
    for name, constraints in (("host port", PORT), ("anti-affinity", APART), ("spread", SPREAD)):
        yield f"200 pods preempt for their {name}, 5000 nodes", partial(constrained, constraints, 200)
        yield f"gang of 32 preempts for its {name}, 5000 nodes", partial(constrained, constraints, 32, gang=True)
        yield f"hopeless gang of 64 with {name}, 5000 nodes", partial(constrained, constraints, 64, gang=True, free=40)
    for nodes in (1_000, 5_000):
        for gangs in (20, 50):
            yield f"{gangs} hopeless gangs with affinity, {nodes} nodes", partial(contradictory_gangs, nodes, gangs)


def mixed_gang(nodes: int) -> ClusterState:
    cluster = built(nodes)
    cluster.set_node(Node("zz-master", {PODS: 110, "cpu": 4_000}, {"pool": "masters"}))
    cluster.set_pod(pod("other", shape(cpu=4_000), node="zz-master", priority=1_000))
    cluster.set_group(Group(("bench", "train"), "volcano", 17, 0.0))
    for number in range(16):
        cluster.set_pod(pod(f"worker-{number}", shape(gpus=2, cpu=4_000), group=("bench", "train")))
    master = replace(shape(cpu=2_000), selector=(("pool", "masters"),))
    cluster.set_pod(pod("master", master, group=("bench", "train")))
    cluster.set_pod(pod("plain", shape(cpu=1_000)))
    return cluster


def preemptors(nodes: int, count: int, budgets: int = 0) -> ClusterState:
    cluster = full(nodes, applications=budgets)
    for number in range(budgets):
        cluster.set_budget(DisruptionBudget(("bench", f"budget-{number}"), 0, {"app": f"app-{number}"}))
    for number in range(count):
        cluster.set_pod(pod(f"urgent-{number}", shape(gpus=1), priority=100))
    return cluster


def preempting_gang(members: int, capability: int = 0) -> ClusterState:
    cluster = full(5_000)
    if capability:
        cluster.set_queue(Queue("default", {GPU: capability}))
    cluster.set_group(Group(("bench", "train"), "volcano", members, 0.0))
    for number in range(members):
        cluster.set_pod(pod(f"member-{number:04}", shape(gpus=8), priority=100, group=("bench", "train")))
    return cluster


def late_members(gangs: int) -> ClusterState:
    cluster = full(5_000, priority=100)
    for number in range(gangs):
        key = "bench", f"gang-{number}"
        cluster.set_group(Group(key, "volcano", 1, 0.0, phase="Running"))
        cluster.set_pod(pod(f"first-{number}", shape(), node=f"node-{number:05}", group=key))
        cluster.set_pod(pod(f"late-{number}", shape(gpus=1), priority=50, group=key))
    return cluster


def distinct_affinities(count: int) -> ClusterState:
    cluster = built(5_000)
    for number in range(count):
        term = (SelectorRequirement("tenant", "NotIn", (f"tenant-{number}",)),)
        cluster.set_pod(pod(f"pod-{number}", replace(shape(gpus=1), affinity=(term,))))
    return cluster


def default_spread(services: int) -> ClusterState:
    cluster = full(5_000)
    for number in range(400):
        labels = {"app": f"service-{number % services}"}
        selector = (SelectorRequirement("app", "In", (labels["app"],)),)
        cluster.set_pod(pod(f"pod-{number}", shape(cpu=100), labels=labels, default_spread=selector))
    return cluster


def many_queues(count: int) -> ClusterState:
    cluster = built(5_000)
    for number in range(count):
        cluster.set_queue(Queue(f"queue-{number}", {GPU: 8 * 5_000 // count}))
        cluster.set_pod(pod(f"urgent-{number}", shape(gpus=1), priority=100, queue=f"queue-{number}"))
    for number in range(8 * 5_000):
        running = pod(f"low-{number}", shape(gpus=1), node=f"node-{number // 8:05}", queue=f"queue-{number % count}")
        cluster.set_pod(running)
    return cluster


def linked(count: int) -> ClusterState:
    cluster = built(100)
    keys = [("bench", f"group-{number:04}") for number in range(count)]
    for number, key in enumerate(keys):
        cluster.set_group(Group(key, "koordinator", 1, 0.0, linked_groups=frozenset(keys[number + 1 :])))
        cluster.set_pod(pod(f"member-{number}", shape(gpus=1), group=key))
    return cluster


def backlog(pending: int) -> ClusterState:
    cluster = full(5_000)
    for number in range(pending):
        cluster.set_pod(pod(f"pending-{number:05}", shape(gpus=1)))
    cluster.set_pod(pod("plain", shape(cpu=1_000)))
    return cluster


def fitting(pending: int) -> ClusterState:
    cluster = built(5_000)
    for number in range(pending):
        cluster.set_pod(pod(f"pending-{number:05}", shape(gpus=1)))
    return cluster


def first_consumers(pods: int) -> ClusterState:
    """Each node has one local volume, and each pod needs one."""
    cluster = built(5_000)
    terms = tuple((SelectorRequirement("host", "In", (name,)),) for name in cluster.nodes)
    volume = VolumeRequirement(NO_VOLUME, terms, (1,) * len(terms))
    constraints = PodConstraints(volumes=frozenset({VolumeUsers(volume)}))
    wanted = replace(shape(gpus=1), volumes=(volume,), constraints=constraints)
    for number in range(pods):
        cluster.set_pod(pod(f"pod-{number}", wanted, unbound_claims=True))
    return cluster


def constrained(constraints: PodConstraints, count: int, *, gang: bool = False, free: int = 0) -> ClusterState:
    """Every node has a pod that excludes these; `free`: the gang may use so many nodes only, and is too large."""
    cluster = built(5_000)
    priority = 1_000 if free else 0
    for number in range(5_000):
        node = f"node-{number:05}"
        if number >= free:
            holder = replace(shape(), constraints=constraints)
            cluster.set_pod(pod(f"holder-{number}", holder, node=node, priority=priority, labels={"app": "a"}))
        for other in range(3):
            cluster.set_pod(pod(f"other-{number}-{other}", shape(gpus=1), node=node, started=float(number)))
    if constraints is SPREAD:  # one domain has too few: every other one is full
        cluster.set_node(replace(cluster.nodes["node-00000"], cordoned=True))
        cluster.remove_pod("holder-0")
    if gang:
        cluster.set_group(Group(("bench", "gang"), "volcano", count, 0.0))
    wanted = replace(shape(gpus=1), constraints=constraints)
    for number in range(count):
        group = ("bench", "gang") if gang else None
        cluster.set_pod(pod(f"urgent-{number}", wanted, priority=100, group=group, labels={"app": "a"}))
    return cluster


def contradictory_gangs(nodes: int, gangs: int) -> ClusterState:
    """Members that must be in one zone, and one that must be there and must not."""
    cluster = built(nodes)
    for number in range(gangs):
        key = "bench", f"gang-{number}"
        cluster.set_group(Group(key, "volcano", 20, 0.0))
        selector = (SelectorRequirement("app", "In", (key[1],)),)
        term = PodTerm("zone", PodSelection(selector, frozenset({"bench"})))
        together = PodConstraints(affinity=(term,))
        for member in range(20):
            constraints = together if member else replace(together, anti_affinity=(term,))
            wanted = replace(shape(gpus=1), constraints=constraints)
            cluster.set_pod(pod(f"{key[1]}-{member}", wanted, group=key, labels={"app": key[1]}))
    return cluster


def built(nodes: int) -> ClusterState:
    cluster = ClusterState()
    for number in range(nodes):
        labels = {"host": f"node-{number:05}", "zone": f"zone-{number % 10}"}
        labels |= {"kubernetes.io/hostname": labels["host"], "topology.kubernetes.io/zone": labels["zone"]}
        allocatable = {GPU: 8, PODS: 110, "cpu": 64_000, "memory": 1 << 40}
        cluster.set_node(Node(f"node-{number:05}", allocatable, labels))
    return cluster


def full(nodes: int, priority: int = 0, applications: int = 0) -> ClusterState:
    """Every GPU is in use, by one-GPU pods, of so many applications."""
    cluster, one_gpu = built(nodes), shape(gpus=1)
    for number in range(8 * nodes):
        labels = {"app": f"app-{number % applications}"} if applications else {}
        node = f"node-{number // 8:05}"
        cluster.set_pod(pod(f"low-{number:06}", one_gpu, node=node, priority=priority, labels=labels))
    return cluster


_shapes: dict[tuple[int, int], PodRequirements] = {}


def shape(gpus: int = 0, cpu: int = 0) -> PodRequirements:
    """Equal requirements are one object, as in the runtime."""
    requests = tuple((name, amount) for name, amount in (("cpu", cpu), (GPU, gpus), (PODS, 1)) if amount)
    return _shapes.setdefault((gpus, cpu), PodRequirements(requests))


def pod(name: str, requirements: PodRequirements, *, group: Key | None = None, **more: object) -> Pod:
    fields = {"node": "", "priority": 0, "queue": "", "scheduler": "muster-scheduler"} | more
    return Pod(("bench", name), name, requirements, 0.0, group=group, **fields)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1:])
