"""Results of a run, one JSON line per scenario and round: the only source of the table, JUnit and all reports.

Lines are appended and flushed as scenarios end, so that an interrupted or killed run keeps its results. Versions and
configuration are recorded with `record_environment` and kept in environment.json. The names of the fields in files are
those of version 0.1.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from muster.verdicts import Verdict

RESULTS_FILE = "results.jsonl"
ENVIRONMENT_FILE = "environment.json"
LOG_FILE = "pytest.log"
ALLURE_DIRECTORY = "allure"
TIMELINE_DIRECTORY = "timelines"  # SVG and JSON of each scenario
SCRIPT_DIRECTORY = "kubectl"  # each failed scenario as a shell script
_OPERATOR = "jobs"  # the capability of an operator

_environment: dict[str, str] = {}


class StepResult(msgspec.Struct, frozen=True):
    """One step of the scenario and its status; a step after a failed one is not run and not listed."""

    keyword: str
    text: str
    status: str
    seconds: float


class Result(msgspec.Struct, frozen=True):
    """Result of one scenario in one round."""

    id: str
    level: str
    capabilities: list[str]
    title: str
    verdict: Verdict
    round: int = 1
    rounds: int = 1
    example: str = ""
    seconds: float = 0.0
    setup_seconds: float = 0.0
    teardown_seconds: float = 0.0
    message: str = ""
    worker: str = "main"
    tests_the_cluster: bool = msgspec.field(default=False, name="judges_the_cluster")
    feature: str = ""
    steps: list[StepResult] = []
    node_id: str = ""
    nodes: str = ""  # "real", or "simulated: why"; empty where there is no choice

    @property
    def name(self) -> str:
        """The id, with the row of an outline where there is one."""
        return f"{self.id}[{self.example}]" if self.example else self.id

    @property
    def tests_the_operator(self) -> bool:
        """Whether it is about the training operator, which is a part of the cluster."""
        return self.tests_the_cluster and _OPERATOR in self.capabilities

    @property
    def file_name(self) -> str:
        """Base name of files about it: unique per row and round, and safe in any file system."""
        return file_name(self.id, self.example, self.round, self.rounds)


def file_name(id_: str, example: str, round_: int, rounds: int) -> str:
    """See Result.file_name; rows that differ only in special characters are distinguished by a checksum."""
    row = re.sub(r"[^A-Za-z0-9._-]", "_", example)[:60]
    check = f"-{zlib.crc32(example.encode('utf-8', 'replace')):08x}" if row != example else ""
    parts = [id_, f"{row}{check}" if example else "", f"round{round_}" if rounds > 1 else ""]
    return "-".join(filter(None, parts))


def append_result(directory: Path, result: Result) -> None:
    """Add one line; it is complete on disk when this returns."""
    with (directory / RESULTS_FILE).open("ab") as file:
        file.write(msgspec.json.encode(result) + b"\n")
        file.flush()


def read_results(directory: Path) -> list[Result]:
    """Every complete line, in the order in which the scenarios ended."""
    return ResultsReader(directory).new()


class ResultsReader:
    """Follows a growing results file: each call of `new` returns the lines added since."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / RESULTS_FILE
        self._offset = 0

    def new(self) -> list[Result]:
        """Complete lines that were not returned before."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._offset)
            added = file.read()
        complete = added[: added.rfind(b"\n") + 1]
        self._offset += len(complete)
        return [msgspec.json.decode(line, type=Result) for line in complete.splitlines() if line]


def record_environment(facts: Mapping[str, object]) -> None:
    """Record versions and settings, e.g. {"scheduler version": "v1.37.1"}, for the reports."""
    _environment.update({name: str(value) for name, value in facts.items()})


def recorded_environment() -> dict[str, str]:
    """What was recorded in this process so far."""
    return dict(_environment)


def save_environment(directory: Path, facts: Mapping[str, str]) -> None:
    """Write the facts into the results and for Allure. Workers write the same: the last one wins."""
    known = {**read_environment(directory), **facts}
    _replace(directory / ENVIRONMENT_FILE, json.dumps(known, indent=2) + "\n")
    properties = "".join(f"{name.replace(' ', '.')} = {' '.join(value.split())}\n" for name, value in known.items())
    _replace(directory / ALLURE_DIRECTORY / "environment.properties", properties)


def read_environment(directory: Path) -> dict[str, str]:
    """The recorded facts of a run, empty when none were recorded."""
    file = directory / ENVIRONMENT_FILE
    if not file.exists():
        return {}
    facts: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return facts


def _replace(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)
