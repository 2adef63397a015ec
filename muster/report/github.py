"""What GitHub shows of a run: a summary on the job's page and a note at the feature of every red line.

A workflow command ends at the end of its line and a table at a pipe, so foreign words are bent to fit both. Fences are
longer than any run of backticks inside them, and GitHub itself takes scripts out of what it shows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from muster.catalogue import in_order
from muster.report.plain_text import cut, one_line, plain
from muster.report.results import Result
from muster.verdicts import Verdict

_SIGNS = {Verdict.PASSED: "✅", Verdict.FAILED: "❌", Verdict.ERROR: "💥"}
_MOST_NOTES = 10  # GitHub shows no more of a kind for one step
_LONGEST_STORY = 6_000
_LONGEST_SUMMARY = 900_000  # GitHub refuses a summary of more than 1 MiB


def announce(results: Sequence[Result], conclusion: str, facts: Mapping[str, str], out: TextIO) -> None:
    """Only where GitHub Actions says that it is there."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        out.writelines(f"{note}\n" for note in notes(results))
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(file).open("a", encoding="utf-8") as summary_file:
            summary_file.write(summary(results, conclusion, facts))


@contextmanager
def words_only(out: TextIO) -> Iterator[None]:
    """While foreign words are printed, GitHub takes none of them for a command."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        yield
        return
    token = uuid4().hex
    out.write(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        out.write(f"::{token}::\n")


def notes(results: Sequence[Result]) -> list[str]:
    """Workflow commands: failures as errors, our own trouble as warnings."""
    commands = []
    for result in _bad(results)[:_MOST_NOTES]:
        kind = "error" if result.verdict is Verdict.FAILED else "warning"
        title = _property(f"{result.name} {result.verdict}: {result.title}")
        story = _data(cut(plain(result.message), _LONGEST_STORY))
        commands.append(f"::{kind} file={_property(result.feature)},title={title}::{story}")
    return commands


def summary(results: Sequence[Result], conclusion: str, facts: Mapping[str, str]) -> str:
    """Markdown: the sentence, the table, and each story to be unfolded."""
    lines = [f"## {_cell(conclusion)}", "", "| | id | level | verdict | seconds | title |", "|-|-|-|-|-:|-|"]
    for result in sorted(results, key=lambda one: (in_order(one.name), one.round)):
        sign = _SIGNS.get(result.verdict, "➖")
        cells = [sign, result.name, result.level, str(result.verdict), f"{result.seconds:.1f}", result.title]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    for result in _bad(results):
        story = cut(plain(result.message), _LONGEST_STORY)
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", story)), default=0))
        headline = _cell(f"{result.name} {result.verdict}: {result.title}")
        lines += ["", f"<details><summary>{headline}</summary>", "", f"{fence}text", story, fence, "", "</details>"]
    lines += ["", *(f"- {_cell(name)}: {_cell(value)}" for name, value in facts.items()), ""]
    return cut("\n".join(lines), _LONGEST_SUMMARY) + "\n"


def _bad(results: Sequence[Result]) -> list[Result]:
    bad = [result for result in results if result.verdict in (Verdict.FAILED, Verdict.ERROR)]
    return sorted(bad, key=lambda result: (in_order(result.name), result.round))


def _cell(text: str) -> str:
    escaped = re.sub(r"([\\`*_{}\[\]<>|~#])", r"\\\1", one_line(text, 300))
    return escaped.replace("\\<", "&lt;").replace("\\>", "&gt;")


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(one_line(text, 300)).replace(":", "%3A").replace(",", "%2C")
