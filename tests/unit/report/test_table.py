"""The verdict table and the output after it."""

import io
import re
from pathlib import Path

import pytest

from muster.report.conclusion import Run, conclusion
from muster.report.results import Result, ResultsReader, StepResult, append_result
from muster.report.table import print_report, rows
from muster.verdicts import Verdict
from tests.support.toy_suite import feature, make_toy_suite, scenario


@pytest.fixture(autouse=True)
def not_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    """On GitHub, workflow commands would be part of the output."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)


def result(id_: str, verdict: Verdict = Verdict.PASSED, **more: object) -> Result:
    facts = {"level": "must", "capabilities": ["preemption"], "title": f"Title of {id_}", **more}
    return Result(id=id_, verdict=verdict, **facts)  # type: ignore[arg-type]


def run(*results: Result, missing: int = 0, interrupted: bool = False) -> Run:
    return Run(
        "kube-scheduler",
        "muster run --scheduler kube-scheduler",
        results,
        {},
        Path("results/x"),
        12.34,
        missing,
        interrupted,
    )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(shown: Run, out: io.StringIO | None = None, slowest: int = 0) -> str:
    out = out or io.StringIO()
    print_report(shown, out, slowest=slowest)
    return out.getvalue()


def test_plain_text_is_aligned_and_never_cut() -> None:
    long = "A title that is much longer than any terminal is wide, so that a log must keep the whole of it " * 2
    text = printed(run(result("PRE-10", title=long.strip(), seconds=12.5), result("PRE-2", Verdict.NOT_SUPPORTED)))
    assert text.splitlines()[:3] == [
        "id      level  verdict        seconds  title",
        "PRE-2   must   not-supported      0.0  Title of PRE-2",
        f"PRE-10  must   passed            12.5  {long.strip()}",
    ]
    assert "\x1b" not in text


def test_a_terminal_of_80_columns_is_not_overrun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = run(result("PRE-01", title="text " * 40))
    coloured = printed(shown, Terminal())
    assert "\x1b[32m" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", printed(shown, Terminal()))
    assert plain == re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert "\x1b[32m" not in printed(shown, Terminal())
    assert plain.count("text") == 40
    assert all(len(line) <= 80 for line in plain.splitlines())


def test_a_failure_report_is_wrapped_below_its_labels_but_commands_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", "xterm")
    command = "muster run --scheduler kube-scheduler --only PRE-01 --keep"
    table = "nodes    node " + "x" * 80
    message = f"wanted   {'peace ' * 20}\n{table}\nrepeat   {command}"
    shown = printed(run(result("PRE-01", Verdict.FAILED, message=message)), Terminal())
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("  wanted"))
    assert lines[first + 1].startswith("           peace")
    assert all(len(line) <= 60 for line in lines[first : first + 2])
    assert f"  repeat   {command}" in lines
    assert message.splitlines()[0].strip() in printed(run(result("PRE-01", Verdict.FAILED, message=message)))


def test_a_slow_scenario_takes_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    slow = result("PRE-02", seconds=4.0, steps=[StepResult("Then", "it runs " * 20, "passed", 3.25)])
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed(run(slow), Terminal(), slowest=1)).splitlines()
    (line,) = [line for line in lines if "longest 3.2:" in line]
    assert len(line) <= 80
    assert line.rstrip().endswith("…")
    assert ("it runs " * 20).strip() in printed(run(slow), slowest=1)


def test_a_scenario_about_the_cluster_is_marked() -> None:
    text = printed(run(result("JOB-01", tests_the_cluster=True), result("PRE-01")))
    assert "JOB-01  must †" in text
    assert "† tests the cluster, not the scheduler" in text
    assert "†" not in printed(run(result("PRE-01")))


def test_rounds_that_differ_are_unstable() -> None:
    rounds = [result("PRE-01", round=n, rounds=10) for n in range(1, 10)]
    rounds.append(result("PRE-01", Verdict.FAILED, round=10, rounds=10, message="seen x"))
    (row,) = rows(rounds)
    assert row.cells["verdict"] == "unstable 9/10 (1 failed)"
    assert [row.cells["verdict"] for row in rows([*rounds[:9], result("PRE-01", round=10, rounds=10)])] == [
        "passed 10/10"
    ]
    assert "PRE-01 failed, round 10/10: Title of PRE-01\n  seen x\n" in printed(run(*rounds))
    assert conclusion(run(*rounds)) == "kube-scheduler does not pass muster: 1 of 1 MUSTs failed"


def test_the_slowest_are_shown_with_their_longest_step() -> None:
    steps = [StepResult("Given", "a node", "passed", 0.5), StepResult("Then", "it runs", "passed", 3.25)]
    slow = result("PRE-02", seconds=4.0, setup_seconds=1.0, teardown_seconds=0.5, steps=steps)
    text = printed(run(result("PRE-01"), slow, result("PRE-03")), slowest=1)
    assert "   5.5 s  PRE-02  set-up 1.0, steps 4.0, clean-up 0.5; longest 3.2: Then it runs" in text
    assert "s  PRE-01" not in text
    assert "slowest scenarios" not in printed(run(slow), slowest=0)


def test_the_reproduce_command_is_printed_once() -> None:
    command = "muster run --scheduler kube-scheduler --only PRE-01 --keep"
    text = printed(run(result("PRE-01", Verdict.FAILED, message=f"seen x\nrepeat   {command}")))
    assert text.count(command) == 1


def test_a_growing_results_file_is_read_line_by_line(tmp_path: Path) -> None:
    reader = ResultsReader(tmp_path)
    assert reader.new() == []
    append_result(tmp_path, result("PRE-01"))
    with (tmp_path / "results.jsonl").open("ab") as file:
        file.write(b'{"id": "PRE-02", "lev')
    assert [each.id for each in reader.new()] == ["PRE-01"]
    assert reader.new() == []


def test_an_unstable_behaviour_in_a_real_run(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it is violated every other time")))
    ran = suite.muster("run", "--repeat", "4", "--workers", "2")
    assert ran.returncode == 1
    assert "unstable 2/4 (2 failed)" in ran.stdout
    assert sorted(each["round"] for each in suite.results()) == [1, 2, 3, 4]
