"""What counts as a kill, on made-up results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from muster.report.results import Result, StepResult
from muster.report.scenario_result import with_first_line
from muster.verdicts import Verdict
from tests.mutation import proof as proof_module
from tests.mutation import proof_page
from tests.mutation.aims import AT_THE_END, Aim, Effect, Outcome, aims_of
from tests.mutation.mutants import REFERENCE, Mutant
from tests.mutation.mutation_test import baseline
from tests.mutation.outcomes import outcomes
from tests.mutation.proof import Control, Proof, claimed_behaviours, not_passed, position_of, survivors, then_coverage

RUNS, COUNT = '"urgent" runs', 'exactly one of "left", "right" was preempted for "urgent"'


def result(*statuses: str, verdict: Verdict = Verdict.FAILED, message: str = "wanted   it\nseen     that") -> Result:
    steps = [
        StepResult(keyword, text, status, 0.1)
        for keyword, text, status in zip(("Then", "And"), (RUNS, COUNT), statuses, strict=False)
    ]
    return Result("PRE-01", "must", ["preemption"], "", verdict, message=message, steps=steps)


def test_the_failing_step_and_what_was_seen_are_kept() -> None:
    found = outcomes([result("passed", "failed")])
    assert found == {"PRE-01": [Outcome("failed", COUNT, seen="that")]}


def test_a_step_that_comes_again_is_counted() -> None:
    steps = [*result("passed", "passed").steps, StepResult("And", RUNS, "failed", 0.1)]
    found = outcomes([msgspec.structs.replace(result(), steps=steps)])["PRE-01"][0]
    assert (found.step, found.occurrence) == (RUNS, 2)


def test_time_limits_and_commit_are_kept() -> None:
    found = outcomes([result("passed", "failed"), result(verdict=Verdict.PASSED)], "0.3", "1234567890+")["PRE-01"]
    assert [(one.scale, one.commit) for one in found] == [("0.3", "1234567890+")] * 2


def test_a_failure_after_the_last_step_is_at_the_end() -> None:
    assert outcomes([result("passed", "passed")])["PRE-01"][0].step == AT_THE_END


def test_a_finding_that_no_longer_holds_belongs_to_the_thens_before() -> None:
    late = result("passed", "passed", message="wanted   it\nseen     this was so, and is no longer: left is gone")
    steps = [*late.steps, StepResult("When", "something changes", "failed", 0.1)]
    assert outcomes([msgspec.structs.replace(late, steps=steps)])["PRE-01"][0].no_longer == [COUNT, RUNS]
    assert outcomes([late])["PRE-01"][0].no_longer == [COUNT, RUNS]


def test_a_violated_invariant_is_told_apart_from_the_statement_of_the_step() -> None:
    violated = result("failed", message="wanted   the invariants hold at every moment\nseen     left is bound")
    assert outcomes([violated])["PRE-01"] == [Outcome("failed", RUNS, seen="left is bound", invariant=True)]


def test_what_was_not_tested_has_no_outcome() -> None:
    assert outcomes([result(verdict=Verdict.NOT_SUPPORTED), result(verdict=Verdict.NOT_STAGED)]) == {}


@pytest.mark.parametrize(
    ("aim", "outcome", "effect"),
    [
        ("PRE-01: exactly one of", Outcome("failed", COUNT), Effect.KILLED),
        ("PRE-01: at the end", Outcome("failed", AT_THE_END), Effect.KILLED),
        ("PRE-01: exactly one of", Outcome("failed", RUNS), Effect.ELSEWHERE),
        (Aim("PRE-01", RUNS, seen="left"), Outcome("failed", RUNS, seen="right is bound"), Effect.ELSEWHERE),
        (f"PRE-01: {RUNS}", Outcome("failed", RUNS, seen="left is bound", invariant=True), Effect.ELSEWHERE),
        (
            Aim("PRE-01", RUNS, seen="left"),
            Outcome("failed", RUNS, seen="left is bound", invariant=True),
            Effect.KILLED,
        ),
        (f"PRE-01: {RUNS}", Outcome("failed", "a When", no_longer=[COUNT, RUNS]), Effect.KILLED),
        (Aim("PRE-01", COUNT, also=(RUNS,)), Outcome("failed", RUNS), Effect.KILLED),
        ("PRE-01", Outcome("failed", RUNS), Effect.UNDECLARED),
        ("PRE-01: exactly one of", Outcome("error", COUNT), Effect.MISSED),
        ("PRE-01", Outcome("passed"), Effect.MISSED),
        ("PRE-01", None, Effect.MISSED),
    ],
)
def test_a_kill_is_the_failure_of_the_step_that_was_aimed_at(
    aim: str | Aim, outcome: Outcome | None, effect: Effect
) -> None:
    assert aims_of(aim)[0].effect(outcome) is effect


def test_one_row_of_an_outline_is_enough() -> None:
    mutant = Mutant("first", "", aims_of("PRE-01: exactly one of"), REFERENCE)
    rows = [Outcome("passed"), Outcome("failed", RUNS), Outcome("failed", COUNT)]
    assert proof_of(mutant, rows).effects(mutant) == {mutant.aims[0]: Effect.KILLED}


def test_a_scenario_that_fails_elsewhere_survives() -> None:
    mutant = Mutant("first", "", aims_of("PRE-01: exactly one of"), REFERENCE)
    assert survivors([mutant], proof_of(mutant, [Outcome("failed", RUNS)])) == ["PRE-01"]
    assert survivors([mutant], proof_of(mutant, [Outcome("failed", COUNT)])) == []
    assert survivors([mutant], Proof()) == ["PRE-01"]


def test_the_baseline_runs_what_the_mutants_run() -> None:
    mutants = [
        Mutant("first", "", aims_of("PRE-01", "PRE-02"), REFERENCE),
        Mutant("second", "", aims_of("PRE-02: no pod", "JOB-01"), "operator"),
        Mutant("third", "", aims_of("TNT-01"), "kube-scheduler", "some.yaml"),
    ]
    assert baseline(REFERENCE, mutants).ids == ("PRE-01", "PRE-02", "JOB-01")
    assert baseline("kube-scheduler", mutants).ids == ("TNT-01",)
    assert baseline("kube-scheduler", mutants).scheduler == "kube-scheduler"


def test_an_error_on_the_baseline_counts_as_not_passed() -> None:
    found = {"PRE-01": [Outcome("passed"), Outcome("error", RUNS, seen="no node")], "PRE-02": [Outcome("passed")]}
    assert not_passed(found) == [f"PRE-01 error at {RUNS!r}: no node"]


def test_a_then_counts_as_killed_only_where_the_mutant_is_aimed_at_it() -> None:
    steps = [one for one in then_coverage([], Proof()) if one.id == "PRE-01"]
    first, second = steps[0], steps[1]
    aimed = Mutant("aimed", "", aims_of(f"PRE-01: {second.text}"), REFERENCE)
    general = Mutant("crude", "", aims_of("PRE-01"), REFERENCE, general=True)
    proof = proof_of(aimed, [Outcome("failed", second.text)])
    proof.mutants["crude"] = {"PRE-01": [Outcome("failed", first.text)]}
    found = {one.position: one for one in then_coverage([aimed, general], proof) if one.id == "PRE-01"}
    assert (found[second.position].killed_by, found[second.position].general) == (["aimed"], [])
    assert (found[first.position].killed_by, found[first.position].general) == ([], ["crude"])


def test_the_row_of_an_outline_that_was_aimed_at_counts_although_another_failed_there_too() -> None:
    step = next(one for one in then_coverage([], Proof()) if one.id == "JOB-04" and "<" in one.text)
    aimed, other = 'job "train" consists of "train-master-0"', 'job "train" has no pods left'
    mutant = Mutant("kept", "", aims_of(f"JOB-04: {aimed}"), REFERENCE)
    rows = [Outcome("failed", text) for text in (aimed, other)]
    found = then_coverage([mutant], Proof(mutants={"kept": {"JOB-04": rows}}))
    assert [one.position for one in found if one.killed_by] == [step.position]


def test_a_step_that_was_reworded_since_is_not_killed() -> None:
    mutant = Mutant("first", "", aims_of("PRE-01: an older"), REFERENCE)
    proof = proof_of(mutant, [Outcome("failed", "an older wording")])
    assert not any(one.killed_by for one in then_coverage([mutant], proof))


def test_the_page_shows_step_and_what_was_seen() -> None:
    mutant = Mutant("first", "A fault.", aims_of("PRE-01: exactly one of", "PRE-02: no pod"), REFERENCE)
    page = proof_page.write([mutant], [], proof_of(mutant, [Outcome("failed", COUNT, seen="a | b")]))
    assert f"| PRE-01 | first | {COUNT} | a \\| b | not known |" in page
    assert "| first | PRE-02 | not run | - |" in page
    assert "| scenarios that survive | PRE-02 |" in page


def test_a_step_is_found_by_its_text_wherever_it_is_now() -> None:
    behaviour = next(one for one in claimed_behaviours() if one.id == "GNG-13")
    text = '"peer-0" stays pending'
    same = [number for number, step in enumerate(behaviour.steps) if step.text == text]
    assert [position_of(Outcome("failed", text, number), behaviour) for number in (1, 2)] == same
    shorter = replace(behaviour, steps=behaviour.steps[1:])
    assert [position_of(Outcome("failed", text, number), shorter) for number in (1, 2)] == [one - 1 for one in same]
    assert position_of(Outcome("failed", text, 3), behaviour) is None


def test_a_step_with_a_doc_string_is_found_by_its_first_line() -> None:
    behaviour = next(one for one in claimed_behaviours() if one.id == "DOC-1")
    number = next(number for number, step in enumerate(behaviour.steps) if step.text_block and step.text.endswith(":"))
    text = with_first_line(behaviour.steps[number].text, behaviour.steps[number].text_block)
    assert position_of(Outcome("failed", text), behaviour) == number


@pytest.mark.parametrize(
    ("scale", "controls", "expected"),
    [
        ("0.3", [Outcome("passed", scale="0.3"), Outcome("passed", scale="1")], Control.SAME),
        ("1", [Outcome("passed", scale="0.3")], Control.SHORTER),
        ("0.3", [Outcome("passed", scale="1")], Control.NONE),
        ("0.3", [Outcome("passed", scale="0.3"), Outcome("failed", RUNS, scale="0.3")], Control.NONE),
        ("0.3", [Outcome("passed")], Control.NONE),
        ("0.3", [], Control.NONE),
        ("", [Outcome("passed", scale="0.3")], Control.UNKNOWN),
    ],
)
def test_a_kill_has_a_control_with_the_same_or_shorter_limits(
    scale: str, controls: list[Outcome], expected: Control
) -> None:
    mutant = Mutant("first", "", aims_of(f"PRE-01: {RUNS}"), REFERENCE)
    proof = proof_of(mutant, [Outcome("failed", RUNS, scale=scale)])
    proof.baseline[REFERENCE] = {"PRE-01": controls}
    assert proof.control(mutant, mutant.aims[0]) is expected
    figures = proof_page.write([mutant], [], proof).splitlines()
    assert any(line.startswith("| kills,") and f"1 {expected}" in line for line in figures)


def test_a_baseline_replaces_the_one_at_its_scale_and_what_is_not_known() -> None:
    proof = Proof(baseline={REFERENCE: {"PRE-01": [Outcome("passed"), Outcome("error", scale="0.3")]}})
    proof.keep_baseline(REFERENCE, {"PRE-01": [Outcome("passed", scale="1")]})
    assert proof.baseline[REFERENCE]["PRE-01"] == [Outcome("error", scale="0.3"), Outcome("passed", scale="1")]
    proof.keep_baseline(REFERENCE, {"PRE-01": [Outcome("passed", scale="0.3")]})
    assert {one.scale: one.verdict for one in proof.baseline[REFERENCE]["PRE-01"]} == {"0.3": "passed", "1": "passed"}


def test_what_is_saved_is_read_and_has_a_line_per_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "proof.json"
    monkeypatch.setattr(proof_module, "FILE", file)
    rows = [Outcome("failed", RUNS, 2, seen="é"), Outcome("passed", scale="1")]
    proof = Proof(mutants={"first": {"PRE-01": rows, "PRE-02": rows[:1]}, "second": {}}, variants={"slow": {}})
    proof.save()
    assert Proof.read() == proof
    assert sum("verdict" in line for line in file.read_text(encoding="utf-8").splitlines()) == 3


def proof_of(mutant: Mutant, rows: list[Outcome]) -> Proof:
    return Proof(mutants={mutant.name: {"PRE-01": rows}})
