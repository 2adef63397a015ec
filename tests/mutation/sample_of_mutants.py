"""A tenth of the mutants, chosen by the commit, each killed by one scenario: proof that the proof still works.

`make mutation-test` runs all mutants on all of their scenarios. Here each has one, and those that can share one control
plane do. `python -m tests.mutation.sample` prints the names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.mutation_test import baseline
from tests.mutation.proof import Proof, not_passed
from tests.mutation.runs import run_on_own_plane
from tests.mutation.sample import commit, sample
from tests.mutation.sample_runs import check_that_each_is_killed, is_killed

pytestmark = pytest.mark.plane

SAMPLE = sample(commit(), Proof.read())
_OWN_PLANE = [one for one in SAMPLE if one.needs_own_plane]
_SHARED_PLANE = [one for one in SAMPLE if not one.needs_own_plane]


@pytest.mark.parametrize("half", [0, 1])  # one for each of two workers
def test_a_tenth_of_the_mutants_is_killed(half: int, tmp_path: Path) -> None:
    check_that_each_is_killed(_SHARED_PLANE[half::2], tmp_path / "run", commit())


@pytest.mark.parametrize("mutant", _OWN_PLANE, ids=lambda mutant: mutant.name)
def test_a_mutant_with_its_own_control_plane_is_killed(mutant: Mutant, tmp_path: Path) -> None:
    control = baseline(mutant.scheduler.partition(":")[0], [mutant])
    assert not_passed(run_on_own_plane(control, tmp_path / "control")) == [], "without a fault it is red, too"
    proof = Proof(mutants={mutant.name: run_on_own_plane(mutant, tmp_path / "run")})
    assert is_killed(mutant, proof), proof.outcome(mutant, mutant.aims[0])
