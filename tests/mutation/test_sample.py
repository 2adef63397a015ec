"""A tenth of the mutants, chosen by the commit, each killed by one scenario: proof that the proof still works.

`make mutation-test` runs all mutants on all of their scenarios.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.mutation import sample_runs
from tests.mutation.aims import Outcome, aims_of
from tests.mutation.mutants import MUTANTS, REFERENCE, Mutant
from tests.mutation.outcomes import Outcomes
from tests.mutation.proof import Proof
from tests.mutation.sample import chosen_seed, duration, on_planes, sample
from tests.mutation.sample_runs import SCALES, not_proven


@pytest.mark.plane
@pytest.mark.parametrize("half", [0, 1])  # one for each of two workers
def test_a_tenth_of_the_mutants_is_killed(half: int, tmp_path: Path) -> None:
    seed, known = chosen_seed(), Proof.read()
    parts = on_planes(sample(seed, known), known)[half::2]
    with ThreadPoolExecutor(len(parts)) as pool:
        found = pool.map(not_proven, parts, (tmp_path / str(number) for number in range(len(parts))))
    problems = [line for part in found for line in part]
    assert problems == [], f"repeat with MUSTER_SAMPLE={seed}"


def test_a_tenth_is_chosen_by_the_commit() -> None:
    first, again, other = (sample(seed, Proof()) for seed in ("a commit", "a commit", "another commit"))
    assert first == again != other
    assert 10 * (len(first) - 1) < len(MUTANTS) <= 10 * len(first)
    assert not any(one.needs_own_plane for one in first)


def test_another_sample_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_SAMPLE", "a commit")
    assert chosen_seed() == "a commit"


def test_each_mutant_has_the_quickest_scenario_that_it_fails() -> None:
    mutant = next(one for one in MUTANTS if one.name == "never-preempts")
    rows = {aim.id: [Outcome("failed", aim.step, seconds=9.0)] for aim in mutant.aims}
    rows[mutant.ids[1]] = [Outcome("failed", mutant.aims[1].step, seconds=3.0)]
    sound = {id_: [Outcome("passed", seconds=1.0)] for id_ in rows}
    known = Proof(mutants={mutant.name: rows}, baseline={REFERENCE: sound})
    seeds = (seed for seed in map(str, range(99)) if mutant.name in {one.name for one in sample(seed, Proof())})
    chosen = next(one for one in sample(next(seeds), known) if one.name == mutant.name)
    assert chosen.aims == (mutant.aims[1],)


def test_mutants_with_the_same_scenario_share_a_plane_and_its_control() -> None:
    mutants = [Mutant(str(number), "", aims_of(id_), REFERENCE) for number, id_ in enumerate(("A", "B", "A", "C"))]
    ran = {id_: [Outcome("failed", seconds=2.0), Outcome("failed", seconds=9.0, scale="1")] for id_ in "ABC"}
    sound = {id_: [Outcome("passed", seconds=2.0, scale="0.3"), Outcome("passed", scale="1")] for id_ in "ABC"}
    known = Proof(mutants={one.name: ran for one in mutants}, baseline={REFERENCE: sound})
    parts = on_planes(mutants, known)
    assert sorted([one.ids[0] for one in part] for part in parts) == [[], ["A", "A"], ["B"], ["C"]]
    assert duration([mutants[0], mutants[2]], known) == 9.0 + 2.0 + 9.0


@pytest.mark.parametrize(
    ("answers", "runs", "problem"),
    [
        ({"0.3": ("passed", "failed")}, ["0.3"], ""),
        ({"0.3": ("failed", "failed"), "3": ("passed", "failed")}, ["0.3", "3"], ""),
        ({"0.3": ("passed", "passed"), "3": ("passed", "passed")}, ["0.3", "3"], "not failed"),
        ({"0.3": ("error", "failed"), "3": ("failed", "failed")}, ["0.3", "3"], "without the fault"),
    ],
)
def test_what_is_not_proven_is_run_again_with_longer_limits(
    answers: dict[str, tuple[str, str]], runs: list[str], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def run(mutants: list[Mutant], _: Path, scale: str) -> dict[str, Outcomes]:
        seen.append(scale)
        return {one.name: {"PRE-01": [Outcome(verdict)]} for one, verdict in zip(mutants, answers[scale], strict=True)}

    monkeypatch.delenv("MUSTER_TIMEOUT_SCALE", raising=False)
    monkeypatch.setattr(sample_runs, "run_on_shared_plane", run)
    mutant = Mutant("first", "", aims_of("PRE-01"), REFERENCE)
    problems = "".join(not_proven([mutant], tmp_path))
    assert problem in problems
    assert bool(problem) == bool(problems)
    assert seen == runs == list(SCALES[: len(runs)])
