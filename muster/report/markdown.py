"""Untrusted text in Markdown: as one line of a table or paragraph, or as a block of code that it cannot end."""

from __future__ import annotations

import re

from muster.report.sanitize import one_line

_LONGEST_LINE = 300


def escaped(text: str, longest: int = _LONGEST_LINE) -> str:
    """One line that is shown as it is: no table cell, link, heading or HTML tag begins or ends in it."""
    line = re.sub(r"([\\`*_{}\[\]<>|~#])", r"\\\1", one_line(text, longest))
    return line.replace("&", "&amp;").replace("\\<", "&lt;").replace("\\>", "&gt;")


def code_block(text: str, language: str) -> list[str]:
    """Lines of a code block, between more backticks than any run of them inside."""
    backticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return [f"{backticks}{language}", text, backticks]
