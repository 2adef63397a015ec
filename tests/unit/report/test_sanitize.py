"""Hostile text: markup, colour codes, workflow commands, lone surrogates, megabytes."""

import io
import json
from pathlib import Path
from xml.etree import ElementTree as Xml

import allure_commons
import pytest
from rich.console import Console

from muster.report import ci_output
from muster.report.evidence import Evidence
from muster.report.gpu_maps import gpu_map
from muster.report.results import Result
from muster.report.sanitize import cut, one_line, plain, read_from
from muster.report.timeline import from_history, svg, text
from muster.report.timeline.timeline import StepOutcome
from muster.runner.live_view import LiveView
from muster.verdicts import Verdict
from tests.support.history_builder import HistoryBuilder
from tests.support.report_suite import HOSTILE, make_report_suite
from tests.support.toy_suite import ToySuite

NASTY = "<script>alert(1)</script>\x1b[31mred\x1b]0;title\x07 \udcff\ud800 ]]>\u202e `|` \"'&\x00\x9b31m\n::error::x"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> ToySuite:
    suite = make_report_suite(tmp_path_factory.mktemp("hostile"), *HOSTILE)
    summary = suite.work / "summary.md"
    actions = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary), "TOY_NAME": "<b>&\x1b[31m"}
    ran = suite.muster("run", "--junit", "junit.xml", **actions)
    assert ran.returncode == 2, ran.stderr
    (suite.work / "stdout").write_text(ran.stdout, encoding="utf-8")
    return suite


def test_plain_keeps_text_and_removes_codes() -> None:
    assert plain(NASTY) == "<script>alert(1)</script>red  ]]> `|` \"'&31m\n::error::x"
    assert plain("größe 表 😀\ttab\r\nline") == "größe 表 😀\ttab\nline"
    assert one_line(" a\n b ", 10) == "a b"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_long_texts_keep_both_ends() -> None:
    shown = plain("begin" + "x" * 2**20 + "end", 1000)
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert len(shown) < 1100
    assert cut("short", 10) == "short"


