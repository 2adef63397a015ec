"""On an existing cluster: a run changes its own objects only, and is cleaned up after SIGKILL at any moment.

`python -m bench.existing_cluster [audit] [kills [NUMBER [SEED]]]`; the embedded plane of the tests plays the cluster.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from muster.cluster.existing import cleanup
from muster.schedulers import existing_cluster_objects
from tests.support.existing_cluster import World, kill_everything, muster, shared_cluster

_KILLS = 50
_CHANGES = (12, 60, 400)  # while a run begins, in its first scenario, and well under way
_LOOK = 0.005  # seconds


def audit(world: World, directory: Path) -> None:
    """The MUSTs of preemption and taints on the scheduler of the cluster; the walk-throughs on the reference."""
    before = world.theirs()
    for scheduler, selection in (
        (f"kube-scheduler:{world.settings}", ("-k", "PRE or TNT", "-m", "must")),
        ("reference", ("-k", "DOC or PRE or TNT or QUE or GNG", "-m", "must")),
    ):
        since, began = len(world.writes()), time.monotonic()
        place = directory / f"audit-{scheduler.partition(':')[0]}"
        place.mkdir()
        run = world.run("--scheduler", scheduler, *selection, cwd=place)
        out, _ = run.communicate()
        written = world.writes()[since:]
        print(out[-2500:])
        print(f"{scheduler}: exit code {run.returncode}, {time.monotonic() - began:.0f} s, {len(written)} changes")
        print("  " + ", ".join(f"{number} {what}" for what, number in Counter(one[1] for one in written).most_common()))
        print(f"  not to something of a run: {world.stray_writes(since) or 'none'}")
        print(f"  refused to the run: {Counter(world.forbidden()) or 'none'}")
        print(f"  the cluster is as it was: {world.theirs() == before}")


def kills(world: World, directory: Path, number: int, seed: int) -> None:
    """Each run is killed with its children after a random number of changes, and cleaned up."""
    before, chance = world.theirs(), random.Random(seed)
    took: list[float] = []
    for attempt in range(number):
        place = directory / f"kill-{attempt}"
        place.mkdir()
        changes = chance.randint(1, chance.choice(_CHANGES))
        since = world.changes()
        run = world.run("--scheduler", "reference", "-k", "PRE or DOC", "-m", "must", cwd=place)
        while world.changes() - since < changes and run.poll() is None:
            time.sleep(_LOOK)  # the log is written by another process: polled
        kill_everything(run)
        there = sum(
            len(remains.names()) for remains in cleanup.find_runs(world.api, existing_cluster_objects()).values()
        )
        began = time.monotonic()
        cleaned = muster("cleanup", "--kubeconfig", str(world.kubeconfig))
        took.append(time.monotonic() - began)
        after = world.theirs()
        said = cleaned.stdout.strip().replace("\n", "; ")
        print(f"{attempt + 1:2} killed after {changes:3} changes, {there:2} things there; {took[-1]:4.1f} s: {said}")
        if cleaned.returncode or after != before:
            print(f"   NOT as it was: {sorted(set(after) ^ set(before)) or 'changed'} {cleaned.stderr}")
            sys.exit(1)
    took.sort()
    print(
        f"{number} kills, cluster unchanged each time; it took {took[len(took) // 2]:.1f} s, at most {took[-1]:.1f} s"
    )


def main(arguments: list[str]) -> None:
    numbers = [int(argument) for argument in arguments if argument.isdecimal()]
    number, seed = numbers[0] if numbers else _KILLS, numbers[1] if numbers[1:] else 7
    with tempfile.TemporaryDirectory() as name, shared_cluster(Path(name)) as world:
        if not arguments or "audit" in arguments:
            audit(world, Path(name))
        if not arguments or "kills" in arguments:
            kills(world, Path(name), number, seed)


if __name__ == "__main__":
    main(sys.argv[1:])
