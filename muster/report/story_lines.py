"""The story of a red result as lines for a screen: words are wrapped below their label, commands stay in one piece."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import wrap

from muster.report import timeline_text
from muster.report.plain_text import cut, plain
from muster.report.results import TIMELINE_DIRECTORY, Result
from muster.report.timeline import from_json

_LONGEST_STORY = 8_000  # characters
_LABELLED = re.compile(r"(?!nodes )(?P<label>[a-z]+ +)\S")  # `seen     two victims`, but no row of the table of nodes
_COMMAND = re.compile(r"\bmuster [a-z]")
_USUAL_WIDTH, _WIDEST_TIMELINE = 100, 160


def story(result: Result, run_command: str, directory: Path, width: int | None) -> list[str]:
    """At most `width` letters a line where there is a width; in a log nothing is broken."""
    message = cut(plain(result.message), _LONGEST_STORY).splitlines()
    lines = [part for line in message for part in (_wrapped(line, width) if width else [line])]
    lines += _timeline(result, directory, min(width, _WIDEST_TIMELINE) if width else _USUAL_WIDTH)
    command = f"{run_command} --only {result.id} --keep"  # runs this one again and keeps the scene
    return lines if command in result.message else [*lines, f"reproduce with: {command}"]


def _wrapped(line: str, width: int) -> list[str]:
    labelled = _LABELLED.match(line)
    if len(line) <= width or not labelled or _COMMAND.search(line):
        return [line]
    return wrap(line, width, subsequent_indent=" " * len(labelled["label"]), break_on_hyphens=False)


def _timeline(result: Result, directory: Path, width: int) -> list[str]:
    """What happened, as far as a terminal can show it; nothing where no picture was taken."""
    file = directory / TIMELINE_DIRECTORY / f"{result.file_name}.json"
    try:
        timeline = from_json(file.read_bytes())
    except (OSError, ValueError):
        return []
    return ["", *timeline_text.write(timeline, width).splitlines(), f"picture: {file.with_suffix('.svg')}"]
