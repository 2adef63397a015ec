"""Scheduling a backlog on one cluster: the reference scheduler, kube-scheduler, Volcano, and bindings alone.

python -m bench.scheduler [REPEATS]     (default 5; about 10 minutes; needs an idle machine)

Pods are created first, then the scheduler starts; the rate is counted from the first binding to the last. Nothing but
the scheduler works on the pods. All client limits are raised, and all schedulers write their events.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict

from bench.large_clusters import LargeCluster
from muster import assets
from muster.cluster.local import LocalCluster
from muster.schedulers import ProcessContext, Scheduler, choose

NODES, GPUS = 500, 8
PODS = 2_000
GANGS, GANG_SIZE = 100, 8


def main(repeats: int) -> None:
    alone, together = f"{PODS} pods", f"{GANGS} gangs of {GANG_SIZE}"
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    with LocalCluster() as cluster:
        large_cluster = LargeCluster(cluster)
        large_cluster.nodes(NODES, GPUS)
        # Volcano first: the definitions that it ships serve the reference scheduler as well.
        schedulers = {name: scheduler(name, cluster) for name in ("volcano", "kube-scheduler", "reference")}
        for number in range(1, repeats + 1):
            rates["bindings alone", alone].append(large_cluster.bind_all(PODS))
            for name in ("reference", "kube-scheduler"):
                large_cluster.pods(schedulers[name].dialect, PODS)
                rates[name, alone].append(bound_per_second(schedulers[name], large_cluster, PODS))
            for name in ("reference", "volcano"):
                large_cluster.gangs(schedulers[name].dialect, GANGS, GANG_SIZE)
                rates[name, together].append(bound_per_second(schedulers[name], large_cluster, GANGS * GANG_SIZE))
            newest = ", ".join(f"{name} {seen[-1]:.0f}" for (name, _), seen in rates.items())
            print(f"round {number} of {repeats}: {newest}", flush=True)
    for (name, what), seen in rates.items():
        print(f"{name:<16} {what:<16} {statistics.median(seen):6.0f} pods/s  ({min(seen):.0f}–{max(seen):.0f})")
    median = {key: statistics.median(seen) for key, seen in rates.items()}
    ours = median["reference", alone]
    print(f"reference to kube-scheduler {ours / median['kube-scheduler', alone]:.2f}")
    print(f"reference to bindings alone {ours / median['bindings alone', alone]:.2f}")
    print(f"reference to volcano        {median['reference', together] / median['volcano', together]:.2f}")


def scheduler(name: str, cluster: LocalCluster) -> Scheduler:
    kind, configuration = choose(name)
    files = assets.ensure(kind.assets, print_line=print)
    directory = cluster.directory / name
    directory.mkdir()
    made = kind(configuration, ProcessContext.on(cluster, files, directory))
    made.install(cluster.connection.api)
    return made


def bound_per_second(scheduler_under_test: Scheduler, large_cluster: LargeCluster, count: int) -> float:
    rate = large_cluster.watch_bindings(count, scheduler_under_test.start, scheduler_under_test.stop)
    if scheduler_under_test.dialect.group_kind is not None:
        large_cluster.clear(scheduler_under_test.dialect.group_kind)
    return rate


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
