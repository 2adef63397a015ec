"""The mutants themselves: every tested scenario has one, every aim is at a step, and every fault can be applied."""

from __future__ import annotations

import pytest

from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root
from tests.mutation.aims import AT_THE_END
from tests.mutation.faults import FAULTS, GENERAL_FAULTS, VARIATIONS, Patch
from tests.mutation.injected_mutants import INJECTED_MUTANTS, injection_of, is_reached
from tests.mutation.mutants import MUTANTS, Mutant
from tests.mutation.mutation_test import ALL_MUTANTS
from tests.mutation.proof import claimed_behaviours
from tests.mutation.variants import VARIANTS, Variant


def test_every_scenario_is_the_target_of_a_mutant() -> None:
    assert {id_ for mutant in MUTANTS for id_ in mutant.ids} == {one.id for one in claimed_behaviours()}


def test_every_then_of_a_must_is_the_target_of_a_mutant() -> None:
    aims = {(aim.id, aim.step) for mutant in ALL_MUTANTS for aim in mutant.aims}
    aimless = [
        f"{one.id}: {step.text}"
        for one in claimed_behaviours()
        for position, step in enumerate(one.steps if one.level == "must" else ())
        if step.type == "then" and not any(_is_about(step.text, one.id, *aim) for aim in aims)
    ]
    assert aimless == []


def _is_about(text: str, id_: str, aimed_id: str, aimed_step: str) -> bool:
    """A step of an outline counts by what comes before the first value of its rows."""
    begins = aimed_step and (text.startswith(aimed_step) or ("<" in text and aimed_step.startswith(text.split("<")[0])))
    return id_ == aimed_id and bool(begins)


@pytest.mark.parametrize("mutant", ALL_MUTANTS, ids=lambda mutant: mutant.name)
def test_every_declared_step_exists(mutant: Mutant) -> None:
    behaviours = read_features(suite_root() / "features").by_id()
    for aim in mutant.aims:
        texts = [step.text for step in behaviours[aim.id].all_steps()]
        for begins in (aim.step, *aim.also):
            assert begins in ("", AT_THE_END) or any(text.startswith(begins) for text in texts), aim


def test_names_are_unique() -> None:
    everything: list[Mutant | Variant] = [*ALL_MUTANTS, *VARIANTS]
    names = [one.name for one in everything]
    assert len(set(names)) == len(names)
    assert {one.kind for one in everything} & set(names) == set()
    assert all(one.description.endswith(".") and "\n" not in one.description for one in everything)


def test_an_injection_comes_before_or_with_the_then_that_it_is_aimed_at() -> None:
    behaviours = {one.id: one for one in claimed_behaviours()}
    for mutant in INJECTED_MUTANTS:
        for aim in mutant.aims:
            positions = [number for number, step in enumerate(behaviours[aim.id].steps) if step.type == "then"]
            aimed = [number for number in positions if behaviours[aim.id].steps[number].text.startswith(aim.step)]
            assert mutant.injections[aim.id].position <= aimed[-1], aim


def test_a_then_that_repeats_an_earlier_one_is_not_reached_by_a_fault_from_the_beginning() -> None:
    behaviour = next(one for one in claimed_behaviours() if one.id == "GNG-13")
    same = [number for number, step in enumerate(behaviour.steps) if step.text == '"peer-0" stays pending']
    assert [is_reached(behaviour, number) for number in same] == [True, False]
    injection = injection_of(behaviour, same[1])
    assert injection is not None
    assert (injection.position, injection.write, injection.about) == (same[1], "pending-pods-are-bound", ("peer-0",))


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
