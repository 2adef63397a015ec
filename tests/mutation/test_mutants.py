"""The mutants themselves: every tested scenario has one, every aim is at a step, and every fault can be applied."""

from __future__ import annotations

import pytest

from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root
from tests.mutation.aims import AT_THE_END
from tests.mutation.faults import FAULTS, GENERAL_FAULTS, VARIATIONS, Patch
from tests.mutation.general_mutants import GENERAL_MUTANTS
from tests.mutation.mutants import MUTANTS, Mutant
from tests.mutation.proof import claimed_behaviours
from tests.mutation.sample import sample
from tests.mutation.variants import VARIANTS, Variant


def test_every_scenario_is_the_target_of_a_mutant() -> None:
    assert {id_ for mutant in MUTANTS for id_ in mutant.ids} == {one.id for one in claimed_behaviours()}


@pytest.mark.parametrize("mutant", [*MUTANTS, *GENERAL_MUTANTS], ids=lambda mutant: mutant.name)
def test_every_declared_step_exists(mutant: Mutant) -> None:
    behaviours = read_features(suite_root() / "features").by_id()
    for aim in mutant.aims:
        texts = [step.text for step in behaviours[aim.id].all_steps()]
        assert aim.step in ("", AT_THE_END) or any(text.startswith(aim.step) for text in texts), aim


def test_names_are_unique() -> None:
    everything: list[Mutant | Variant] = [*MUTANTS, *GENERAL_MUTANTS, *VARIANTS]
    names = [one.name for one in everything]
    assert len(set(names)) == len(names)
    assert {one.kind for one in everything} & set(names) == set()
    assert all(one.description.endswith(".") and "\n" not in one.description for one in everything)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_can_be_applied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name].breaks(Patch(monkeypatch.setattr))


@pytest.mark.parametrize("name", GENERAL_FAULTS)
def test_every_general_fault_can_be_applied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    GENERAL_FAULTS[name](Patch(monkeypatch.setattr), "urgent")


@pytest.mark.parametrize("name", VARIATIONS)
def test_every_variation_can_be_applied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    VARIATIONS[name](Patch(monkeypatch.setattr))


def test_a_patch_that_replaces_nothing_is_an_error() -> None:
    with pytest.raises(LookupError, match="str has no attribute shout"):
        Patch().attribute(str, "shout", None)
    with pytest.raises(LookupError, match="no module of the scheduler uses"):
        Patch().function(test_a_patch_that_replaces_nothing_is_an_error, print)


def test_a_patch_with_another_signature_is_an_error() -> None:
    with pytest.raises(TypeError, match="too many positional arguments"):
        Patch().attribute(Patch, "function", lambda: None)


def test_a_tenth_of_the_mutants_is_chosen_by_the_commit() -> None:
    first, again, other = sample("a commit"), sample("a commit"), sample("another commit")
    assert first == again != other
    assert 10 * (len(first) - 1) < len(MUTANTS) <= 10 * len(first)
