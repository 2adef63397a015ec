"""What counts as a kill, on made-up results."""

from __future__ import annotations

import msgspec
import pytest

from muster.report.results import Result, StepResult
from muster.verdicts import Verdict
from tests.mutation import proof_page
from tests.mutation.aims import AT_THE_END, Aim, Effect, Outcome, aims_of
from tests.mutation.mutants import REFERENCE, Mutant
from tests.mutation.mutation_test import baseline, pooled_scale
from tests.mutation.proof import Proof, not_passed, survivors, then_coverage
from tests.mutation.runs import outcomes

RUNS, COUNT = '"urgent" runs', 'exactly one of "left", "right" was preempted for "urgent"'


def result(*statuses: str, verdict: Verdict = Verdict.FAILED, message: str = "wanted   it\nseen     that") -> Result:
    steps = [
        StepResult(keyword, text, status, 0.1)
        for keyword, text, status in zip(("Then", "And"), (RUNS, COUNT), statuses, strict=False)
    ]
    return Result("PRE-01", "must", ["preemption"], "", verdict, message=message, steps=steps)


def test_the_failing_step_and_what_was_seen_are_kept() -> None:
    found = outcomes([result("passed", "failed")])
    assert found == {"PRE-01": [Outcome("failed", COUNT, 1, "that")]}


def test_a_failure_after_the_last_step_is_at_the_end() -> None:
    assert outcomes([result("passed", "passed")])["PRE-01"][0].step == AT_THE_END


def test_a_finding_that_no_longer_holds_belongs_to_the_thens_before() -> None:
    late = result("passed", "passed", message="wanted   it\nseen     this was so, and is no longer: left is gone")
    steps = [*late.steps, StepResult("When", "something changes", "failed", 0.1)]
    assert outcomes([msgspec.structs.replace(late, steps=steps)])["PRE-01"][0].no_longer == [COUNT, RUNS]
    assert outcomes([late])["PRE-01"][0].no_longer == [COUNT, RUNS]


def test_a_violated_invariant_is_told_apart_from_the_statement_of_the_step() -> None:
    violated = result("failed", message="wanted   the invariants hold at every moment\nseen     left is bound")
    assert outcomes([violated])["PRE-01"] == [Outcome("failed", RUNS, 0, "left is bound", invariant=True)]


def test_what_was_not_tested_has_no_outcome() -> None:
    assert outcomes([result(verdict=Verdict.NOT_SUPPORTED), result(verdict=Verdict.NOT_STAGED)]) == {}


@pytest.mark.parametrize(
    ("aim", "outcome", "effect"),
    [
        ("PRE-01: exactly one of", Outcome("failed", COUNT, 1), Effect.KILLED),
        ("PRE-01: at the end", Outcome("failed", AT_THE_END, 2), Effect.KILLED),
        ("PRE-01: exactly one of", Outcome("failed", RUNS, 0), Effect.ELSEWHERE),
        (Aim("PRE-01", RUNS, seen="left"), Outcome("failed", RUNS, 0, "right is bound"), Effect.ELSEWHERE),
        (f"PRE-01: {RUNS}", Outcome("failed", RUNS, 0, "left is bound", invariant=True), Effect.ELSEWHERE),
        (Aim("PRE-01", RUNS, seen="left"), Outcome("failed", RUNS, 0, "left is bound", invariant=True), Effect.KILLED),
        (f"PRE-01: {RUNS}", Outcome("failed", "a When", 2, no_longer=[COUNT, RUNS]), Effect.KILLED),
        ("PRE-01", Outcome("failed", RUNS, 0), Effect.UNDECLARED),
        ("PRE-01: exactly one of", Outcome("error", COUNT, 1), Effect.MISSED),
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
    rows = [Outcome("passed"), Outcome("failed", RUNS, 0), Outcome("failed", COUNT, 1)]
    assert proof_of(mutant, rows).effects(mutant) == {mutant.aims[0]: Effect.KILLED}


def test_a_scenario_that_fails_elsewhere_survives() -> None:
    mutant = Mutant("first", "", aims_of("PRE-01: exactly one of"), REFERENCE)
    assert survivors([mutant], proof_of(mutant, [Outcome("failed", RUNS, 0)])) == ["PRE-01"]
    assert survivors([mutant], proof_of(mutant, [Outcome("failed", COUNT, 1)])) == []
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
    found = {"PRE-01": [Outcome("passed"), Outcome("error", RUNS, 0, "no node")], "PRE-02": [Outcome("passed")]}
    assert not_passed(found) == [f"PRE-01 error at {RUNS!r}: no node"]


def test_a_then_counts_as_killed_only_where_the_mutant_is_aimed_at_it() -> None:
    steps = [one for one in then_coverage([], Proof()) if one.id == "PRE-01"]
    first, second = steps[0], steps[1]
    aimed = Mutant("aimed", "", aims_of(f"PRE-01: {second.text}"), REFERENCE)
    general = Mutant("crude", "", aims_of("PRE-01"), REFERENCE, general=True)
    proof = proof_of(aimed, [Outcome("failed", second.text, second.position)])
    proof.mutants["crude"] = {"PRE-01": [Outcome("failed", first.text, first.position)]}
    found = {one.position: one for one in then_coverage([aimed, general], proof) if one.id == "PRE-01"}
    assert (found[second.position].killed_by, found[second.position].general) == (["aimed"], [])
    assert (found[first.position].killed_by, found[first.position].general) == ([], ["crude"])


def test_the_row_of_an_outline_that_was_aimed_at_counts_although_another_failed_there_too() -> None:
    step = next(one for one in then_coverage([], Proof()) if one.id == "JOB-04" and "<" in one.text)
    aimed, other = 'job "train" consists of "train-master-0"', 'job "train" has no pods left'
    mutant = Mutant("kept", "", aims_of(f"JOB-04: {aimed}"), REFERENCE)
    rows = [Outcome("failed", text, step.position) for text in (aimed, other)]
    found = then_coverage([mutant], Proof(mutants={"kept": {"JOB-04": rows}}))
    assert [one.position for one in found if one.killed_by] == [step.position]


def test_a_step_that_was_reworded_since_is_not_killed() -> None:
    step = next(one for one in then_coverage([], Proof()) if one.id == "PRE-01")
    mutant = Mutant("first", "", aims_of("PRE-01: an older"), REFERENCE)
    proof = proof_of(mutant, [Outcome("failed", "an older wording", step.position)])
    assert not any(one.killed_by for one in then_coverage([mutant], proof))


def test_the_page_shows_step_and_what_was_seen() -> None:
    mutant = Mutant("first", "A fault.", aims_of("PRE-01: exactly one of", "PRE-02: no pod"), REFERENCE)
    page = proof_page.write([mutant], [], proof_of(mutant, [Outcome("failed", COUNT, 1, "a | b")]))
    assert f"| PRE-01 | first | {COUNT} | a \\| b |" in page
    assert "| first | PRE-02 | not run | - |" in page
    assert "| scenarios that survive | PRE-02 |" in page


def test_the_time_scale_of_a_run_of_a_few_mutants_does_not_replace_that_of_the_others() -> None:
    assert pooled_scale("", "0.3") == "0.3"
    pooled = pooled_scale("1", "0.3")
    assert pooled == "0.3 or 1: pooled from several runs, of several versions"
    assert pooled_scale(pooled, "1") == pooled


def proof_of(mutant: Mutant, rows: list[Outcome]) -> Proof:
    return Proof(mutants={mutant.name: {"PRE-01": rows}})
