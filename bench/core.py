"""The reference scheduler's decisions alone: no API, no process.

python -m bench.core
"""

from __future__ import annotations

import statistics
import time

from scheduler.core.actions import Bind
from scheduler.core.cluster import Cluster
from scheduler.core.model import GPU, PODS, Node, Pod, Shape
from scheduler.core.plan import plan
from scheduler.core.policy import Policy

REPEATS = 5
POLICY = Policy()
ONE_GPU = Shape(((GPU, 1), (PODS, 1)))


def main() -> None:
    print("full plan of pending one-GPU pods, 8 GPUs a node (seconds: median, min–max)")
    medians = {}
    for nodes, pods in ((500, 20_000), (5_000, 20_000), (500, 2_000), (5_000, 2_000)):
        taken = [full_plan(nodes, pods) for _ in range(REPEATS)]
        medians[nodes, pods] = statistics.median(taken)
        print(f"  {pods:>6} pods on {nodes:>5} nodes  {spread(taken)}")
    print(f"  10 x the nodes costs {medians[5_000, 2_000] / medians[500, 2_000]:.1f} x the time (2,000 pods)")
    print("one pod added to a settled cluster (milliseconds: median, min–max)")
    for nodes in (500, 5_000):
        taken = [1000 * seconds for seconds in one_more(nodes)]
        print(f"  {nodes:>5} nodes, {4 * nodes:>6} pods  {spread(taken)}; the first one {taken[0]:.2f}")


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


def built(nodes: int) -> Cluster:
    cluster = Cluster()
    for number in range(nodes):
        cluster.set_node(Node(f"node-{number:05}", {GPU: 8, PODS: 110, "cpu": 64_000, "memory": 1 << 40}))
    return cluster


def pod(number: int, node: str = "") -> Pod:
    name = f"pod-{number:07}"
    return Pod(("bench", name), name, ONE_GPU, 0.0, scheduler="muster-scheduler", node=node)


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.3f}  ({min(values):.3f}–{max(values):.3f})"


if __name__ == "__main__":
    main()
