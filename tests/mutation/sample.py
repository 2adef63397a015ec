"""A tenth of the mutants, chosen by the commit: over time every mutant that can share a control plane has its turn.

    python -m tests.mutation.sample [SEED]    prints the names

`make test` runs them (tests/mutation/test_sample.py), on four control planes, since most of the time is waiting. Each
mutant has one scenario there: one that it fails quickly, or that another mutant of the sample has as well, since the
two then share their control. A mutant that needs a control plane of its own runs in `make mutation-test` only.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from tests.mutation.aims import Aim, Effect
from tests.mutation.checkout import commit
from tests.mutation.mutants import MUTANTS, Mutant
from tests.mutation.outcomes import Outcomes
from tests.mutation.proof import Proof, component

SHARING = tuple(one for one in MUTANTS if not one.needs_own_plane)
SIZE = math.ceil(len(MUTANTS) / 10)
PLANES = 4
_OUTSIDE_GIT = "a fixed seed"
_UNKNOWN = 15.0  # seconds: a scenario that was not run since durations are kept


def chosen_seed() -> str:
    """The commit, or MUSTER_SAMPLE to repeat the sample of another one."""
    return os.environ.get("MUSTER_SAMPLE") or commit() or _OUTSIDE_GIT


def sample(seed: str, known: Proof) -> list[Mutant]:
    """A tenth of all mutants, each with one aim; the same seed always gives the same ones."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    return _with_quickest_aims(sorted(SHARING, key=rank)[:SIZE], known)


def _with_quickest_aims(mutants: Iterable[Mutant], known: Proof) -> list[Mutant]:
    """Those with the fewest aims choose first: the others may join their scenarios."""
    found: list[Mutant] = []
    ids: set[str] = set()
    for mutant in sorted(mutants, key=lambda one: len(one.ids)):
        effects = known.effects(mutant)
        killing = [aim for aim in mutant.aims if effects[aim] is Effect.KILLED] or mutant.aims
        aim = min(killing, key=lambda one: _mutant_takes(mutant, one, known) + _control_takes(mutant, one, known, ids))
        ids.add(aim.id)
        found.append(replace(mutant, aims=(aim,)))
    return found


def on_planes(mutants: Iterable[Mutant], known: Proof) -> list[list[Mutant]]:
    """A part for each control plane, of about the same duration; mutants with the same scenario are in one part.

    Operator mutants come last in each, so that the scheduler is started anew as rarely as possible.
    """
    same: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        same.setdefault(mutant.ids[0], []).append(mutant)
    parts: list[list[Mutant]] = [[] for _ in range(PLANES)]
    for group in sorted(same.values(), key=lambda group: -duration(group, known)):
        min(parts, key=lambda part: duration(part, known)).extend(group)
    return [sorted(part, key=lambda one: "MUSTER_REFERENCE" not in one.environment) for part in parts]


def duration(mutants: Sequence[Mutant], known: Proof) -> float:
    """Seconds that their scenarios and the controls took when they ran last."""
    ids: set[str] = set()
    total = 0.0
    for mutant in mutants:
        (aim,) = mutant.aims
        total += _mutant_takes(mutant, aim, known) + _control_takes(mutant, aim, known, ids)
        ids.add(aim.id)
    return total


def _mutant_takes(mutant: Mutant, aim: Aim, known: Proof) -> float:
    return _seconds(known.mutants.get(mutant.name, {}), aim.id)


def _control_takes(mutant: Mutant, aim: Aim, known: Proof, shared: set[str]) -> float:
    return 0.0 if aim.id in shared else _seconds(known.baseline.get(component(mutant), {}), aim.id)


def _seconds(outcomes: Outcomes, id_: str) -> float:
    """Of all rows of an outline, at the shortest time scale that they ran with."""
    rows = outcomes.get(id_, [])
    shortest = min((one.scale for one in rows if one.scale), key=float, default="")
    same = [one.seconds for one in rows if one.scale == shortest]
    return sum(same) if same and all(same) else _UNKNOWN


if __name__ == "__main__":
    seed = sys.argv[1] if sys.argv[1:] else chosen_seed()
    tenth = sample(seed, Proof.read())
    print(f"{len(tenth)} of {len(MUTANTS)} mutants, chosen by {seed[:12]} (repeat: MUSTER_SAMPLE={seed}):")
    print("  " + "\n  ".join(sorted(f"{one.name} on {one.ids[0]}" for one in tenth)))
    alone = [one.name for one in MUTANTS if one.needs_own_plane]
    print(f"never chosen, for they need a control plane of their own (make mutation-test): {', '.join(alone)}")
