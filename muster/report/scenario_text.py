"""A scenario as its reader wrote it, for the description in a report: its source, then every step with table and text.

The steps are those that were run: the Background first, placeholders replaced by the row of the outline.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from muster.report.markdown import code_block, escaped
from muster.suite.behaviours import Behaviour, Step

_LONGEST_LINE = 2_000  # of a Source


def markdown(behaviour: Behaviour, row: Mapping[str, str], title: str) -> str:
    """What the feature says about itself, the scenario's Source, and the scenario in Gherkin."""
    told = [*behaviour.feature_description.splitlines(), "", *behaviour.description.splitlines()]
    paragraphs = [escaped(line, _LONGEST_LINE) for line in told]
    steps = [f"Scenario: {title}", *(line for step in behaviour.steps_of(row) for line in _step(step))]
    return "\n".join([*paragraphs, "", *code_block("\n".join(steps), "gherkin")]).strip()


def _step(step: Step) -> Iterator[str]:
    yield f"  {step.keyword} {step.text}"
    yield from (f"    {line}" for line in _table(step.table))
    if step.text_block is not None:
        yield from (f"    {line}".rstrip() for line in ('"""', *step.text_block.split("\n"), '"""'))


def _table(table: Sequence[Sequence[str]]) -> Iterator[str]:
    cells = [[_cell(value) for value in row] for row in table]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        yield "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"


def _cell(value: str) -> str:
    return value.replace("\\", "\\\\").replace("|", "\\|").replace("\n", "\\n")
