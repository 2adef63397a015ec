"""The last line of a run and its exit code: on made-up results, and always the same statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.report.conclusion import Run, conclusion, counts
from muster.report.results import Result
from muster.verdicts import Verdict, exit_code


def result(id_: str, verdict: Verdict = Verdict.PASSED, *, level: str = "must", example: str = "") -> Result:
    jobs = id_.startswith("JOB")
    capabilities = ["jobs" if jobs else "preemption"]
    in_cluster = jobs or id_ == "TNT-08"
    return Result(id_, level, capabilities, "", verdict, example=example, message="why", tests_the_cluster=in_cluster)


def run(*results: Result, missing: int = 0, interrupted: bool = False, operator: str = "reference") -> Run:
    return Run("toy", "muster run --scheduler toy", results, {}, Path("x"), 12.34, missing, interrupted, operator)


def code(made: Run) -> int:
    broke = bool(made.missing) or made.interrupted
    return exit_code(made.results, operator_under_test=made.operator_under_test, harness_broke=broke)


PASSED, FAILED, ERROR = result("PRE-01"), result("PRE-02", Verdict.FAILED), result("PRE-03", Verdict.ERROR)
SHOULD = result("PRE-04", Verdict.FAILED, level="should")
JOB, TAINT = result("JOB-01", Verdict.FAILED), result("TNT-08", Verdict.FAILED)
UNSUPPORTED, UNSTAGED = result("PRE-05", Verdict.NOT_SUPPORTED), result("PRE-06", Verdict.NOT_STAGED)
SKIPPED = result("PRE-07", Verdict.SKIPPED)


@pytest.mark.parametrize(
    ("made", "expected", "says"),
    [
        (run(PASSED, SHOULD), 0, "toy passes muster: all 1 MUSTs that were tested passed"),
        (run(PASSED, FAILED), 1, "toy does not pass muster: 1 of 2 MUSTs failed"),
        (run(PASSED, FAILED, ERROR), 2, "no verdict on toy: the harness broke in 1 scenarios"),
        (run(PASSED, missing=3), 2, "no verdict on toy: the harness broke in 3 scenarios"),
        (run(PASSED, missing=3, interrupted=True), 2, "no verdict: the run was interrupted"),
        (run(SHOULD), 0, "no MUST was tested on toy"),
        (run(SHOULD, UNSUPPORTED), 0, "no MUST was tested on toy; 1 not-supported"),
        (run(PASSED, UNSUPPORTED, UNSTAGED), 0, "all 1 MUSTs that were tested passed; 1 not-supported, 1 not-staged"),
        (run(PASSED, JOB, TAINT), 0, "tested passed; not counted: 2 failed MUSTs that test the cluster"),
        (run(PASSED, JOB, operator="other"), 1, "toy with operator other does not pass muster: 1 of 2 MUSTs failed"),
        (run(PASSED, TAINT, operator="other"), 0, "not counted: 1 failed MUSTs that test the cluster"),
        (run(JOB), 1, "the cluster with operator reference does not pass muster: 1 of 1 MUSTs failed"),
        (run(TAINT), 1, "the cluster does not pass muster: 1 of 1 MUSTs failed"),
        (run(JOB, UNSUPPORTED), 1, "the cluster with operator reference does not pass muster: 1 of 1 MUSTs failed"),
        (run(UNSUPPORTED), 2, "nothing was tested on toy: 1 not-supported (PRE-05: why): select behaviours that"),
        (
            run(UNSTAGED),
            2,
            "nothing was tested on toy: 1 not-staged (PRE-06: why): run on a cluster where they can be set",
        ),
        (run(SKIPPED), 2, "nothing was tested on toy: 1 skipped (PRE-07: why): leave out what skips them"),
        (run(result("JOB-01", Verdict.NOT_SUPPORTED)), 2, "nothing was tested on toy: 1 not-supported (JOB-01: why)"),
        (run(UNSTAGED, UNSUPPORTED, SKIPPED), 2, "1 not-supported, 1 not-staged, 1 skipped (PRE-05: why): select"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_last_line_matches_the_exit_code(made: Run, expected: int, says: str) -> None:
    assert code(made) == expected
    assert says in conclusion(made)
    assert "\n" not in conclusion(made)


def test_rows_of_an_outline_count_one_by_one() -> None:
    rows = [result("PRE-01", verdict, example=name) for name, verdict in [("a", Verdict.FAILED), ("b", Verdict.PASSED)]]
    assert conclusion(run(*rows)) == "toy does not pass muster: 1 of 2 MUSTs failed"
    assert code(run(*rows)) == code(run(*reversed(rows))) == 1


def test_counts() -> None:
    assert counts(run(PASSED, FAILED, missing=3)) == "5 scenarios in 12.3 s: 1 passed, 1 failed, 3 not run"


def test_a_broken_harness_beats_everything() -> None:
    assert exit_code([FAILED]) == 1
    assert exit_code([FAILED], harness_broke=True) == 2
    assert exit_code([]) == 2
