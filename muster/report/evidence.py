"""What a scenario leaves to its readers: a timeline always, and where it went wrong all that is needed to find out why.

Taken while everything is still there: the clean-up of a scenario removes its objects, the end of a run its logs. Taking
it must never change a verdict, so whatever goes wrong here becomes an attachment that says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from muster.chronicle.history import History
from muster.chronicle.lifelines import ROLE_LABEL
from muster.chronicle.records import Record
from muster.chronicle.stories import node_table
from muster.report import attachments, timeline_reading, timeline_svg, timeline_text
from muster.report.plain_text import one_line, read_from
from muster.report.results import TIMELINE_DIRECTORY
from muster.report.timeline import Sentence, Timeline, to_json

_MOST_OBJECTS = 60
_MOST_EVENTS = 400
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Evidence:
    """Of one scenario: its history, and its share of the logs, which is what they grow by from now on."""

    def __init__(self, history: History, logs: Mapping[str, Path]) -> None:
        self._history = history
        self._logs = [(name, file, _size(file)) for name, file in logs.items()]

    @property
    def began(self) -> float:
        """When the scenario began, by the monotonic clock."""
        return self._history.began

    def of_failure(self, story: str) -> None:
        """Beside the step that failed: the story, then everything that it was made from."""
        attachments.attach("story", story)
        self._show("nodes", self._nodes)
        self._show("objects", self._objects, attachments.YAML)
        self._show("events", self._events)
        attachments.attach_logs("log", self._logs)

    def timeline(self, title: str, sentences: Sequence[Sentence], directory: Path | None, name: str) -> None:
        """As a picture, as text and as data; kept beside the results as well, to be seen without a report."""
        try:
            with self._history.changed:
                drawn = timeline_reading.read(self._history, title, sentences)
            self._keep_timeline(drawn, directory, name)
        except Exception as problem:  # a picture that cannot be drawn is no verdict
            attachments.attach("timeline", f"cannot be drawn: {type(problem).__name__}: {problem}")

    def _keep_timeline(self, drawn: Timeline, directory: Path | None, name: str) -> None:
        picture = timeline_svg.draw(drawn)
        attachments.attach("timeline", picture, attachments.SVG)
        attachments.attach("timeline as text", timeline_text.write(drawn))
        attachments.attach("timeline as data", to_json(drawn).decode(), attachments.JSON)
        if directory:
            place = directory / TIMELINE_DIRECTORY
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{name}.svg").write_text(picture, encoding="utf-8")
            (place / f"{name}.json").write_bytes(to_json(drawn))

    def _show(self, name: str, make: Callable[[], str], kind: Any = attachments.TEXT) -> None:
        try:
            with self._history.changed:
                body = make()
        except Exception as problem:
            body, kind = f"cannot be shown: {type(problem).__name__}: {problem}", attachments.TEXT
        attachments.attach(name, body, kind)

    def _nodes(self) -> str:
        return "\n".join(node_table(self._history, self._history.pods))

    def _events(self) -> str:
        lines = []
        for moment, event in self._history.events():
            about = f"{event.involved_object.kind} {event.involved_object.name}"
            said = f"{event.type:8}{event.reason}: {event.message}"
            lines.append(f"{self._history.seconds(moment):8.2f} s  {one_line(f'{about}  {said}', 2000)}")
        missing = len(lines) - _MOST_EVENTS
        return "\n".join([f"… {missing} earlier ones", *lines[-_MOST_EVENTS:]] if missing > 0 else lines)

    def _objects(self) -> str:
        """Each object as it was last seen, newest first."""
        newest: dict[tuple[str, str, str], Record] = {}
        for records in self._history.records.values():
            for record in records:
                if record.kind != "Event" and ROLE_LABEL not in record.object.metadata.labels:
                    newest[record.kind, *record.key] = record
        shown = sorted(newest.values(), key=lambda record: record.moment, reverse=True)
        documents = [_document(self._history, record) for record in shown[:_MOST_OBJECTS]]
        if len(shown) > _MOST_OBJECTS:
            documents.append(f"# … and {len(shown) - _MOST_OBJECTS} that did not change since\n")
        return "---\n".join(documents)


def of_run(logs: Mapping[str, Path], configurations: Mapping[str, Path], facts: Mapping[str, str], worker: str) -> None:
    """For the whole run: what it was made of, how its parts were set up, what they logged; each worker has its own."""
    whose = f" ({worker})" if worker else ""
    attachments.attach_to_run(f"versions{whose}", "".join(f"{name}: {value}\n" for name, value in facts.items()))
    for name, file in configurations.items():
        attachments.attach_to_run(f"configuration: {name}{whose}", read_from(file), attachments.YAML)
    for name, file in logs.items():
        attachments.attach_to_run(f"log: {name}{whose}", read_from(file))


def _document(history: History, record: Record) -> str:
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
