"""The ConformanceReport: verdicts are combined, every field is described, equal results give equal bytes."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import yaml

from muster.report import conformance
from muster.report.conformance import Claim
from muster.report.conformance_format import ConformanceReport, schema, to_yaml
from muster.report.results import Result
from muster.verdicts import Verdict

CLAIM = Claim("toy:odd", "odd", {"preemption": "its handbook"}, "muster run --scheduler toy:odd")
FACTS = {"cluster": "local", "kubernetes": "v1", "scheduler": "toy 2 (odd)", "scheduler period": "1 s"}


def result(
    id_: str, verdict: Verdict, *, level: str = "must", round_: int = 1, example: str = "", message: str = ""
) -> Result:
    family = {"PRE": ["preemption"], "GNG": ["gangs"], "DOC": ["documents", "preemption"]}[id_[:3]]
    return Result(id_, level, family, f"title of {id_}", verdict, round=round_, example=example, message=message)


def made(*results: Result) -> ConformanceReport:
    return conformance.report([(one, "") for one in results], CLAIM, FACTS, "2026-01-01T00:00:00Z")


def verdict_of(*results: Result) -> str:
    return made(*results).behaviours[0].verdict


def test_a_row_that_flips_is_unstable_and_rows_that_differ_are_failed() -> None:
    passed, failed = Verdict.PASSED, Verdict.FAILED
    assert verdict_of(result("PRE-01", passed), result("PRE-01", failed, round_=2)) == "unstable"
    assert verdict_of(result("PRE-01", passed, example="a"), result("PRE-01", failed, example="b")) == "failed"
    assert verdict_of(result("PRE-01", passed), result("PRE-01", Verdict.ERROR, round_=2)) == "error"
    assert verdict_of(result("PRE-01", passed), result("PRE-01", passed, round_=2)) == "passed"


def test_no_row_of_an_outline_hides_another() -> None:
    passed, failed = Verdict.PASSED, Verdict.FAILED
    flips = [result("PRE-01", passed, example="a"), result("PRE-01", failed, example="a", round_=2, message="once")]
    fails = [result("PRE-01", failed, example="b", round_=n, message="always") for n in (1, 2)]
    passes = [result("PRE-01", passed, example="c", round_=n) for n in (1, 2)]
    assert verdict_of(*flips, *passes) == "unstable"
    (cell,) = made(*flips, *fails, *passes).behaviours
    assert (cell.verdict, cell.failure_report, cell.evidence) == ("failed", "always", "timelines/PRE-01-b.svg")
    assert verdict_of(*passes, result("PRE-01", Verdict.NOT_STAGED, example="d")) == "not-staged"
    (cell,) = made(*fails, result("PRE-01", Verdict.ERROR, example="e", message="the API server is gone")).behaviours
    assert (cell.verdict, cell.failure_report) == ("error", "the API server is gone")


def test_a_profile_passes_only_when_its_whole_core_was_tested_and_passed() -> None:
    core = made(result("PRE-01", Verdict.PASSED), result("PRE-02", Verdict.NOT_STAGED)).profiles[0].core
    assert (core.result, core.behaviours) == ("incomplete", {"not-staged": 1, "passed": 1})
    report = made(result("PRE-01", Verdict.PASSED), result("PRE-02", Verdict.FAILED, level="should"))
    assert [(one.name, one.core.result, one.extended.result) for one in report.profiles] == [
        ("preemption", "passed", "failed")
    ]
    assert made(result("DOC-01", Verdict.FAILED)).profiles[0].core.result == "failed"


def test_what_is_not_claimed_is_named_with_its_source() -> None:
    report = made(result("GNG-10", Verdict.NOT_SUPPORTED, message="no gangs, according to its handbook"))
    assert [(one.capability, one.behaviours, one.source) for one in report.unsupported] == [
        ("gangs", ["GNG-10"], "no gangs, according to its handbook")
    ]
    assert report.profiles[0].core.result == "not-supported"


def test_failed_behaviours_carry_failure_report_timeline_and_command() -> None:
    red = made(result("PRE-01", Verdict.PASSED), result("PRE-01", Verdict.FAILED, round_=2, message="wanted x\nseen y"))
    (cell,) = red.behaviours
    assert cell.failure_report == "wanted x\nseen y"
    assert cell.reproduce == "muster run --scheduler toy:odd --only PRE-01 --repeat 5"
    assert cell.evidence == "timelines/PRE-01.svg"
    assert cell.runs == {"failed": 1, "passed": 1}


def test_yaml_round_trip_describes_every_field_and_ignores_the_order_of_results() -> None:
    results = [
        result("PRE-02", Verdict.PASSED),
        result("PRE-01", Verdict.FAILED, message='odd: "quotes" # and\n  more: of them'),
        result("GNG-01", Verdict.NOT_SUPPORTED, message="none"),
    ]
    text = to_yaml(made(*results))
    assert "  story: |-" in text
    assert text == to_yaml(made(*reversed(results)))
    assert msgspec.convert(yaml.safe_load(text), ConformanceReport) == made(*results)
    lines = text.split("\n")
    assert lines[lines.index("apiVersion: muster/v1alpha1") - 1].startswith("# ")
    assert text.count("# The stable id of the behaviour.") == 1


def test_the_published_schema_is_that_of_the_format() -> None:
    file = Path(__file__).parents[3] / "docs" / "conformance.schema.json"
    assert json.loads(file.read_text(encoding="utf-8")) == schema(), "python docs/generate.py writes it"
