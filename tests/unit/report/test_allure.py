"""Allure results, read back from the files."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario

OUTLINE = """  @PRE-06 @may
  Scenario Outline: About <name>
    Source: a handbook.
    Given a node
    Then "<name>" holds
    Examples:
      | name |
      | one  |
      | two  |"""


RULE = "  Rule: Preemption is minimal\n\n" + scenario("PRE-07", "Then it holds")


@pytest.fixture(scope="module", params=["1", "2"], ids=["alone", "workers"])
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ToySuite:
    suite = make_toy_suite(tmp_path_factory.mktemp("allure"))
    table = [
        "And pods:",
        "  | pod  | GPUs |",
        "  | left | 1    |",
        "And a text:",
        '  """',
        "  some text",
        "  and more",
        '  """',
    ]
    suite.write(
        feature(
            scenario("PRE-01", *table, "When nothing happens", "Then it holds"),
            scenario("PRE-02", "When nothing happens", "Then it is violated", "And it holds", level="should"),
            scenario("PRE-03", "Then it raises a plain assertion"),
            scenario("PRE-04", "And a cluster that cannot stop", "Then it is violated"),
            scenario("PRE-05", "Then it is not supported"),
            OUTLINE,
            RULE,
            title="Victim selection",
        )
    )
    suite.muster("run", "--workers", request.param)
    return suite


def labels(result: dict[str, Any], name: str) -> list[str]:
    return [label["value"] for label in result["labels"] if label["name"] == name]


def test_every_scenario_has_one_result(suite: ToySuite) -> None:
    expected = {"PRE-01", "PRE-02", "PRE-03", "PRE-04", "PRE-05", "PRE-06[one]", "PRE-06[two]", "PRE-07"}
    assert set(suite.allure()) == expected
    assert len(list((suite.latest / "allure").glob("*-result.json"))) == len(expected)


def test_steps_come_in_order_with_their_tables_inside(suite: ToySuite) -> None:
    result = suite.allure()["PRE-01"]
    names = ["Given a node", "And pods:", "And a text: some text …", "When nothing happens", "Then it holds"]
    assert [step["name"] for step in result["steps"]] == names
    assert all(step["status"] == "passed" and step["stop"] >= step["start"] for step in result["steps"])
    (table,) = result["steps"][1]["attachments"]
    with (suite.latest / "allure" / table["source"]).open() as file:
        assert list(csv.reader(file)) == [["pod", "GPUs"], ["left", "1"]]
    (text,) = result["steps"][2]["attachments"]
    assert (suite.latest / "allure" / text["source"]).read_text() == "some text\nand more"


def test_a_conformance_failure_is_failed_with_its_report(suite: ToySuite) -> None:
    result = suite.allure()["PRE-02"]
    assert result["status"] == "failed"
    assert [step["status"] for step in result["steps"]] == ["passed", "passed", "failed"]
    assert result["statusDetails"]["message"] == "wanted   one victim\nseen     two victims"
    assert "trace" not in result["statusDetails"]
    assert "def call_fixture_func" in suite.allure()["PRE-03"]["statusDetails"]["trace"]


def test_the_whole_scenario_is_in_the_description_whether_it_passed_or_not(suite: ToySuite) -> None:
    text = suite.allure()["PRE-01"]["description"].splitlines()
    assert "    | left | 1    |" in text
    assert "    and more" in text
    text = suite.allure()["PRE-02"]["description"].splitlines()
    assert text[-2:] == ["  And it holds", "```"]
    assert '  Then "two" holds' in suite.allure()["PRE-06[two]"]["description"].splitlines()
    assert suite.allure()["PRE-06[two]"]["description"].startswith("Source: a handbook.")


@pytest.mark.parametrize("id_", ["PRE-03", "PRE-04"])
def test_an_error_of_the_harness_is_broken_not_failed(suite: ToySuite, id_: str) -> None:
    assert suite.allure()[id_]["status"] == "broken"


