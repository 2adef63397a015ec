"""The matrix for a page of documentation."""

from __future__ import annotations

from collections.abc import Iterator

from muster.matrix.columns import Matrix, Row, words
from muster.report.conformance_format import Judgement

_SIGNS = {
    "passed": "✔",
    "failed": "✘",
    "unstable": "~",
    "error": "!",
    "not-supported": "–",
    "not-staged": "○",
    "skipped": "·",
}
_LEGEND = (
    "✔ passed · ✘ failed (passed/runs) · ~ unstable (passed/runs) · – not claimed · ○ not staged · ! harness error"
)


def write(matrix: Matrix) -> str:
    """The whole page."""
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    yield from ("# Behaviours by schedulers", "")
    yield from ("Made by this command, and not edited since:", "", "```sh", matrix.command, "```", "")
    yield from ("| scheduler | version | Kubernetes |", "|---|---|---|")
    for column in matrix.columns:
        yield f"| `{column.title}` | {column.version} | {column.report.cluster.kubernetes} |"
    yield from ("", _LEGEND, "")
    yield from ("Any cell again, from a fresh clone, here for the first:", "", "```sh", matrix.again, "```", "")
    yield from _summary(matrix)
    for profile in matrix.profiles:
        yield from ("", f"## {profile or 'other'}", "", _head(matrix), "|---|---|" + ":-:|" * len(matrix.columns))
        yield from (_row(matrix, row) for row in matrix.of_profile(profile))


def _summary(matrix: Matrix) -> Iterator[str]:
    """Core results of each profile: what a platform engineer looks for first."""
    named = [profile for profile in matrix.profiles if profile]
    yield f"| core of | {' | '.join(f'`{column.title}`' for column in matrix.columns)} |"
    yield "|---|" + ":-:|" * len(matrix.columns)
    for profile in named:
        yield f"| {profile} | {' | '.join(column.core(profile) for column in matrix.columns)} |"


def _head(matrix: Matrix) -> str:
    return f"| id | behaviour | {' | '.join(f'`{column.title}`' for column in matrix.columns)} |"


def _row(matrix: Matrix, row: Row) -> str:
    cells = " | ".join(_cell(column.cell(row.id)) for column in matrix.columns)
    title = row.title.replace("|", "\\|")
    return f"| {row.id} | {title} ({row.level}) | {cells} |"


def _cell(cell: Judgement | None) -> str:
    if cell is None:
        return ""
    _, _, often = words(cell).partition(" ")
    return f"{_SIGNS[cell.verdict]} {often}".strip()
