"""The proof of red itself: nothing that is judged is left without a mutant, and every mutant is really broken."""

from __future__ import annotations

import pytest

from muster.catalogue import read_features
from muster.subject.reference import Reference
from muster.suite import suite_root
from tests.broken import FAULTS, Patch, page
from tests.broken.mutants import MUTANTS, REFERENCE, Mutant

# Claimed, and yet not judged anywhere: the reference has no word for it, or the cluster cannot stage it.
NOT_JUDGED = {"QUE-06", "QUE-15", "QUE-16", "TNT-13"}


def test_every_scenario_is_aimed_at() -> None:
    claims = Reference.claims("default").keys()
    behaviours = read_features(suite_root() / "features").behaviours
    own = [one for one in behaviours if not one.variants]  # a variant is a document over again, with other tools
    claimed = {one.id for one in own if set(one.capabilities) <= claims}
    assert {one for mutant in MUTANTS for one in mutant.aims} == claimed - NOT_JUDGED


def test_mutants_have_names_of_their_own() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)
    assert {mutant.kind for mutant in MUTANTS} & set(names) == set()
    assert all(mutant.what.endswith(".") and "\n" not in mutant.what for mutant in MUTANTS)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_can_be_put_in(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name].breaks(Patch(monkeypatch.setattr))


def test_a_patch_that_hits_nothing_is_told() -> None:
    with pytest.raises(LookupError, match="str has no shout"):
        Patch().attribute(str, "shout", None)
    with pytest.raises(LookupError, match="does not use"):
        Patch().function(test_a_patch_that_hits_nothing_is_told, print)


def test_a_patch_that_cannot_be_called_is_told() -> None:
    with pytest.raises(TypeError, match="too many positional arguments"):
        Patch().attribute(Patch, "function", lambda: None)


def test_the_page_can_be_read_back() -> None:
    mutants = [Mutant("deaf", "It hears nothing.", ("PRE-01", "PRE-02"), REFERENCE), Mutant("dumb", "", (), REFERENCE)]
    verdicts = {"deaf": {"PRE-01": "failed", "PRE-02": "passed"}, "dumb": {"PRE-01": "failed"}}
    text = page.write(mutants, verdicts)
    assert "| PRE-01 | deaf, dumb | - |" in text
    assert "| PRE-02 | **nothing** | deaf (passed) |" in text
    assert page.read(text) == verdicts


def test_a_scenario_survives_that_nothing_turns_red() -> None:
    mutants = [Mutant("deaf", "", ("PRE-01", "PRE-02"), REFERENCE)]
    assert page.survivors(mutants, {"deaf": {"PRE-01": "failed", "PRE-02": "error"}}) == ["PRE-02"]
    assert page.survivors(mutants, {}) == ["PRE-01", "PRE-02"]
