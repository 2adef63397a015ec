"""Mutation test: every scenario must fail on a scheduler or operator with a matching fault. Writes docs/proof.md.

    python -m tests.mutation.mutation_test                       all mutants, each on its target scenarios
    python -m tests.mutation.mutation_test reference             those of the reference (or operator, or kube-scheduler)
    python -m tests.mutation.mutation_test gangs-are-ignored …   these; the rows of the others stay
    python -m tests.mutation.mutation_test --all …               on all scenarios, not only on the targets

Exits with 1 if a scenario passes on all mutants that target it. A scenario that cannot fail is a defect.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutation import proof_page
from tests.mutation.mutants import MUTANTS, Mutant

PROOF = Path(__file__).resolve().parents[2] / "docs" / "proof.md"
CONCURRENT_MUTANTS = 2  # each with its own cluster
SHORT_TIMEOUTS = {"MUSTER_TIMEOUT_SCALE": "0.3"}  # a mutant often never does what is awaited
NOT_TESTED = ("not-supported", "not-staged")
_WEIGHT = ("skipped", "passed", "error", proof_page.FAILED)


def run_mutant(mutant: Mutant, results: Path, *, all_scenarios: bool = False) -> dict[str, str]:
    """The verdict of each scenario on this mutant."""
    targets = [] if all_scenarios else ["--only", *mutant.aims]
    command = [
        sys.executable,
        "-m",
        "muster",
        "run",
        "--scheduler",
        mutant.scheduler,
        "--results",
        str(results),
        *targets,
    ]
    outcome = subprocess.run(
        command,
        env={**SHORT_TIMEOUTS, **os.environ, **mutant.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    file = results / "results.jsonl"
    if not file.exists():
        raise SystemExit(f"{mutant.name} was not tested:\n{outcome.stdout}")
    return verdicts_by_id(map(json.loads, file.read_text().splitlines()))


def verdicts_by_id(results: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """One failed row of an outline is enough; without one, a row that broke is not hidden by a row that passed."""
    verdicts: dict[str, str] = {}
    for one in results:
        if one["verdict"] not in NOT_TESTED:
            known = verdicts.get(one["id"], one["verdict"])
            verdicts[one["id"]] = max(known, one["verdict"], key=_WEIGHT.index)
    return verdicts


def select(names: Sequence[str]) -> list[Mutant]:
    """Mutants by name or by kind; all if no name is given."""
    if unknown := sorted(set(names) - {name for mutant in MUTANTS for name in (mutant.name, mutant.kind)}):
        raise SystemExit(f"unknown mutant: {', '.join(unknown)}; docs/proof.md lists all names")
    return [mutant for mutant in MUTANTS if not names or mutant.name in names or mutant.kind in names]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutation.mutation_test",
        description="Run scenarios on mutants; each must fail on one of them.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a mutant, reference, operator or kube-scheduler")
    parser.add_argument("--all", action="store_true", help="run all scenarios, not only the targets of each mutant")
    options = parser.parse_args()
    mutants = select(options.names)
    verdicts = proof_page.read(PROOF.read_text()) if options.names else {}
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(CONCURRENT_MUTANTS) as pool:
        results = pool.map(
            lambda mutant: run_mutant(mutant, Path(directory, mutant.name), all_scenarios=options.all), mutants
        )
        for mutant, column in zip(mutants, results, strict=True):
            verdicts[mutant.name] = column
            PROOF.write_text(proof_page.write(MUTANTS, verdicts))  # after each mutant: an interruption loses nothing
            missed = [
                f"{one} {column.get(one, 'not run')}" for one in mutant.aims if column.get(one) != proof_page.FAILED
            ]
            failed = sum(verdict == proof_page.FAILED for verdict in column.values())
            print(f"{mutant.name}: {failed} failed{'; not failed: ' if missed else ''}{', '.join(missed)}", flush=True)
    alive = proof_page.survivors(MUTANTS, verdicts)
    print(f"survivors: {' '.join(alive) or 'none'}; written to {PROOF.relative_to(PROOF.parents[1])}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
