"""The changes between two matrices as text for the terminal, and as a section of the Markdown and the HTML page.

Names and verdicts come from a file that the user named: they are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from muster.report.markdown import escaped
from muster.report.matrix.changes import Changes
from muster.report.sanitize import one_line

_LONGEST = 120  # characters of a name
_NONE = "No verdict, behaviour or scheduler changed."


def to_text(changes: Changes) -> str:
    """Aligned lines: a change each, then what only one of the matrices has."""
    rows = [[one_line(cell, _LONGEST) for cell in row] for row in _rows(changes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"since {one_line(changes.since, _LONGEST)}: {_summary(changes)}"]
    for scheduler, id_, before, now in rows:
        lines.append(f"  {scheduler:{widths[0]}}  {id_:{widths[1]}}  {before:{widths[2]}}  ->  {now}")
    lines += [f"  {name}: {', '.join(one_line(one, _LONGEST) for one in found)}" for name, found in _lists(changes)]
    return "\n".join(lines)


def to_markdown(changes: Changes) -> Iterator[str]:
    yield from (f"## Changes since {escaped(changes.since)}", "")
    if not _rows(changes) and not _lists(changes):
        yield from (_NONE, "")
    if _rows(changes):
        yield from ("| scheduler | id | before | now |", "|---|---|---|---|")
        yield from (f"| {' | '.join(escaped(cell) for cell in row)} |" for row in _rows(changes))
        yield ""
    for name, found in _lists(changes):
        yield from (f"{name.capitalize()}: {', '.join(map(escaped, found))}.", "")


def to_html(changes: Changes) -> Iterator[str]:
    yield f"<h2>Changes since <code>{_html(changes.since)}</code></h2>\n"
    if not _rows(changes) and not _lists(changes):
        yield f"<p>{_NONE}</p>\n"
    if _rows(changes):
        heading = "".join(f"<th>{name}</th>" for name in ("scheduler", "id", "before", "now"))
        yield f'<div class="wide">\n<table>\n<thead><tr>{heading}</tr></thead>\n<tbody>\n'
        for scheduler, id_, before, now in _rows(changes):
            named = f"<td>{_html(scheduler)}</td><td>{_html(id_)}</td>"
            yield f"<tr>{named}{_html_verdict(before)}{_html_verdict(now)}</tr>\n"
        yield "</tbody>\n</table>\n</div>\n"
    for name, found in _lists(changes):
        yield f"<p>{name.capitalize()}: {', '.join(map(_html, found))}.</p>\n"


def _rows(changes: Changes) -> list[tuple[str, str, str, str]]:
    return [(one.scheduler, one.id, one.before, one.now) for one in changes.verdicts]


def _lists(changes: Changes) -> list[tuple[str, Sequence[str]]]:
    """What is not empty, with its name."""
    lists = [
        ("new behaviours", changes.new_behaviours),
        ("behaviours removed or not selected", changes.removed_behaviours),
        ("new schedulers", changes.new_schedulers),
        ("schedulers removed or not selected", changes.removed_schedulers),
    ]
    return [(name, found) for name, found in lists if found]


def _summary(changes: Changes) -> str:
    number = len(changes.verdicts)
    return f"{number or 'no'} verdict{'s' * (number != 1)} changed"


def _html_verdict(text: str) -> str:
    """In the colour of the verdict."""
    return f'<td class="{_html(text.partition(" ")[0])}">{_html(text)}</td>'


def _html(text: str) -> str:
    return escape(one_line(text, _LONGEST))
