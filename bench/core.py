"""The reference scheduler's decisions alone: no API, no process.

python -m bench.core
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

from bench.statistics import spread
from scheduler.core.actions import Bind, Evict
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import GPU, PODS, Node, Pod, PodRequirements

REPEATS = 5
POLICY = Policy()
ONE_GPU = PodRequirements(((GPU, 1), (PODS, 1)))


def main() -> None:
    print("full plan of pending one-GPU pods, 8 GPUs a node (seconds: median, min–max)")
    medians = {}
    for nodes, pods in ((500, 20_000), (5_000, 20_000), (500, 2_000), (5_000, 2_000)):
        taken = [full_plan(nodes, pods) for _ in range(REPEATS)]
        medians[nodes, pods] = statistics.median(taken)
        print(f"  {pods:>6} pods on {nodes:>5} nodes  {spread(taken, 3)}")
    print(f"  10 x the nodes costs {medians[5_000, 2_000] / medians[500, 2_000]:.1f} x the time (2,000 pods)")
    print("one pod added to a stable cluster (milliseconds: median, min–max)")
    for nodes in (500, 5_000):
        taken = [1000 * seconds for seconds in one_more(nodes)]
        print(f"  {nodes:>5} nodes, {4 * nodes:>6} pods  {spread(taken, 3)}; the first one {taken[0]:.2f}")
    print("preemption on a full cluster, one victim each (seconds: median, min–max)")
    for nodes, pods in ((40, 80), (400, 800)):
        print(
            f"  for {pods:>4} pods on {nodes:>4} nodes  {spread([preemption(nodes, pods) for _ in range(REPEATS)], 3)}"
        )


def full_plan(nodes: int, pods: int) -> float:
    cluster = built(nodes)
    for number in range(pods):
        cluster.set_pod(pod(number))
    assert cluster.table
    began = time.perf_counter()
    bound = sum(isinstance(action, Bind) for action in plan(cluster, POLICY))
    taken = time.perf_counter() - began
    assert bound == min(pods, 8 * nodes), bound
    return taken


def preemption(nodes: int, pods: int) -> float:
    cluster = built(nodes)
    for number in range(8 * nodes):
        cluster.set_pod(pod(number, f"node-{number % nodes:05}"))
    for number in range(pods):
        cluster.set_pod(replace(pod(8 * nodes + number), priority=100))
    assert cluster.table
    began = time.perf_counter()
    evicted = sum(isinstance(action, Evict) for action in plan(cluster, POLICY))
    taken = time.perf_counter() - began
    assert evicted == pods, evicted
    return taken


def one_more(nodes: int) -> list[float]:
    cluster = built(nodes)
    for number in range(4 * nodes):
        cluster.set_pod(pod(number, f"node-{number % nodes:05}"))
    assert cluster.table
    taken = []
    for number in range(REPEATS * 4):
        newcomer = pod(10**6 + number)
        began = time.perf_counter()
        cluster.set_pod(newcomer)
        (action,) = plan(cluster, POLICY)
        taken.append(time.perf_counter() - began)
        assert isinstance(action, Bind)
        cluster.set_pod(pod(10**6 + number, action.node))
    return taken


def built(nodes: int) -> ClusterState:
    cluster = ClusterState()
    for number in range(nodes):
        cluster.set_node(Node(f"node-{number:05}", {GPU: 8, PODS: 110, "cpu": 64_000, "memory": 1 << 40}))
    return cluster


def pod(number: int, node: str = "") -> Pod:
    name = f"pod-{number:07}"
    return Pod(("bench", name), name, ONE_GPU, 0.0, scheduler="muster-scheduler", node=node)


if __name__ == "__main__":
    main()
