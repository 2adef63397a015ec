"""The matrix as one page: a table that needs no script, with filters and sorting on top where scripts run.

All that comes from elsewhere (titles, stories, versions) is escaped; the script knows only the page's own attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from muster.matrix.columns import Column, Matrix, Row, words
from muster.report.conformance import FILE
from muster.report.conformance_format import Judgement

_STYLE = Path(__file__).with_name("page.css")
_SCRIPT = Path(__file__).with_name("page.js")
_LEGEND = (
    "A red or yellow cell leads to what was seen, a green one to its picture; the numbers are <em>passed of runs</em>. "
    "What a scheduler does not claim is not asked of it (<em>not-supported</em>); what could not be set up is "
    "<em>not-staged</em>."
)
_WITH_A_STORY = ("failed", "unstable", "error")


def write(matrix: Matrix) -> str:
    """The whole page."""
    return "".join(_parts(matrix))


def _parts(matrix: Matrix) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>Behaviours by schedulers</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n"
    yield f"<body>\n<h1>Behaviours by schedulers</h1>\n<p>Made with <code>{escape(matrix.command)}</code></p>\n"
    yield f"<p>Any cell again, from a fresh clone: <code>{escape(matrix.again)}</code></p>\n"
    yield from _summary(matrix)
    yield f"<h2>Every behaviour</h2>\n<p>{_LEGEND}</p>\n"
    yield '<form id="filters" hidden></form>\n<div class="wide">\n<table id="matrix">\n'
    yield from _head(matrix)
    for profile in matrix.profiles:
        yield f'<tbody data-profile="{escape(profile)}">\n'
        yield f'<tr class="profile"><th colspan="{2 + len(matrix.columns)}">{escape(profile or "other")}</th></tr>\n'
        for row in matrix.of_profile(profile):
            yield from _row(matrix, row)
        yield "</tbody>\n"
    yield "</table>\n</div>\n"
    yield from _stories(matrix)
    yield f"<script>\n{_SCRIPT.read_text(encoding='utf-8')}</script>\n</body>\n</html>\n"


def _summary(matrix: Matrix) -> Iterator[str]:
    """What a platform engineer looks for first."""
    yield '<h2>The MUSTs of each profile</h2>\n<div class="wide">\n<table>\n<thead><tr><th class="id">profile</th>'
    yield "".join(f"<th>{_breakable(column.title)}</th>" for column in matrix.columns) + "</tr></thead>\n<tbody>\n"
    for profile in filter(None, matrix.profiles):
        yield f'<tr><th class="id">{escape(profile)}</th>'
        for core in (column.core(profile) for column in matrix.columns):
            yield f'<td class="{core.partition(" ")[0] or "none"}">{escape(core)}</td>'
        yield "</tr>\n"
    yield "</tbody>\n</table>\n</div>\n"


def _head(matrix: Matrix) -> Iterator[str]:
    yield '<thead>\n<tr><th class="id">id</th><th class="what">behaviour</th>'
    for column in matrix.columns:
        yield f'<th><a href="{escape(column.directory)}/{FILE}">{_breakable(column.title)}</a>'
        yield f"<small>{escape(column.version)}</small></th>"
    yield "</tr>\n</thead>\n"


def _row(matrix: Matrix, row: Row) -> Iterator[str]:
    yield f'<tr data-level="{escape(row.level)}"><th class="id" id="{row.id}">{row.id}</th>'
    yield f'<td class="what">{escape(row.title)} <small>{escape(row.level)}</small></td>'
    for column in matrix.columns:
        yield _cell(column, column.cell(row.id))
    yield "</tr>\n"


def _cell(column: Column, cell: Judgement | None) -> str:
    if cell is None:
        return '<td class="none"></td>'
    text = escape(words(cell))
    if cell.verdict in _WITH_A_STORY:
        text = f'<a href="#{_anchor(column, cell)}">{text}</a>'
    elif cell.evidence:
        text = f'<a href="{escape(column.directory)}/{escape(cell.evidence)}">{text}</a>'
    return f'<td class="{cell.verdict}">{text}</td>'


def _stories(matrix: Matrix) -> Iterator[str]:
    yield "<h2>What was seen where it did not pass</h2>\n"
    for row in matrix.rows:
        for column in matrix.columns:
            cell = column.cell(row.id)
            if cell is not None and cell.verdict in _WITH_A_STORY:
                yield from _story(column, cell)


def _story(column: Column, cell: Judgement) -> Iterator[str]:
    title = f"{cell.id} on {column.title}: {words(cell)}"
    yield f'<section id="{_anchor(column, cell)}">\n<h3>{escape(title)}</h3>\n<p>{escape(cell.title)}</p>\n'
    yield f"<pre>{escape(cell.story)}</pre>\n<p><code>{escape(cell.reproduce)}</code>"
    if cell.evidence:
        yield f' · <a href="{escape(column.directory)}/{escape(cell.evidence)}">timeline</a>'
    yield f' · <a href="#{cell.id}">back to the table</a></p>\n</section>\n'


def _breakable(title: str) -> str:
    """A scheduler's name, which may go on in the next line where its configuration or its release begins."""
    return escape(title).replace(":", ":<wbr>").replace("@", "<wbr>@")


def _anchor(column: Column, cell: Judgement) -> str:
    return escape(f"{cell.id}-{column.directory}")