def test_logs_are_read_from_an_offset_whatever_they_hold(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(b"before\n" + b"\xff\xfe\x1b[31mred\x1b[0m\n")
    assert read_from(log, 7) == "��red\n"
    assert read_from(log, 10_000) == ""
    assert read_from(tmp_path / "none.log") == ""
    log.write_bytes(b"y" * 5000)
    assert len(read_from(log, 0, 1000)) < 1100


class Collector:
    """Collects attachments in place of Allure."""

    def __init__(self) -> None:
        self.bodies: dict[str, str] = {}

    @allure_commons.hookimpl  # type: ignore[untyped-decorator]
    def attach_data(self, body: str, name: str) -> None:
        self.bodies[name] = body


def test_evidence_of_hostile_objects_events_and_logs_is_plain(tmp_path: Path) -> None:
    log = tmp_path / "scheduler.log"
    log.write_bytes(b"before\n")
    builder = (
        HistoryBuilder()
        .node("gpu-1", 1)
        .running_pod("left", "gpu-1", 1)
        .event("left", "Odd", NASTY.encode("utf-8", "ignore").decode())
    )
    taken, seen = Evidence(builder.history, {"scheduler": log}), Collector()
    log.write_bytes(b"before\n" + b"\xff\x1b[31m<script>\x00" + b"x" * 2**20 + b"\xfe end")
    allure_commons.plugin_manager.register(seen)
    try:
        taken.of_failure(NASTY)
        taken.timeline(NASTY, [StepOutcome(NASTY, 0.5, "failed")], None, "PRE-01")
    finally:
        allure_commons.plugin_manager.unregister(seen)
    assert set(seen.bodies) >= {"failure report", "nodes", "objects", "events", "log: scheduler", "timeline"}
    for body in seen.bodies.values():
        body.encode("utf-8")
        assert len(body) < 300_000
        assert not {"\x1b", "\x00", "\x9b", "\u202e"} & set(body)
    assert "before" not in seen.bodies["log: scheduler"]
    assert seen.bodies["log: scheduler"].endswith("end")


def test_the_live_view_shows_printable_text_only(tmp_path: Path) -> None:
    shown = io.StringIO()
    with LiveView(planned=1, results=tmp_path) as live:
        live._take({"event": "starts", "worker": "main", "at": 0.0, "id": "PRE-01", "title": NASTY})
        live._take({"event": "waits", "worker": "main", "at": 0.0, "text": f"[red]{NASTY}"})
        live._take({"event": "map", "worker": "main", "at": 0.0, "nodes": [[NASTY, "A.[/]"]], "pending": 1})
        Console(file=shown, width=80).print(live._render())
    lines = shown.getvalue().splitlines()[1:]
    assert len(lines) == 2
    assert all(line.isprintable() and len(line) <= 80 for line in lines)
    assert "[red]<script>" in lines[0]


def test_every_file_of_the_run_can_be_read(suite: ToySuite) -> None:
    assert suite.verdicts() == {"PRE-03": "failed", "PRE-04": "failed", "PRE-05": "error"}
    for result in suite.results():
        assert len(result["message"]) < 70_000
        assert "\x1b" not in result["message"]
    for file in (suite.latest / "allure").iterdir():
        text = file.read_text(encoding="utf-8")
        assert len(text) < 300_000
        if file.suffix == ".json":
            json.loads(text)
        if file.suffix == ".svg":
            assert Xml.fromstring(text).tag.endswith("svg")
    assert {"PRE-03", "PRE-04", "PRE-05"} == set(suite.allure())
    Xml.parse(suite.work / "junit.xml")


def test_the_terminal_gets_no_codes_and_no_megabyte(suite: ToySuite) -> None:
    out = (suite.work / "stdout").read_text(encoding="utf-8")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert len(out) < 60_000


def test_github_executes_no_command_and_renders_no_markup(suite: ToySuite) -> None:
    lines = (suite.work / "stdout").read_text(encoding="utf-8").splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    resumed = lines.index(f"::{token}::")
    assert len(token) == 32
    assert any(line.strip() == "::error::x" for line in lines[:resumed])
    notes = lines[resumed + 1 :]
    assert [line.partition(" ")[0] for line in notes] == ["::error", "::error", "::warning"]
    summary = (suite.work / "summary.md").read_text(encoding="utf-8")
    outside = "".join(summary.split("```")[::2])
    assert "<script" not in outside
    assert summary.count("<details>") == summary.count("</details>") == 3


@pytest.mark.parametrize("nasty", [NASTY, "x" * 2**20, "</text></svg><script>1</script>", "&lt;&amp;"])
def test_hostile_text_in_a_timeline_is_escaped(nasty: str) -> None:
    builder = HistoryBuilder()
    builder.node(plain(nasty), 1, taints=[{"key": plain(nasty), "effect": "NoSchedule"}])
    builder.pod("victim", 1)._change("victim", "metadata", labels={"job-name": plain(nasty)})
    builder.bind("victim", plain(nasty)).pod("other", 1).unschedulable("other", plain(nasty))
    builder.mark_disruption_target("victim", message=plain(nasty)).custom_object("Queue", "q", {"state": plain(nasty)})
    for pod in builder.history.pods:
        pod.name = nasty
    timeline = from_history.read(builder.history, nasty, [StepOutcome(nasty, 0.5, "failed")])
    drawn = svg.draw(timeline)
    root = Xml.fromstring(drawn)
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert len(drawn) < 60 * 1024
    assert "\x1b" not in text.write(timeline)


def test_absurd_numbers_of_gpus_cost_nothing() -> None:
    builder = (
        HistoryBuilder()
        .node("gpu-1", 10**12)
        .node("gpu-2", 1)
        .running_pod("greedy", "gpu-2", 10**12)
        .running_pod("huge", "gpu-1", 10**12)
    )
    drawn = svg.draw(from_history.read(builder.history))
    assert len(drawn) < 60 * 1024
    (_, counted), (_, cells) = gpu_map(builder.history)[0]
    assert counted == f"{10**12}/{10**12}"
    assert len(cells) == 16


def test_a_summary_of_hostile_titles_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Result(
        id="PRE-01", level="must", capabilities=[], title=NASTY, verdict=Verdict.FAILED, message="````\n" + NASTY
    )
    text = ci_output.github_summary([result], "it | failed", {"a|b": "<i>"})
    (row,) = [line for line in text.splitlines() if line.startswith("| ❌")]
    assert row.replace("\\|", "").count("|") == 7
    assert "`````text" in text
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    out = io.StringIO()
    ci_output.write_github_output([result], "", {}, out)
    assert out.getvalue() == ""
