"""Every scenario goes red on a scheduler or an operator that is broken in its way: run it on them and keep the score.

    python -m tests.prove                  all mutants, each on the scenarios it is aimed at; writes docs/proof.md
    python -m tests.prove reference        the reference scheduler with a fault (or operator, or kube-scheduler)
    python -m tests.prove one-by-one …     these; what docs/proof.md says of the others stays
    python -m tests.prove --all …          on everything, not only on what they are aimed at

Ends with 1 if a scenario survives all mutants that are aimed at it. A scenario that cannot fail is a defect.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.broken import page
from tests.broken.mutants import MUTANTS, Mutant

PROOF = Path(__file__).resolve().parent.parent / "docs" / "proof.md"
AT_A_TIME = 2  # mutants, each with a cluster of its own
IMPATIENCE = {"MUSTER_TIMEOUT_SCALE": "0.3"}  # a broken scheduler never does what is waited for: wait less for it
NOT_JUDGED = ("not-supported", "not-staged")


def judge(mutant: Mutant, results: Path, *, everything: bool = False) -> dict[str, str]:
    """The verdict of each scenario on this mutant."""
    aim = [] if everything else ["--only", *mutant.aims]
    command = [sys.executable, "-m", "muster", "run", "--scheduler", mutant.scheduler, "--results", str(results), *aim]
    outcome = subprocess.run(
        command,
        env={**IMPATIENCE, **os.environ, **mutant.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    file = results / "results.jsonl"
    if not file.exists():
        raise SystemExit(f"{mutant.name} was not judged:\n{outcome.stdout}")
    verdicts: dict[str, str] = {}
    for one in map(json.loads, file.read_text().splitlines()):
        if (
            one["verdict"] not in NOT_JUDGED and verdicts.get(one["id"]) != page.RED
        ):  # one red row of an outline is enough
            verdicts[one["id"]] = one["verdict"]
    return verdicts


def chosen(names: Sequence[str]) -> list[Mutant]:
    """By name or by kind; all where none is named."""
    if unknown := sorted(set(names) - {word for mutant in MUTANTS for word in (mutant.name, mutant.kind)}):
        raise SystemExit(f"there is no mutant {', '.join(unknown)}: look into docs/proof.md for their names")
    return [mutant for mutant in MUTANTS if not names or mutant.name in names or mutant.kind in names]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description="Run scenarios on what is broken.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a mutant, reference, operator or kube-scheduler")
    parser.add_argument("--all", action="store_true", help="on everything, not only on what they are aimed at")
    given = parser.parse_args()
    mutants = chosen(given.names)
    verdicts = page.read(PROOF.read_text()) if given.names else {}
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(AT_A_TIME) as pool:
        judged = pool.map(lambda mutant: judge(mutant, Path(directory, mutant.name), everything=given.all), mutants)
        for mutant, column in zip(mutants, judged, strict=True):
            verdicts[mutant.name] = column
            PROOF.write_text(page.write(MUTANTS, verdicts))  # at once: whoever interrupts it keeps what was proven
            missed = [f"{one} {column.get(one, 'not run')}" for one in mutant.aims if column.get(one) != page.RED]
            reds = sum(verdict == page.RED for verdict in column.values())
            print(f"{mutant.name}: {reds} red{'; aimed at in vain: ' if missed else ''}{', '.join(missed)}", flush=True)
    alive = page.survivors(MUTANTS, verdicts)
    print(f"survivors: {' '.join(alive) or 'none'}; written to {PROOF.relative_to(PROOF.parents[1])}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
