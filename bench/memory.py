"""What the reference scheduler needs: 10,000 one-GPU pods and 1,000 nodes with room for 8,000 of them.

python -m bench.memory [REPEATS]     (default 3; about a minute each)

The pods are there first, then the scheduler starts; told is the most that it ever held until the last one that fits was
bound.
"""

from __future__ import annotations

import sys

from bench.crowds import Crowd
from bench.figures import resident, spread
from bench.scheduler import GPUS, subject
from muster.cluster.local import LocalCluster

NODES, PODS = 1_000, 10_000


def main(repeats: int) -> None:
    most: list[float] = []
    with LocalCluster() as cluster:
        crowd = Crowd(cluster)
        crowd.nodes(NODES, GPUS)
        judged = subject("reference", cluster)

        def stop() -> None:
            most.append(resident(judged.processes[0].pid, most=True))
            judged.stop()

        for _ in range(repeats):
            crowd.pods(judged.dialect, PODS)
            rate = crowd.watch_bindings(NODES * GPUS, judged.start, stop)
            print(f"{most[-1]:.0f} MiB, {rate:.0f} pods/s", flush=True)
    print(f"{PODS} pods, {NODES} nodes: {spread(most, 0)} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
