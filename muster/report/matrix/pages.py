"""The matrix as an HTML page and as Markdown. The page needs no script, and has filters and sorting where scripts run.

Titles, failure reports and versions are escaped; the script uses only the page's own attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from muster.report.conformance import FILE
from muster.report.conformance_format import BehaviourResult
from muster.report.matrix import change_pages
from muster.report.matrix.changes import Changes
from muster.report.matrix.columns import Column, Matrix, Row, cell_text

_STYLE = Path(__file__).with_name("page.css")
_SCRIPT = Path(__file__).with_name("page.js")
_LEGEND = (
    "A red or yellow cell links to its failure report, a green one to its timeline; the numbers are "
    "<em>passed of runs</em>. What a scheduler does not claim is not tested (<em>not-supported</em>); what could not "
    "be set up is <em>not-staged</em>."
)
_NOT_ASKED = "Not asked, although the capability is claimed"
_WITH_REPORT = ("failed", "unstable", "error")
_SIGNS = {
    "passed": "✔",
    "failed": "✘",
    "unstable": "~",
    "error": "!",
    "not-supported": "–",
    "not-staged": "○",
    "skipped": "·",
}
_MARKDOWN_LEGEND = (
    "✔ passed · ✘ failed (passed/runs) · ~ unstable (passed/runs) · – not claimed · ○ not staged · ! harness error"
)


def to_html(matrix: Matrix, changes: Changes | None = None) -> str:
    """One self-contained page."""
    return "".join(_parts(matrix, changes))


def _parts(matrix: Matrix, changes: Changes | None) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>Behaviours by schedulers</title>\n<style>\n{_STYLE.read_text(encoding='utf-8')}</style>\n</head>\n"
    yield f"<body>\n<h1>Behaviours by schedulers</h1>\n<p>Generated with <code>{escape(matrix.command)}</code></p>\n"
    yield f"<p>Test a cell again, from a fresh clone: <code>{escape(matrix.repeat_command)}</code></p>\n"
    yield from _summary(matrix)
    if changes:
        yield from change_pages.to_html(changes)
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
    yield from _not_asked(matrix)
    yield from _failure_reports(matrix)
    yield f"<script>\n{_SCRIPT.read_text(encoding='utf-8')}</script>\n</body>\n</html>\n"


def _summary(matrix: Matrix) -> Iterator[str]:
    """Core result of each profile."""
    yield '<h2>The MUSTs of each profile</h2>\n<div class="wide">\n<table>\n<thead><tr><th class="id">profile</th>'
    yield (
        "".join(f"<th>{_with_line_breaks(column.title)}</th>" for column in matrix.columns) + "</tr></thead>\n<tbody>\n"
    )
    for profile in filter(None, matrix.profiles):
        yield f'<tr><th class="id">{escape(profile)}</th>'
        for core in (column.must_summary(profile) for column in matrix.columns):
            yield f'<td class="{core.replace(",", " ").partition(" ")[0] or "none"}">{escape(core)}</td>'
        yield "</tr>\n"
    yield "</tbody>\n</table>\n</div>\n"


def _head(matrix: Matrix) -> Iterator[str]:
    yield '<thead>\n<tr><th class="id">id</th><th class="what">behaviour</th>'
    for column in matrix.columns:
        yield f'<th><a href="{escape(column.directory)}/{FILE}">{_with_line_breaks(column.title)}</a>'
        yield f"<small>{escape(column.version)}</small></th>"
    yield "</tr>\n</thead>\n"


def _row(matrix: Matrix, row: Row) -> Iterator[str]:
    yield f'<tr data-level="{escape(row.level)}"><th class="id" id="{row.id}">{row.id}</th>'
    yield f'<td class="what">{escape(row.title)} <small>{escape(row.level)}</small></td>'
    for column in matrix.columns:
        yield _cell(column, column.cell(row.id))
    yield "</tr>\n"


def _cell(column: Column, cell: BehaviourResult | None) -> str:
    if cell is None:
        return '<td class="none"></td>'
    text = escape(cell_text(cell))
    if cell.verdict in _WITH_REPORT:
        text = f'<a href="#{_anchor(column, cell)}">{text}</a>'
    elif cell.evidence:
        text = f'<a href="{escape(column.directory)}/{escape(cell.evidence)}">{text}</a>'
    return f'<td class="{cell.verdict}">{text}</td>'


def _not_asked(matrix: Matrix) -> Iterator[str]:
    if excuses := _excuses(matrix):
        yield f"<h2>{_NOT_ASKED}</h2>\n<ul>\n"
        for title, ids, why in excuses:
            yield f"<li><code>{escape(title)}</code> {escape(', '.join(ids))}: {escape(why)}</li>\n"
        yield "</ul>\n"


def _failure_reports(matrix: Matrix) -> Iterator[str]:
    yield "<h2>Failure reports</h2>\n"
    for row in matrix.rows:
        for column in matrix.columns:
            cell = column.cell(row.id)
            if cell is not None and cell.verdict in _WITH_REPORT:
                yield from _failure_report(column, cell)


def _failure_report(column: Column, cell: BehaviourResult) -> Iterator[str]:
    title = f"{cell.id} on {column.title}: {cell_text(cell)}"
    yield f'<section id="{_anchor(column, cell)}">\n<h3>{escape(title)}</h3>\n<p>{escape(cell.title)}</p>\n'
    yield f"<pre>{escape(cell.failure_report)}</pre>\n<p><code>{escape(cell.reproduce)}</code>"
    if cell.evidence:
        yield f' · <a href="{escape(column.directory)}/{escape(cell.evidence)}">timeline</a>'
    yield f' · <a href="#{cell.id}">back to the table</a></p>\n</section>\n'


def _with_line_breaks(title: str) -> str:
    """The name of a scheduler, with a possible line break before its configuration and its release."""
    return escape(title).replace(":", ":<wbr>").replace("@", "<wbr>@")


def _anchor(column: Column, cell: BehaviourResult) -> str:
    return escape(f"{cell.id}-{column.directory}")


def to_markdown(matrix: Matrix, changes: Changes | None = None) -> str:
    """For the documentation."""
    return "\n".join(_markdown_lines(matrix, changes)) + "\n"


def _markdown_lines(matrix: Matrix, changes: Changes | None) -> Iterator[str]:
    yield from ("# Behaviours by schedulers", "")
    yield from ("Generated by this command:", "", "```sh", matrix.command, "```", "")
    yield from ("| scheduler | version | Kubernetes |", "|---|---|---|")
    for column in matrix.columns:
        yield f"| `{column.title}` | {column.version} | {column.report.cluster.kubernetes} |"
    yield from ("", _MARKDOWN_LEGEND, "")
    yield from (
        "To test a cell again, from a fresh clone, e.g. the first:",
        "",
        "```sh",
        matrix.repeat_command,
        "```",
        "",
    )
    yield from _markdown_summary(matrix)
    if changes:
        yield from ("", *list(change_pages.to_markdown(changes))[:-1])
    for profile in matrix.profiles:
        yield from (
            "",
            f"## {profile or 'other'}",
            "",
            _markdown_head(matrix),
            "|---|---|" + ":-:|" * len(matrix.columns),
        )
        yield from (_markdown_row(matrix, row) for row in matrix.of_profile(profile))
    if excuses := _excuses(matrix):
        yield from ("", f"## {_NOT_ASKED}", "", "| scheduler | behaviours | because |", "|---|---|---|")
        for title, ids, why in excuses:
            yield f"| `{title}` | {', '.join(ids)} | {escape(why, quote=False).replace('|', '&#124;')} |"


def _excuses(matrix: Matrix) -> list[tuple[str, list[str], str]]:
    """Scheduler, behaviours and reason: what was not asked although the capability is claimed."""
    found: dict[tuple[str, str], list[str]] = {}
    for column in matrix.columns:
        for row in matrix.rows:
            cell = column.cell(row.id)
            if cell is not None and cell.excuse:
                found.setdefault((column.title, " ".join(cell.excuse.split())), []).append(row.id)
    return [(title, ids, why) for (title, why), ids in found.items()]


def _markdown_summary(matrix: Matrix) -> Iterator[str]:
    """Core result of each profile."""
    named = [profile for profile in matrix.profiles if profile]
    yield f"| core of | {' | '.join(f'`{column.title}`' for column in matrix.columns)} |"
    yield "|---|" + ":-:|" * len(matrix.columns)
    for profile in named:
        yield f"| {profile} | {' | '.join(column.must_summary(profile) for column in matrix.columns)} |"


def _markdown_head(matrix: Matrix) -> str:
    return f"| id | behaviour | {' | '.join(f'`{column.title}`' for column in matrix.columns)} |"


def _markdown_row(matrix: Matrix, row: Row) -> str:
    cells = " | ".join(_markdown_cell(column.cell(row.id)) for column in matrix.columns)
    title = row.title.replace("|", "\\|")
    return f"| {row.id} | {title} ({row.level}) | {cells} |"


def _markdown_cell(cell: BehaviourResult | None) -> str:
    if cell is None:
        return ""
    _, _, ratio = cell_text(cell).partition(" ")
    return f"{_SIGNS[cell.verdict]} {ratio}".strip()
