"""Constraints, waiting times, writes and preemption on `muster up`, from outside: a table of case by number of nodes.

python -m bench.black_box [NODES …] [--scheduler NAME] [--only PATTERN]     (default: 50, 200, 240 and 1000 nodes)

Plain REST requests only. What is bound is compared with the number that can be bound, and checked by code of its own.
Exit code 1 if a case fails anywhere. Gangs are skipped on a scheduler that does not read Volcano's PodGroups: with
`--scheduler kube-scheduler` the cases themselves are checked.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time

from bench.black_box import constraint_cases, load_cases
from bench.black_box.plane import Case, Namespace, Violation, muster_up
from bench.black_box.rest import Refused, Rest

SIZES = (50, 200, 240, 1000)
_WITH_GANGS = ("reference", "volcano")
_WIDTH = 12


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.black_box", description=__doc__.splitlines()[0])
    parser.add_argument("nodes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--scheduler", default="reference")
    parser.add_argument("--only", default="", metavar="PATTERN", help="the cases whose names have it")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that `muster up` is stopped
    gangs = args.scheduler.partition(":")[0] in _WITH_GANGS
    every = [*constraint_cases.cases(), *load_cases.cases()]
    chosen = [case for case in every if re.search(args.only, case.name) and (gangs or not case.gangs)]
    results: dict[tuple[str, int], str] = {}
    for nodes in args.nodes:
        with muster_up(nodes, args.scheduler) as rest:
            for number, case in enumerate(chosen):
                results[case.name, nodes] = outcome(rest, case, f"case-{number}")
                print(f"{nodes:>5} nodes  {case.name:<48} {results[case.name, nodes]}", flush=True)
    print_table(results, args.nodes)
    return int(any("FAILED" in result for result in results.values()))


def outcome(rest: Rest, case: Case, name: str) -> str:
    began = time.monotonic()
    here = Namespace(rest, name)
    try:
        case.run(here)
        result = "passed"
    except Violation as violation:
        result = f"FAILED {violation}"
    except Refused as refused:
        result = f"FAILED by the API server: {refused}"
    finally:
        here.close()
    notes = "" if result != "passed" or not here.notes else f": {'; '.join(here.notes)}"
    return f"{result}{notes} [bound after {here.seconds:.1f} s, all {time.monotonic() - began:.0f} s]"


def print_table(results: dict[tuple[str, int], str], sizes: tuple[int, ...]) -> None:
    print("\n" + "case".ljust(48) + "".join(f"{nodes} nodes".rjust(_WIDTH) for nodes in sizes))
    for name in dict.fromkeys(name for name, _ in results):
        cells = (results[name, nodes].partition(" ")[0].rstrip(":").rjust(_WIDTH) for nodes in sizes)
        print(name.ljust(48) + "".join(cells))
    failed = sum("FAILED" in result for result in results.values())
    print(f"{len(results)} results, {failed} failed")


if __name__ == "__main__":
    sys.exit(main())
