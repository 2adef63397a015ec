"""Allure histories of version 0.1 continue: results written then and now have the same keys, whatever was renamed."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from allure_commons.model2 import Parameter

from muster.report import history_keys
from muster.report.results import Result
from muster.suite import paths
from muster.suite.behaviours import read_features
from muster.verdicts import Verdict

OLD = json.loads((Path(__file__).parent / "allure_results_of_0_1.json").read_text(encoding="utf-8"))
BEHAVIOURS = read_features(paths.suite_root() / "features").by_id()
SCHEDULER = "reference"  # the results of 0.1 are of this one


def allure_3_key(test_case_id: str, parameters: list[Any]) -> str:
    """The key as Allure 3.18 and Allure 2.46 compute it: parameters that are not excluded, in order."""
    rows = [each if isinstance(each, dict) else {"name": each.name, "value": each.value} for each in parameters]
    text = ",".join(sorted(f"{row['name']}:{row['value']}" for row in rows))
    return f"{test_case_id}.{hashlib.md5(text.encode()).hexdigest()}"


def keys_now(id_: str, row: dict[str, str]) -> tuple[str, str, str]:
    result = a_result(id_, "-".join(row.values()))
    counted = [each for each in history_keys.parameters(result, row) if not each.excluded]
    return (
        history_keys.full_name(result),
        history_keys.history_id(result, SCHEDULER),
        allure_3_key(history_keys.test_case_id(result, SCHEDULER), counted),
    )


def a_result(id_: str, example: str = "", **more: Any) -> Result:
    return Result(id_, "must", [], "Title", Verdict.PASSED, example=example, feature="features/new.feature", **more)


@pytest.mark.parametrize("id_", sorted({each["fullName"].partition("#")[2].partition("[")[0] for each in OLD}))
def test_every_key_of_the_old_version_is_written_again(id_: str) -> None:
    old = {
        (each["fullName"], each["historyId"], allure_3_key(each["testCaseId"], each["parameters"]))
        for each in OLD
        if each["fullName"].partition("#")[2].partition("[")[0] == id_
    }
    now = {keys_now(id_, dict(row)) for row in BEHAVIOURS[id_].examples or ({},)}
    assert old <= now, f"{id_} lost its history: see muster/report/history_keys.py"


def test_no_frozen_row_is_stale() -> None:
    for id_, rows in history_keys.frozen_rows().items():
        present = {"-".join(row.values()) for row in BEHAVIOURS[id_].examples}
        assert set(rows) <= present, f"a row of {id_} was reworded: rename its entry in history_keys.json"


def test_a_reworded_row_is_shown_and_the_old_one_makes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    frozen = {"features": {"JOB-04": "features/old.feature"}, "rows": {"JOB-04": {"All-no pods": {"left": "nothing"}}}}
    monkeypatch.setattr(history_keys, "_frozen", lambda: frozen)
    result = a_result("JOB-04", "All-no pods")
    assert history_keys.full_name(result) == "features/old.feature#JOB-04[nothing]"
    assert history_keys.parameters(result, {"policy": "All", "pods": "no pods"}) == [
        Parameter(name="policy", value="All", excluded=True),
        Parameter(name="pods", value="no pods", excluded=True),
        Parameter(name="left", value="nothing", mode="hidden"),
    ]


def test_a_new_behaviour_uses_its_own_file_and_row() -> None:
    result = a_result("NEW-01", "a-b")
    assert history_keys.full_name(result) == "features/new.feature#NEW-01[a-b]"
    assert history_keys.parameters(result, {"x": "a", "y": "b"}) == [Parameter("x", "a"), Parameter("y", "b")]


def test_rounds_are_apart_by_a_parameter_and_by_their_history_id() -> None:
    first, second = (a_result("NEW-01", round=number, rounds=2) for number in (1, 2))
    assert history_keys.parameters(second, {}) == [Parameter("round", "2/2")]
    assert history_keys.history_id(first, SCHEDULER) != history_keys.history_id(second, SCHEDULER)
