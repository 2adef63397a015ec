"""A backlog, side by side on one plane: the reference scheduler, kube-scheduler, Volcano, and bindings alone.

python -m bench.scheduler [REPEATS]     (default 5; about 10 minutes; wants an idle machine)

Pods are created first, then the scheduler starts; the rate is counted from the first binding to the last. Nothing but
the scheduler works on the pods. All client limits are raised, and all schedulers write their events.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict

from bench.crowds import Crowd
from muster import assets
from muster.cluster.local import LocalCluster
from muster.subject import Subject, Workplace, choose

NODES, GPUS = 500, 8
PODS = 2_000
GANGS, GANG_SIZE = 100, 8


def main(repeats: int) -> None:
    alone, together = f"{PODS} pods", f"{GANGS} gangs of {GANG_SIZE}"
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    with LocalCluster() as cluster:
        crowd = Crowd(cluster)
        crowd.nodes(NODES, GPUS)
        # Volcano first: the definitions that it ships serve the reference scheduler as well.
        subjects = {name: subject(name, cluster) for name in ("volcano", "kube-scheduler", "reference")}
        for number in range(1, repeats + 1):
            rates["bindings alone", alone].append(crowd.bind_all(PODS))
            for name in ("reference", "kube-scheduler"):
                crowd.pods(subjects[name].dialect, PODS)
                rates[name, alone].append(bound_per_second(subjects[name], crowd, PODS))
            for name in ("reference", "volcano"):
                crowd.gangs(subjects[name].dialect, GANGS, GANG_SIZE)
                rates[name, together].append(bound_per_second(subjects[name], crowd, GANGS * GANG_SIZE))
            newest = ", ".join(f"{name} {seen[-1]:.0f}" for (name, _), seen in rates.items())
            print(f"round {number} of {repeats}: {newest}", flush=True)
    for (name, what), seen in rates.items():
        print(f"{name:<16} {what:<16} {statistics.median(seen):6.0f} pods/s  ({min(seen):.0f}–{max(seen):.0f})")
    middle = {who: statistics.median(seen) for who, seen in rates.items()}
    ours = middle["reference", alone]
    print(f"reference to kube-scheduler {ours / middle['kube-scheduler', alone]:.2f}")
    print(f"reference to bindings alone {ours / middle['bindings alone', alone]:.2f}")
    print(f"reference to volcano        {middle['reference', together] / middle['volcano', together]:.2f}")


def subject(name: str, cluster: LocalCluster) -> Subject:
    kind, configuration = choose(name)
    files = assets.ensure(kind.assets, say=print)
    directory = cluster.directory / name
    directory.mkdir()
    made = kind(configuration, Workplace.on(cluster, files, directory))
    made.install(cluster.connection.api)
    return made


def bound_per_second(judged: Subject, crowd: Crowd, count: int) -> float:
    rate = crowd.watch_bindings(count, judged.start, judged.stop)
    if judged.dialect.group_kind is not None:
        crowd.clear(judged.dialect.group_kind)
    return rate


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
