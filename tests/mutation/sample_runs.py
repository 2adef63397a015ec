"""Runs a few mutants on one control plane, with the component without a fault as the control.

Limits are guards. With short ones a mutant that never does what is awaited is quick, but on a busy machine a control
may not pass, or a mutant may fail at its set-up. What is not proven so is run again, with its control, with long ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.mutation.aims import Effect
from tests.mutation.mutants import REFERENCE, Mutant
from tests.mutation.mutation_test import baseline
from tests.mutation.proof import Proof, not_passed
from tests.mutation.runs import run_on_shared_plane, time_scale

SCALES = ("0.3", "3")


def not_proven(mutants: Sequence[Mutant], directory: Path) -> list[str]:
    """The mutants that are not killed with any limits, with the reasons."""
    left, said = list(mutants), list[str]()
    for number, scale in enumerate(map(time_scale, SCALES)):
        reasons = _not_proven_at(scale, left, directory / str(number)) if left else {}
        said += [f"{name} (time limits × {scale}): {why}" for name, why in reasons.items()]
        left = [one for one in left if one.name in reasons]
    print("\n".join(said))
    return said if left else []


def _not_proven_at(scale: str, mutants: Sequence[Mutant], directory: Path) -> dict[str, str]:
    """The mutants that were not killed, or whose scenario does not pass without the fault either."""
    control = baseline(REFERENCE, mutants)
    found = run_on_shared_plane([control, *mutants], directory, scale)
    proof = Proof(baseline={REFERENCE: found.pop(control.name)}, mutants=found)
    return {one.name: why for one in mutants if (why := _problem(one, proof))}


def _problem(mutant: Mutant, proof: Proof) -> str:
    (aim,) = mutant.aims
    control = proof.baseline[REFERENCE].get(aim.id, [])
    if red := not_passed({aim.id: control}):
        return f"without the fault: {red[0]}"
    if not control:
        return f"without the fault {aim.id} was not run"
    effect = proof.effects(mutant)[aim]
    return "" if effect in (Effect.KILLED, Effect.UNDECLARED) else f"{effect}: {proof.outcome(mutant, aim)}"
