"""A tenth of the mutants, chosen by the commit: over time every mutant has its turn.

    python -m tests.mutation.sample    prints the names

`make mutation-sample` runs them. Each mutant has one scenario there: the quickest that it is known to fail.
"""

from __future__ import annotations

import hashlib
import math
import subprocess
from dataclasses import replace
from pathlib import Path

from tests.mutation.aims import Effect
from tests.mutation.mutants import MUTANTS, Mutant
from tests.mutation.proof import Proof

_OUTSIDE_GIT = "a fixed seed"
_RESTART = 2.0  # seconds: a scheduler and an operator are started for each mutant
_UNKNOWN = 15.0  # seconds: a mutant that was not run since durations are kept


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


def sample(seed: str, known: Proof) -> list[Mutant]:
    """A tenth of all mutants, each with one aim; the same seed always gives the same ones."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    chosen = sorted(MUTANTS, key=rank)[: math.ceil(len(MUTANTS) / 10)]
    return [_with_quickest_aim(one, known) for one in chosen]


def _with_quickest_aim(mutant: Mutant, known: Proof) -> Mutant:
    effects = known.effects(mutant)
    killing = [aim for aim in mutant.aims if effects[aim] is Effect.KILLED] or list(mutant.aims)
    alone = [replace(mutant, aims=(aim,)) for aim in killing]
    return min(alone, key=lambda one: _seconds(one, known))


def _seconds(mutant: Mutant, known: Proof) -> float:
    """With its only scenario: on the mutant, and on the component without a fault."""
    (aim,) = mutant.aims
    faulty = known.mutants.get(mutant.name, {}).get(aim.id, [])
    sound = known.baseline.get(mutant.scheduler.partition(":")[0], {}).get(aim.id, [])
    taken = [one.seconds for one in (*faulty, *sound)]
    return _RESTART + (sum(taken) if faulty and sound and all(taken) else _UNKNOWN)


if __name__ == "__main__":
    proof, seed = Proof.read(), commit()
    tenth = sample(seed, proof)
    print(f"Mutants chosen by {seed[:12]}: {', '.join(one.name for one in tenth)}")