def test_not_supported_is_skipped_with_the_reason(suite: ToySuite) -> None:
    result = suite.allure()["PRE-05"]
    assert (result["status"], result["steps"][-1]["status"]) == ("skipped", "skipped")
    assert result["statusDetails"]["message"] == "not-supported: gangs are not claimed"


def test_titles_labels_and_the_row_of_an_outline(suite: ToySuite) -> None:
    result = suite.allure()["PRE-06[two]"]
    assert result["name"] == "PRE-06 About two"
    assert result["parameters"] == [{"name": "name", "value": "two"}]
    assert labels(result, "feature") == ["Victim selection"]
    assert labels(result, "as_id") == labels(result, "requirement") == ["PRE-06"]
    assert labels(result, "level") == ["may"]
    assert labels(result, "scheduler") == ["kube-scheduler"]
    assert labels(result, "cluster") == ["local"]
    assert labels(result, "verdict") == ["passed"]
    assert [label["name"] for label in result["labels"]][:2] == ["requirement", "level"]
    assert "preemption" in labels(result, "capability")
    assert labels(suite.allure()["PRE-02"], "severity") == ["normal"]


def test_a_rule_is_between_the_feature_and_its_scenarios(suite: ToySuite) -> None:
    result = suite.allure()["PRE-07"]
    assert labels(result, "story") == ["Preemption is minimal"]
    assert result["titlePath"][-2:] == ["Victim selection", "Preemption is minimal"]
    assert labels(suite.allure()["PRE-01"], "story") == []


def test_no_containers_for_step_definitions(suite: ToySuite) -> None:
    names = set()
    for file in (suite.latest / "allure").glob("*-container.json"):
        container = json.loads(file.read_text())
        names |= {each["name"] for each in container.get("befores", []) + container.get("afters", [])}
    assert names == {"scenario", "broken_teardown", "broken_teardown: clean-up"}


def test_the_environment_is_shown(suite: ToySuite) -> None:
    allure = suite.latest / "allure"
    assert "scheduler.version = v9.9.9\n" in (allure / "environment.properties").read_text()
    assert json.loads((allure / "executor.json").read_text())["name"] == "muster"
    rules = json.loads((allure / "categories.json").read_text())
    assert [rule["messageRegex"] for rule in rules] == [
        "(?s).*",
        "(?s).*",
        "(?s)not-supported: .*",
        "(?s)not-staged: .*",
        "(?s)skipped: .*",
    ]
    assert json.loads((suite.latest / "environment.json").read_text()) == {"scheduler version": "v9.9.9"}


def test_history_survives_a_new_title_and_separates_rounds(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds", title="Old")))
    suite.muster("run")
    old = suite.allure()["PRE-01"]
    suite.write(feature(scenario("PRE-01", "Then it holds", title="New"), title="Renamed"))
    suite.muster("run")
    new = suite.allure()["PRE-01"]
    assert (old["name"], new["name"]) == ("PRE-01 Old", "PRE-01 New")
    assert (old["historyId"], old["testCaseId"]) == (new["historyId"], new["testCaseId"])
    suite.muster("run", "--repeat", "2")
    rounds = [json.loads(file.read_text()) for file in (suite.latest / "allure").glob("*-result.json")]
    assert {result["name"] for result in rounds} == {"PRE-01 New (round 1/2)", "PRE-01 New (round 2/2)"}
    assert len({result["historyId"] for result in rounds}) == 2
    assert {result["testCaseId"] for result in rounds} == {new["testCaseId"]}


def test_plain_pytest_with_alluredir_gets_the_same(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    assert suite.pytest(f"--alluredir={tmp_path / 'shown'}", "-n", "1").returncode == 0
    (file,) = (tmp_path / "shown").glob("*-result.json")
    assert json.loads(file.read_text())["name"] == "PRE-01 Title of PRE-01"
