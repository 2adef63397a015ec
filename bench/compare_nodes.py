"""The same behaviours on real and on simulated nodes of one kind cluster, and what differs.

    python -m bench.compare_nodes IMAGE [--scheduler NAME …] [--nodes TYPE …] [--add] [OPTION …]

IMAGE is an archive of `make kind-image`; options go to `muster run` (`--only PRE-01`, `--repeat 3`). All runs use the
cluster that `--reuse` keeps. Verdicts are kept in muster/environment/node_outcomes.json, in the place of older ones or,
with --add, beside them; exits with 1 if a behaviour differs. `python docs/generate.py` writes the tables.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from bench.node_outcomes import (
    REAL,
    SIMULATED,
    Outcome,
    combined,
    pairs,
    read_outcomes,
    same_verdict,
    write_outcomes,
)
from muster.errors import EXIT_FAILED, EXIT_HARNESS_BROKE, EXIT_PASSED
from muster.report.results import Result, read_results
from muster.verdicts import Verdict

_SCHEDULERS = ("reference", "kube-scheduler")
_NOT_TESTED = (Verdict.NOT_SUPPORTED, Verdict.NOT_STAGED, Verdict.SKIPPED)


def outcomes(results: Iterable[Result], scheduler: str, nodes: str) -> list[Outcome]:
    """What ran on these nodes; an excused scenario has no verdict to compare, one that ran elsewhere not this one."""
    verdicts: dict[str, Counter[str]] = {}
    seconds: dict[str, float] = defaultdict(float)
    for one in results:
        if one.verdict not in _NOT_TESTED and one.nodes.startswith(nodes):
            verdicts.setdefault(one.id, Counter())[one.verdict.value] += 1
            seconds[one.id] += one.seconds
    return [Outcome(id_, scheduler, nodes, dict(found), round(seconds[id_], 1)) for id_, found in verdicts.items()]


def run(image: str, scheduler: str, nodes: str, options: list[str]) -> tuple[list[Outcome], bool]:
    """The outcomes, and whether the run was interrupted: then they are those of the scenarios that had ended."""
    where = ["--cluster", "kind", "--reuse", "--kind-image", image, "--node-type", nodes]
    with tempfile.TemporaryDirectory() as directory:
        results, began = Path(directory, "results"), time.monotonic()
        command = [sys.executable, "-m", "muster", "run", *where, "--scheduler", scheduler]
        process, interrupted = subprocess.Popen([*command, "--results", str(results), *options]), False
        try:
            process.wait()
        except KeyboardInterrupt:  # ctrl-C reaches the run as well, which ends its scenario
            process.wait()
            interrupted = True
        found = outcomes(read_results(results), scheduler, nodes)
    print(f"{scheduler} on {nodes} nodes: {len(found)} behaviours, {time.monotonic() - began:.0f} s", flush=True)
    return found, interrupted


def main() -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("image")
    parser.add_argument("--scheduler", nargs="+", default=_SCHEDULERS)
    parser.add_argument("--nodes", nargs="+", choices=(REAL, SIMULATED), default=(SIMULATED, REAL))
    parser.add_argument("--add", action="store_true")
    chosen, options = parser.parse_known_args()
    ids: set[str] = set()
    for scheduler in chosen.scheduler:
        for nodes in chosen.nodes:
            new, interrupted = run(chosen.image, scheduler, nodes, options)
            write_outcomes(combined(read_outcomes(), new, add=chosen.add))  # at once: a later run may be interrupted
            ids |= {one.id for one in new}
            if interrupted:
                return EXIT_HARNESS_BROKE
    different = [two for two in pairs(read_outcomes()) if two[0].id in ids and not same_verdict(*two)]
    for simulated, real in different:
        print(f"{real.id}, {real.scheduler}: simulated {simulated.verdicts}, real {real.verdicts}")
    return EXIT_FAILED if different else EXIT_PASSED


if __name__ == "__main__":
    sys.exit(main())
