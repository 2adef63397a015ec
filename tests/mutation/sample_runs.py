"""Runs a few mutants on one control plane, with the component without a fault as the control."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.mutation.aims import Effect
from tests.mutation.mutants import REFERENCE, Mutant
from tests.mutation.mutation_test import baseline
from tests.mutation.proof import Proof, not_passed
from tests.mutation.runs import run_on_shared_plane


def check_that_each_is_killed(mutants: Sequence[Mutant], directory: Path, seed: str) -> None:
    control = baseline(REFERENCE, mutants)
    found = run_on_shared_plane([control, *mutants], directory)
    assert not_passed(found.pop(control.name)) == [], "without a fault it is red, too: this proves nothing"
    proof = Proof(mutants=found)
    alive = {one.name: proof.outcome(one, one.aims[0]) for one in mutants if not is_killed(one, proof)}
    assert alive == {}, f"the sample of commit {seed}"


def is_killed(mutant: Mutant, proof: Proof) -> bool:
    return set(proof.effects(mutant).values()) <= {Effect.KILLED, Effect.UNDECLARED}
