"""What `make test` expects of a full run: on made-up results, row by row."""

from __future__ import annotations

import msgspec
import pytest

from muster.report.results import Result
from muster.suite.behaviours import Behaviour, read_features
from muster.suite.paths import suite_root
from muster.verdicts import Verdict
from tests.support.suite_expectations import REFUSED, Expected, deviations, expected, refusal

BEHAVIOURS = read_features(suite_root() / "features").by_id()


def as_expected(scheduler: str, *ids: str) -> tuple[list[Result], list[Behaviour]]:
    chosen = [BEHAVIOURS[id_] for id_ in ids]
    return [result(one, row, expected(one, scheduler)) for one in chosen for row in one.row_names], chosen


def result(one: Behaviour, row: str, wanted: Expected) -> Result:
    facts = (one.id, one.level, list(one.capabilities), one.title, wanted.verdict)
    return Result(*facts, example=row, message=wanted.message)


def with_verdict(one: Result, verdict: Verdict) -> Result:
    return msgspec.structs.replace(one, verdict=verdict)


def test_a_failed_row_of_an_outline_is_found_whichever_it_is() -> None:
    results, chosen = as_expected("reference", "JOB-03", "PRE-01")
    assert len(results) == BEHAVIOURS["JOB-03"].rows + 1
    assert deviations(results, chosen, "reference") == []
    for number, one in enumerate(results):
        broken = [*results[:number], with_verdict(one, Verdict.FAILED), *results[number + 1 :]]
        (line,) = deviations(broken, chosen, "reference")
        assert line.startswith(f"{one.name}: failed, expected passed")


def test_a_row_that_was_not_run_or_run_twice_is_found() -> None:
    results, chosen = as_expected("reference", "JOB-03")
    assert deviations(results[1:], chosen, "reference") == [f"{results[0].name}: run 0 times"]
    assert deviations([*results, results[0]], chosen, "reference") == [f"{results[0].name}: run 2 times"]
    assert deviations(results, [], "reference")[0] == f"{results[0].name}: not selected, but run"


@pytest.mark.parametrize("verdict", [Verdict.NOT_SUPPORTED, Verdict.NOT_STAGED, Verdict.SKIPPED])
def test_a_behaviour_that_is_claimed_may_not_be_left_out(verdict: Verdict) -> None:
    results, chosen = as_expected("kube-scheduler", "PRE-01")
    (line,) = deviations([with_verdict(results[0], verdict)], chosen, "kube-scheduler")
    assert line.startswith(f"PRE-01: {verdict}, expected passed")


def test_an_excuse_follows_from_the_claims_or_the_dialect_and_must_be_that_one() -> None:
    results, chosen = as_expected("kube-scheduler", "GNG-01")
    assert (results[0].verdict, results[0].message) == (Verdict.NOT_SUPPORTED, "kube-scheduler does not claim gangs")
    other = msgspec.structs.replace(results[0], message="the PodGroup was not served")
    assert "but because 'the PodGroup was not served'" in deviations([other], chosen, "kube-scheduler")[0]
    (que,) = as_expected("reference", "QUE-16")[0]
    assert (que.verdict, "is not asked for weights" in que.message) == (Verdict.NOT_SUPPORTED, True)


@pytest.mark.parametrize(("scheduler", "id_"), [(one, id_) for one, refused in REFUSED.items() for id_ in refused])
def test_what_a_dialect_is_said_to_refuse_it_refuses(scheduler: str, id_: str) -> None:
    assert refusal(scheduler, REFUSED[scheduler][id_])
