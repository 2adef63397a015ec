"""What `muster report` adds to Allure: history of earlier runs, settings, a page without analytics."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from muster.errors import HarnessError, UsageError
from muster.report import html, nodejs

PAGE = """<html><body><script src="app.js"></script>
    <script async src="https://www.googletagmanager.com/gtag/js?id=G-X"></script>
    <script>
        function gtag(){dataLayer.push(arguments);}
        gtag('js', new Date());
    </script>
<script>window.allureReportDataReady = true;</script></body></html>"""

FAKE_ALLURE = """
import json, pathlib, sys
settings = json.loads(pathlib.Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
made = pathlib.Path(settings["output"])
made.mkdir()
(made / "index.html").write_text(pathlib.Path(__file__).with_name("page.html").read_text())
history = pathlib.Path(settings["historyPath"])
known = history.read_text().splitlines()
(made / "seen.json").write_text(json.dumps({"settings": settings, "known": known}))
source = pathlib.Path(sys.argv[-1]).parent.name
history.write_text("".join(line + "\\n" for line in [*known, json.dumps({"of": source})]))
"""


@pytest.fixture(autouse=True)
def allure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fake of Allure's command that records its arguments; tests in the browser use the real one."""
    tool = tmp_path / "tool"
    tool.mkdir()
    (tool / "allure.py").write_text(FAKE_ALLURE)
    (tool / "page.html").write_text(PAGE)
    monkeypatch.setattr(nodejs, "allure", lambda print_line: [sys.executable, str(tool / "allure.py")])


def a_run(parent: Path, name: str, at: int, scheduler: str = "reference") -> Path:
    results = parent / "results" / name
    (results / "allure").mkdir(parents=True)
    (results / "allure" / "1-result.json").write_text("{}")
    executor = {"buildName": f"muster run --scheduler {scheduler}"}
    (results / "allure" / "executor.json").write_text(json.dumps(executor))
    (results / "results.jsonl").write_text("")
    os.utime(results / "results.jsonl", (at, at))
    return results


def known(results: Path) -> list[str]:
    seen = json.loads((results / "report" / "seen.json").read_text())
    return [json.loads(line)["of"] for line in seen["known"]]


def make(results: Path) -> Path:
    return html.generate(results, single_file=False, print_line=lambda _: None)


def test_the_page_has_no_analytics(tmp_path: Path) -> None:
    page = make(a_run(tmp_path, "one", 1)).read_text()
    assert "googletagmanager" not in page
    assert "gtag" not in page
    assert "allureReportDataReady" in page
    assert 'src="app.js"' in page


def test_earlier_runs_of_the_same_scheduler_are_its_history(tmp_path: Path) -> None:
    runs = [a_run(tmp_path, name, at) for at, name in enumerate(("one", "two", "three"))]
    a_run(tmp_path, "other", 1, "volcano")
    make(tmp_path / "results" / "other")
    for run in runs:
        make(run)
    assert [known(run) for run in runs] == [[], ["one"], ["one", "two"]]


def test_a_report_made_twice_counts_once(tmp_path: Path) -> None:
    one, two = a_run(tmp_path, "one", 1), a_run(tmp_path, "two", 2)
    for run in (one, one, two, one, two):
        make(run)
    assert known(two) == ["one"]
    assert (one / "history.jsonl").read_text().count("\n") == 1


def test_the_settings_name_the_scheduler_and_the_categories(tmp_path: Path) -> None:
    run = a_run(tmp_path, "one", 1, "volcano:preempt")
    make(run)
    settings = json.loads((run / "report" / "seen.json").read_text())["settings"]
    assert settings["name"] == "volcano:preempt"
    assert [rule["matchers"]["labels"]["verdict"] for rule in settings["categories"]] == [
        "failed",
        "error",
        "not-supported",
        "not-staged",
        "skipped",
    ]


def test_no_results_no_report(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no results of a run"):
        make(tmp_path)


def test_the_command_reports_missing_results(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "muster", "report", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (64, "")
    assert "has no results of a run" in ran.stderr


def test_an_error_of_allure_is_reported(tmp_path: Path) -> None:
    (tmp_path / "tool" / "allure.py").write_text("import sys; sys.exit('no space on the disk')")
    run = a_run(tmp_path, "one", 1)
    with pytest.raises(HarnessError, match=r"could not generate the report of .*: no space on the disk"):
        make(run)
    assert not (run / "report").exists()


def test_the_lock_files_pin_everything() -> None:
    directory = Path(__file__).resolve().parents[3] / "ci" / "allure"
    lock = json.loads((directory / "package-lock.json").read_text())
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert all(one.get("integrity") for one in packages.values())
    assert packages["node_modules/allure"]["version"].startswith("3.")
    assert (directory / "nodejs.txt").read_text().count("--hash=sha256:") == 4
