"""docs/proof.md: which broken schedulers and operators each scenario was red on. What it says can be read back.

So a few mutants can be run again without losing what is known of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from tests.broken.mutants import Mutant

Verdicts = dict[str, dict[str, str]]  # by mutant, then by scenario

RED = "failed"
_TITLE = "# Every scenario has been seen red"
_ROW = re.compile(r"\| ([A-Z]{3}-\d+) \| (.*) \| (.*) \|")
_IN_VAIN = re.compile(r"(\S+) \((\S+)\)")


def survivors(mutants: Sequence[Mutant], verdicts: Verdicts) -> list[str]:
    """Scenarios that mutants were aimed at, and that none of them turned red."""
    aims = {one for mutant in mutants for one in mutant.aims}
    return sorted(one for one in aims if not _red_on(one, mutants, verdicts))


def write(mutants: Sequence[Mutant], verdicts: Verdicts) -> str:
    ids = sorted({one for mutant in mutants for one in (*mutant.aims, *verdicts.get(mutant.name, ()))})
    rows = [
        (one, ", ".join(_red_on(one, mutants, verdicts)), ", ".join(_in_vain(one, mutants, verdicts))) for one in ids
    ]
    lines = [
        _TITLE,
        "",
        "Made by `make prove`: the suite on schedulers and operators that are broken on purpose, each in one way, and",
        "aimed at the scenarios that are there to notice it. A scenario is worth its green only if there is a red in",
        "its row. Only the verdict *failed* is red; where an aim was missed, the last column says what the verdict was",
        "instead.",
        "",
        "| behaviour | red on | aimed at in vain |",
        "| --- | --- | --- |",
        *(f"| {one} | {red or '**nothing**'} | {vain or '-'} |" for one, red, vain in rows),
    ]
    for kind in dict.fromkeys(mutant.kind for mutant in mutants):
        lines += ["", f"## How {kind} was broken", ""]
        lines += [f"- **{mutant.name}**: {mutant.what}" for mutant in mutants if mutant.kind == kind]
    return "\n".join(lines) + "\n"


def read(page: str) -> Verdicts:
    found: Verdicts = {}
    for one, red, vain in _ROW.findall(page):
        for mutant, verdict in [*((name, RED) for name in _names(red)), *_IN_VAIN.findall(vain)]:
            found.setdefault(mutant, {})[one] = verdict
    return found


def _names(cell: str) -> list[str]:
    return [name for name in cell.split(", ") if not name.startswith("**")]


def _red_on(one: str, mutants: Sequence[Mutant], verdicts: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [mutant.name for mutant in mutants if verdicts.get(mutant.name, {}).get(one) == RED]


def _in_vain(one: str, mutants: Sequence[Mutant], verdicts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for mutant in mutants:
        verdict = verdicts.get(mutant.name, {}).get(one, "not run")
        if one in mutant.aims and verdict != RED:
            yield f"{mutant.name} ({verdict})"
