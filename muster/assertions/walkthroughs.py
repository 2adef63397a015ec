"""What only the walk-throughs check: the output of a command, line by line."""

from __future__ import annotations

from fnmatch import fnmatchcase

from muster.errors import ConformanceFailure


def output_contains(output: str, wanted: str) -> None:
    """Every wanted line is there, in this order, column by column; `*` in a column matches any text."""
    lines = iter(output.splitlines())
    for pattern in filter(str.strip, wanted.splitlines()):
        if not any(_matches(line, pattern) for line in lines):
            raise ConformanceFailure(
                f"wanted   output with a line that matches: {pattern.strip()}\nseen     {output.strip() or 'no output'}"
            )


def _matches(line: str, pattern: str) -> bool:
    columns, patterns = line.split(), pattern.split()
    return len(columns) == len(patterns) and all(map(fnmatchcase, columns, patterns))
