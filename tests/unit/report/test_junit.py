"""JUnit, parsed back as a CI system does."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from muster.report import ci_output
from muster.report.results import Result
from muster.verdicts import Verdict
from tests.support.toy_suite import feature, make_toy_suite, scenario


def case(root: Xml.Element, id_: str) -> Xml.Element:
    (found,) = [each for each in root.iter("testcase") if str(each.get("name")).startswith(f"{id_} ")]
    return found


def test_failures_errors_and_skips_are_different_elements(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(
        feature(
            scenario("PRE-01", "Then it holds", title='Less < "more" & ünïcode'),
            scenario("PRE-02", "Then it is violated"),
            scenario("PRE-03", "Then it raises a plain assertion"),
            scenario("PRE-04", "Then it is not staged", level="may"),
        )
    )
    run = suite.muster("run", "--junit", "reports/junit.xml")
    assert run.returncode == 2
    root = Xml.parse(suite.work / "reports" / "junit.xml").getroot()
    (shown,) = root.iter("testsuite")
    counts = {name: shown.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert counts == {"name": "kube-scheduler", "tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert case(root, "PRE-01").get("name") == 'PRE-01 Less < "more" & ünïcode'
    assert [child.tag for child in case(root, "PRE-01")] == ["properties"]
    failure = case(root, "PRE-02").find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == (
        "failed: wanted   one victim",
        "wanted   one victim\nseen     two victims",
    )
    error = case(root, "PRE-03").find("error")
    assert error is not None
    assert str(error.get("message")).startswith("error: AssertionError: odd")
    skipped = case(root, "PRE-04").find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not-staged: the scheduler of an existing cluster cannot be paused"
    properties = {each.get("name"): each.get("value") for each in case(root, "PRE-04").iter("property")}
    assert (properties["requirement"], properties["level"], properties["verdict"]) == ("PRE-04", "may", "not-staged")
    assert [each.get("value") for each in shown.findall("properties/property")] == ["v9.9.9"]


def test_rounds_have_different_names(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    suite.muster("run", "--repeat", "3", "--junit", "junit.xml")
    names = [each.get("name") for each in Xml.parse(suite.work / "junit.xml").iter("testcase")]
    assert names == [f"PRE-01 Title of PRE-01 (round {number}/3)" for number in (1, 2, 3)]


@pytest.mark.parametrize("nasty", ["\x1b[31mred\x1b[0m", "nul\x00l", "\ud800 surrogate", "]]> <end>", "\U0001f600"])
def test_any_message_gives_valid_xml(tmp_path: Path, nasty: str) -> None:
    result = Result(id="PRE-01", level="must", capabilities=[], title=nasty, verdict=Verdict.ERROR, message=nasty)
    ci_output.write_junit(tmp_path / "junit.xml", "x", [result], {"version": nasty})
    error = Xml.parse(tmp_path / "junit.xml").getroot().find(".//error")
    assert error is not None
    assert list(tmp_path.iterdir()) == [tmp_path / "junit.xml"]
