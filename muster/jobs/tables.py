"""Aligned text. Columns are as wide as their widest cell and two spaces apart; nothing is cut off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LINE = "-" * 89


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A header and its rows, each ended by a newline."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


def share(part: int, whole: int) -> str:
    """`12/12 (100%)`, rounded down: 100% means all of them."""
    return f"{part}/{whole} ({percent(part, whole)})"


def percent(part: int, whole: int) -> str:
    return f"{part * 100 // whole if whole else 0}%"
