"""Evidence of a scenario: always a timeline, and after a failure nodes, objects, events and logs.

Taken before the cleanup: the end of a scenario removes its objects, the end of a run its logs. Collecting evidence must
never change a verdict, so an exception here becomes an attachment that reports it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from muster.assertions.failure_report import node_table
from muster.recording.history import History
from muster.recording.pod_history import ROLE_LABEL
from muster.recording.records import Record
from muster.report import allure_files
from muster.report.results import SCRIPT_DIRECTORY, TIMELINE_DIRECTORY
from muster.report.sanitize import one_line, read_from
from muster.report.timeline import from_history, svg, text
from muster.report.timeline.timeline import StepOutcome, Timeline, to_json

_MOST_OBJECTS = 60
_MOST_EVENTS = 400
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Evidence:
    """Evidence of one scenario: its history, and what is appended to the logs from now on."""

    def __init__(self, history: History, logs: Mapping[str, Path]) -> None:
        self._history = history
        self._logs = [(name, file, _size(file)) for name, file in logs.items()]

    @property
    def began(self) -> float:
        """When the scenario began, by the monotonic clock."""
        return self._history.began

    def of_failure(self, failure_report: str) -> None:
        """Attach the failure report and everything that it was made from to the step that failed."""
        allure_files.attach("failure report", failure_report)
        self._show("nodes", self._nodes)
        self._show("objects", self._objects, allure_files.YAML)
        self._show("events", self._events)
        allure_files.attach_logs("log", self._logs)

    def timeline(self, title: str, steps: Sequence[StepOutcome], directory: Path | None, name: str) -> None:
        """Attach the timeline as SVG, text and JSON; also write it into the results, for readers without a report."""
        try:
            with self._history.changed:
                drawn = from_history.read(self._history, title, steps)
            self._keep_timeline(drawn, directory, name)
        except Exception as problem:  # a timeline that cannot be drawn does not change the verdict
            allure_files.attach("timeline", f"cannot be drawn: {type(problem).__name__}: {problem}")

    def _keep_timeline(self, drawn: Timeline, directory: Path | None, name: str) -> None:
        picture = svg.draw(drawn)
        allure_files.attach("timeline", picture, allure_files.SVG)
        allure_files.attach("timeline as text", text.write(drawn))
        allure_files.attach("timeline as data", to_json(drawn).decode(), allure_files.JSON)
        if directory:
            target = directory / TIMELINE_DIRECTORY
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{name}.svg").write_text(picture, encoding="utf-8")
            (target / f"{name}.json").write_bytes(to_json(drawn))

    def _show(self, name: str, make: Callable[[], str], kind: Any = allure_files.TEXT) -> None:
        try:
            with self._history.changed:
                body = make()
        except Exception as problem:
            body, kind = f"cannot be shown: {type(problem).__name__}: {problem}", allure_files.TEXT
        allure_files.attach(name, body, kind)

    def _nodes(self) -> str:
        return "\n".join(node_table(self._history, self._history.pods))

    def _events(self) -> str:
        lines = []
        for moment, event in self._history.events():
            about = f"{event.involved_object.kind} {event.involved_object.name}"
            text = f"{event.type:8}{event.reason}: {event.message}"
            lines.append(f"{self._history.seconds(moment):8.2f} s  {one_line(f'{about}  {text}', 2000)}")
        missing = len(lines) - _MOST_EVENTS
        return "\n".join([f"… {missing} earlier events", *lines[-_MOST_EVENTS:]] if missing > 0 else lines)

    def _objects(self) -> str:
        """Each object as it was last seen, newest first."""
        newest: dict[tuple[str, str, str], Record] = {}
        for records in self._history.records.values():
            for record in records:
                if record.kind != "Event" and ROLE_LABEL not in record.object.metadata.labels:
                    newest[record.kind, *record.key] = record
        shown = sorted(newest.values(), key=lambda record: record.moment, reverse=True)
        manifests = [_manifest(self._history, record) for record in shown[:_MOST_OBJECTS]]
        if len(shown) > _MOST_OBJECTS:
            manifests.append(f"# … and {len(shown) - _MOST_OBJECTS} more objects\n")
        return "---\n".join(manifests)


def keep_script(script: str, directory: Path | None, name: str) -> None:
    """Attach a failed scenario as kubectl commands, and write it into the results."""
    allure_files.attach("the same with kubectl", script)
    if directory:
        target = directory / SCRIPT_DIRECTORY
        target.mkdir(parents=True, exist_ok=True)
        (target / f"{name}.sh").write_text(script, encoding="utf-8")


def of_run(logs: Mapping[str, Path], configurations: Mapping[str, Path], facts: Mapping[str, str], worker: str) -> None:
    """Attach versions, configurations and logs to the whole run; each worker has its own."""
    whose = f" ({worker})" if worker else ""
    allure_files.attach_to_run(f"versions{whose}", "".join(f"{name}: {value}\n" for name, value in facts.items()))
    for name, file in configurations.items():
        allure_files.attach_to_run(f"configuration: {name}{whose}", read_from(file), allure_files.YAML)
    for name, file in logs.items():
        allure_files.attach_to_run(f"log: {name}{whose}", read_from(file))


def _manifest(history: History, record: Record) -> str:
    content = json.loads(record.raw)
    content.get("metadata", {}).pop("managedFields", None)
    at = history.seconds(record.moment)
    state = f"# {record.kind} {one_line(record.key[1], 80)}, {record.change.lower()} at {at:.2f} s\n"
    return state + yaml.dump(content, Dumper=_Dumper, allow_unicode=True, sort_keys=False)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
