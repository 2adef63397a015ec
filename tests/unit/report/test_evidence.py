"""Attachments of steps and scenarios in Allure, and the files in the results directory."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
import yaml

from muster.report.allure_files import named_manifests
from muster.report.timeline.timeline import from_json
from tests.support.report_suite import make_report_suite
from tests.support.toy_suite import ToySuite


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> ToySuite:
    suite = make_report_suite(tmp_path_factory.mktemp("evidence"))
    ran = suite.muster("run")
    assert ran.returncode == 1, ran.stderr
    (suite.work / "stdout").write_text(ran.stdout, encoding="utf-8")
    return suite


def attached(suite: ToySuite, item: dict[str, Any]) -> dict[str, str]:
    files = {one["name"]: suite.latest / "allure" / one["source"] for one in item.get("attachments", [])}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items()}


@pytest.mark.parametrize("id_", ["PRE-01", "PRE-02"])
def test_every_scenario_has_its_timeline(suite: ToySuite, id_: str) -> None:
    shown = attached(suite, suite.allure()[id_])
    assert set(shown) - {"the same with kubectl"} == {"timeline", "timeline as text", "timeline as data"}
    assert Xml.fromstring(shown["timeline"]).tag.endswith("svg")
    assert "urgent" in shown["timeline as text"]
    kept = suite.latest / "timelines"
    assert (kept / f"{id_}.svg").read_text(encoding="utf-8") == shown["timeline"]
    assert from_json((kept / f"{id_}.json").read_bytes()) == from_json(shown["timeline as data"].encode())


def test_then_steps_are_in_the_timeline_with_their_outcome(suite: ToySuite) -> None:
    timeline = from_json((suite.latest / "timelines" / "PRE-02.json").read_bytes())
    steps = [(step.text, step.status) for step in timeline.steps]
    assert steps == [("Then one of them is preempted", "passed"), ("And it fails with a report", "failed")]
    assert timeline.title == "PRE-02 A failure is reported"


def test_evidence_is_attached_to_the_failed_step(suite: ToySuite) -> None:
    *good, bad = suite.allure()["PRE-02"]["steps"]
    assert all(not step.get("attachments") for step in good)
    shown = attached(suite, bad)
    assert list(shown) == ["failure report", "nodes", "objects", "events"]
    assert shown["failure report"].startswith("wanted   one victim\nseen     two victims\n")
    assert shown["nodes"].splitlines()[1].split()[:2] == ["gpu-1", "0/2"]
    objects = {one["metadata"]["name"] for one in yaml.safe_load_all(shown["objects"])}
    assert objects == {"gpu-1", "gpu-2", "left", "right", "sidecar", "big", "urgent"}
    assert "Preempted: Preempted by pod uid-urgent on node gpu-1" in shown["events"]


def test_a_failed_scenario_is_written_as_a_kubectl_script(suite: ToySuite) -> None:
    (script,) = (suite.latest / "kubectl").iterdir()
    assert script.name == "PRE-02.sh"
    assert "# Then one of them is preempted\n" in script.read_text(encoding="utf-8")
    shown = [one["name"] for one in suite.allure()["PRE-02"]["attachments"]]
    assert "the same with kubectl" in shown


def test_the_terminal_shows_the_timeline_of_a_failure_only(suite: ToySuite) -> None:
    out = (suite.work / "stdout").read_text(encoding="utf-8")
    assert out.count("┄ nominated") == 1
    assert f"timeline: {suite.latest.resolve() / 'timelines' / 'PRE-02.svg'}" in out
    assert all(len(line) <= 200 for line in out.splitlines())


def test_rounds_and_rows_have_their_own_timelines(tmp_path: Path) -> None:
    suite = make_report_suite(tmp_path)
    suite.muster("run", "--repeat", "2", "--only", "PRE-01")
    names = {file.name for file in (suite.latest / "timelines").glob("*.svg")}
    assert names == {"PRE-01-round1.svg", "PRE-01-round2.svg"}


def test_a_manifest_that_a_step_names_is_attached() -> None:
    ((name, content),) = named_manifests('When what the manifest "low-pods" describes is created')
    assert name == "low-pods.yaml"
    assert [one["kind"] for one in yaml.safe_load_all(content)]
    assert list(named_manifests('Then pod "low-pods" runs')) == []
