"""The HTML report of a run, made by Allure 3, with what earlier runs of the same scheduler gave.

Each run keeps its own point of the history beside its results, and a report is given those of its earlier neighbours:
a report made twice counts once, and a run that is removed takes its part with it. Trap: Allure's page calls a service
that counts its readers; what was judged on somebody's cluster is nobody's business, so that call is taken out.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from muster.errors import HarnessError, UsageError
from muster.report import node
from muster.report.allure_files import categories
from muster.report.results import ALLURE_DIRECTORY, RESULTS_FILE

REPORT_DIRECTORY = "report"
HISTORY_FILE = "history.jsonl"
_MOST_RUNS = 20
_HIDDEN = ("as_id", "host", "thread", "framework", "language", "package", "parentSuite", "suite")
_COUNTING = re.compile(
    r'<script async src="https://www\.googletagmanager\.com/[^"]*"></script>\s*<script>[^<]*gtag\([^<]*</script>'
)


def make(results: Path, *, single_file: bool, say: Callable[[str], None]) -> Path:
    """The report's first page, in `report` beside the results."""
    source = results / ALLURE_DIRECTORY
    if not any(source.glob("*-result.json")):
        raise UsageError(f"{results} holds no results of a run: name a directory that `muster run` has written")
    command = node.allure(say)
    with tempfile.TemporaryDirectory(prefix="muster-report-") as work:
        place = Path(work)
        history = place / HISTORY_FILE
        history.write_text("".join(f"{line}\n" for line in _earlier(results)), encoding="utf-8")
        made = _generate(command, source, place, history, single_file=single_file)
        _stop_counting(made / "index.html")
        _keep_history(results, history)
        report = results / REPORT_DIRECTORY
        shutil.rmtree(report, ignore_errors=True)
        shutil.move(made, report)
    return report / "index.html"


def _generate(command: list[str], source: Path, work: Path, history: Path, *, single_file: bool) -> Path:
    made, settings = work / REPORT_DIRECTORY, work / "allurerc.json"
    settings.write_text(json.dumps(_settings(made, history, _name(source), single_file=single_file)), encoding="utf-8")
    ran = subprocess.run(
        [*command, "generate", "--config", str(settings), str(source)],
        cwd=work,
        capture_output=True,
        check=False,
    )
    if ran.returncode or not (made / "index.html").is_file():
        said = (ran.stderr or ran.stdout).decode("utf-8", "replace").strip().splitlines() or ["no output"]
        raise HarnessError(f"Allure could not make the report of {source}: {said[-1]}")
    return made


def _settings(made: Path, history: Path, name: str, *, single_file: bool) -> dict[str, Any]:
    options = {
        "reportName": name,
        "singleFile": single_file,
        "theme": "auto",
        "groupBy": ["epic", "feature"],
        "reportLanguage": "en",
    }
    return {
        "name": name,
        "output": str(made),
        "historyPath": str(history),
        "historyLimit": _MOST_RUNS,
        "categories": categories(),
        "hideLabels": list(_HIDDEN),
        "plugins": {"awesome": {"options": options}},
    }


def _name(source: Path) -> str:
    return _build(source.parent).removeprefix("muster run --scheduler ") or "Muster"


def _build(results: Path) -> str:
    try:
        executor = json.loads((results / ALLURE_DIRECTORY / "executor.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return str(executor.get("buildName", ""))


def _earlier(results: Path) -> list[str]:
    """The points of earlier runs of the same scheduler that lie beside this one, oldest first."""
    this, build = _when(results), _build(results)
    neighbours = [file.parent for file in results.resolve().parent.glob(f"*/{HISTORY_FILE}")]
    earlier = {run.resolve() for run in neighbours if _when(run) < this and _build(run) == build}
    points = [(run / HISTORY_FILE).read_text(encoding="utf-8").strip() for run in sorted(earlier, key=_when)]
    return [point for point in points if point][-_MOST_RUNS:]


def _when(results: Path) -> float:
    try:
        return (results / RESULTS_FILE).stat().st_mtime
    except OSError:
        return 0.0


def _keep_history(results: Path, history: Path) -> None:
    lines = history.read_text(encoding="utf-8").splitlines()
    if lines:
        (results / HISTORY_FILE).write_text(f"{lines[-1]}\n", encoding="utf-8")


def _stop_counting(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    page.write_text(_COUNTING.sub("", text, count=1), encoding="utf-8")
