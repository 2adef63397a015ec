"""A tenth of the mutants, chosen by the commit, each killed by one scenario: proof that the proof still works.

`make mutation-test` runs all mutants on all of their scenarios. Here each has one, the first that it is known to kill,
and those that can share one control plane do. `python -m tests.mutation.sample` prints the names.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutation.aims import Effect
from tests.mutation.mutants import Mutant
from tests.mutation.mutation_test import baseline
from tests.mutation.proof import Proof, not_passed
from tests.mutation.runs import run_on_own_plane, run_on_shared_plane
from tests.mutation.sample import commit, sample

pytestmark = pytest.mark.plane


def _with_one_aim(mutant: Mutant, known: Proof) -> Mutant:
    effects = known.effects(mutant)
    killing = [aim for aim in mutant.aims if effects[aim] is Effect.KILLED] or list(mutant.aims)
    return replace(mutant, aims=tuple(killing[:1]))


SAMPLE = [_with_one_aim(one, Proof.read()) for one in sample(commit())]
_OWN_PLANE = [one for one in SAMPLE if one.needs_own_plane]
_SHARED_PLANE = [one for one in SAMPLE if not one.needs_own_plane]


@pytest.mark.parametrize("half", [0, 1])  # one for each of two workers
def test_a_tenth_of_the_mutants_is_killed(half: int, tmp_path: Path) -> None:
    mutants = _SHARED_PLANE[half::2]
    control = baseline("reference", mutants)
    found = run_on_shared_plane([control, *mutants], tmp_path / "run")
    assert not_passed(found.pop(control.name)) == [], "without a fault it is red, too: this proves nothing"
    proof = Proof(mutants=found)
    alive = {one.name: proof.outcome(one, one.aims[0]) for one in mutants if not _killed(one, proof)}
    assert alive == {}, f"the sample of commit {commit()}"


@pytest.mark.parametrize("mutant", _OWN_PLANE, ids=lambda mutant: mutant.name)
def test_a_mutant_with_its_own_control_plane_is_killed(mutant: Mutant, tmp_path: Path) -> None:
    control = baseline(mutant.scheduler.partition(":")[0], [mutant])
    assert not_passed(run_on_own_plane(control, tmp_path / "control")) == [], "without a fault it is red, too"
    proof = Proof(mutants={mutant.name: run_on_own_plane(mutant, tmp_path / "run")})
    assert _killed(mutant, proof), proof.outcome(mutant, mutant.aims[0])


def _killed(mutant: Mutant, proof: Proof) -> bool:
    return set(proof.effects(mutant).values()) <= {Effect.KILLED, Effect.UNDECLARED}
