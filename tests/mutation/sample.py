"""The tenth of the mutants that `make test` runs, chosen by the commit: over time every mutant has its turn.

python -m tests.mutation.sample    prints the names
"""

from __future__ import annotations

import hashlib
import math
import subprocess
from pathlib import Path

from tests.mutation.mutants import MUTANTS, Mutant

_OUTSIDE_GIT = "a fixed seed"


def commit() -> str:
    """The hash of the checked-out commit, or a fixed seed where there is no repository."""
    found = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or _OUTSIDE_GIT


def sample(seed: str) -> list[Mutant]:
    """A tenth of all mutants; the same seed always gives the same ones."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    return sorted(MUTANTS, key=rank)[: math.ceil(len(MUTANTS) / 10)]


if __name__ == "__main__":
    chosen = commit()
    print(f"Mutants chosen by {chosen[:12]}: {', '.join(one.name for one in sample(chosen))}")
