"""The mutants themselves: every tested scenario has one, and every fault can be applied."""

from __future__ import annotations

import pytest

from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.reference import Reference
from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root
from tests.mutation import proof_page
from tests.mutation.faults import FAULTS, Patch
from tests.mutation.mutants import MUTANTS, REFERENCE, Mutant
from tests.mutation.mutation_test import verdicts_by_id
from tests.support.suite_expectations import REFUSED

# Claimed, but without a mutant: refused by the reference's dialect, or about an admission plugin of the API server.
NOT_TESTED = {*REFUSED["reference"], "TNT-13"}


def test_every_scenario_is_the_target_of_a_mutant() -> None:
    claims = {*Reference.claims("default"), *KubeScheduler.claims("default")}
    behaviours = read_features(suite_root() / "features").behaviours
    own = [one for one in behaviours if not one.variants]  # a variant repeats a walk-through with other tools
    claimed = {one.id for one in own if set(one.capabilities) <= claims}
    assert {one for mutant in MUTANTS for one in mutant.aims} == claimed - NOT_TESTED


def test_mutant_names_are_unique() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)
    assert {mutant.kind for mutant in MUTANTS} & set(names) == set()
    assert all(mutant.description.endswith(".") and "\n" not in mutant.description for mutant in MUTANTS)


@pytest.mark.parametrize("name", FAULTS)
def test_every_fault_can_be_applied(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name].breaks(Patch(monkeypatch.setattr))


def test_a_patch_that_replaces_nothing_is_an_error() -> None:
    with pytest.raises(LookupError, match="str has no attribute shout"):
        Patch().attribute(str, "shout", None)
    with pytest.raises(LookupError, match="no module of the scheduler uses"):
        Patch().function(test_a_patch_that_replaces_nothing_is_an_error, print)


def test_a_patch_with_another_signature_is_an_error() -> None:
    with pytest.raises(TypeError, match="too many positional arguments"):
        Patch().attribute(Patch, "function", lambda: None)


def test_one_failed_row_of_an_outline_is_enough_and_a_broken_one_is_not_hidden() -> None:
    def rows(id_: str, *verdicts: str) -> list[dict[str, str]]:
        return [{"id": id_, "verdict": verdict} for verdict in verdicts]

    results = [*rows("JOB-03", "passed", "failed", "error", "passed"), *rows("JOB-04", "passed", "error", "passed")]
    results += [*rows("JOB-09", "passed", "not-supported"), *rows("JOB-06", "not-staged")]
    assert verdicts_by_id(results) == {"JOB-03": "failed", "JOB-04": "error", "JOB-09": "passed"}


def test_the_page_can_be_parsed_again() -> None:
    mutants = [Mutant("first", "A fault.", ("PRE-01", "PRE-02"), REFERENCE), Mutant("second", "", (), REFERENCE)]
    verdicts = {"first": {"PRE-01": "failed", "PRE-02": "passed"}, "second": {"PRE-01": "failed"}}
    text = proof_page.write(mutants, verdicts)
    assert "| PRE-01 | first, second | - |" in text
    assert "| PRE-02 | **none** | first (passed) |" in text
    assert proof_page.read(text) == verdicts


def test_a_scenario_that_fails_on_no_mutant_survives() -> None:
    mutants = [Mutant("first", "", ("PRE-01", "PRE-02"), REFERENCE)]
    assert proof_page.survivors(mutants, {"first": {"PRE-01": "failed", "PRE-02": "error"}}) == ["PRE-02"]
    assert proof_page.survivors(mutants, {}) == ["PRE-01", "PRE-02"]
