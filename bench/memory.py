"""Memory of the reference scheduler: 10,000 one-GPU pods and 1,000 nodes with 8,000 GPUs.

python -m bench.memory [REPEATS]     (default 3; about a minute each)

The pods are created before the scheduler starts. Printed is the maximum until the last pod that fits was bound.
"""

from __future__ import annotations

import sys

from bench.large_clusters import LargeCluster
from bench.scheduler import GPUS, scheduler
from bench.statistics import resident_set_mib, spread
from muster.cluster.local import LocalCluster

NODES, PODS = 1_000, 10_000


def main(repeats: int) -> None:
    most: list[float] = []
    with LocalCluster() as cluster:
        large_cluster = LargeCluster(cluster)
        large_cluster.nodes(NODES, GPUS)
        scheduler_under_test = scheduler("reference", cluster)

        def stop() -> None:
            most.append(resident_set_mib(scheduler_under_test.processes[0].pid, most=True))
            scheduler_under_test.stop()

        for _ in range(repeats):
            large_cluster.pods(scheduler_under_test.dialect, PODS)
            rate = large_cluster.watch_bindings(NODES * GPUS, scheduler_under_test.start, stop)
            print(f"{most[-1]:.0f} MiB, {rate:.0f} pods/s", flush=True)
    print(f"{PODS} pods, {NODES} nodes: {spread(most, 0)} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
