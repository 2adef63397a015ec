"""The matrix as data: a column for each ConformanceReport, a row for each behaviour in any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from muster.errors import HarnessError
from muster.report.conformance import FILE, PROFILES, UNSTABLE
from muster.report.conformance_format import KIND, BehaviourResult, ConformanceReport
from muster.suite.behaviours import id_order
from muster.verdicts import Verdict

_ORDER = (*PROFILES.values(), "")
_TESTED = (Verdict.PASSED.value, Verdict.FAILED.value, UNSTABLE)


@dataclass(frozen=True)
class Column:
    """One scheduler, and the directory of its evidence."""

    report: ConformanceReport
    directory: str

    @property
    def title(self) -> str:
        return self.report.implementation.name

    @property
    def version(self) -> str:
        return self.report.implementation.version

    def must_summary(self, profile: str) -> str:
        """The result of the MUSTs of a profile, how many of those that were tested passed, and what was left out."""
        found = next((one for one in self.report.profiles if one.name == profile), None)
        if found is None:
            return ""
        counted = found.core.behaviours
        tested = sum(counted.get(verdict, 0) for verdict in _TESTED)
        ratio = f" {counted.get('passed', 0)}/{tested}" if tested else ""
        left_out = [f"{number} {verdict}" for verdict, number in counted.items() if verdict not in _TESTED]
        if not tested and set(counted) == {found.core.result}:
            left_out = []  # none of it is claimed: the number adds nothing
        return ", ".join([f"{found.core.result}{ratio}", *left_out])

    def cell(self, id_: str) -> BehaviourResult | None:
        return next((one for one in self.report.behaviours if one.id == id_), None)


@dataclass(frozen=True)
class Row:
    """One behaviour."""

    id: str
    title: str
    level: str
    profile: str


@dataclass(frozen=True)
class Matrix:
    """Columns in the requested order, rows by profile."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    command: str  # that made it

    def of_profile(self, profile: str) -> list[Row]:
        return [row for row in self.rows if row.profile == profile]

    @property
    def repeat_command(self) -> str:
        """The command that tests the first cell again."""
        return f"make run ARGS='--scheduler {self.columns[0].title} --only {self.rows[0].id}'"

    @property
    def profiles(self) -> list[str]:
        return [profile for profile in _ORDER if self.of_profile(profile)]


def read(directory: Path, names: Sequence[str], command: str) -> Matrix:
    """The matrix of those columns that are complete in a directory."""
    columns = [Column(_report(directory / name / FILE), name) for name in names if (directory / name / FILE).exists()]
    known: dict[str, Row] = {}
    for column in columns:
        for one in column.report.behaviours:
            known.setdefault(one.id, Row(one.id, one.title, one.level, one.profile))
    rows = sorted(known.values(), key=lambda row: (_ORDER.index(row.profile), id_order(row.id)))
    return Matrix(columns, rows, command)


def _report(file: Path) -> ConformanceReport:
    try:
        found: Any = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        return msgspec.convert(found, ConformanceReport)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise HarnessError(f"{file} is not a {KIND}: {error}; delete it to test the scheduler again") from None


def has_errors(matrix: Matrix) -> bool:
    """Whether the harness failed somewhere, so that not everything was tested."""
    return any(one.verdict == Verdict.ERROR for column in matrix.columns for one in column.report.behaviours)


def tested_nothing(matrix: Matrix) -> bool:
    """Whether every cell was left out, so that the matrix says nothing about any scheduler."""
    answers = (*_TESTED, Verdict.ERROR)
    return not any(one.verdict in answers for column in matrix.columns for one in column.report.behaviours)


def cell_text(cell: BehaviourResult | None) -> str:
    """Empty where the behaviour was not run."""
    return verdict_text(cell.verdict, cell.runs) if cell else ""


def verdict_text(verdict: str, runs: Mapping[str, int]) -> str:
    """The verdict, with passed/runs where it failed or was unstable."""
    if verdict in (Verdict.FAILED, UNSTABLE):
        return f"{verdict} {runs.get('passed', 0)}/{sum(runs.values())}"
    return verdict


def as_json(matrix: Matrix) -> bytes:
    """Schedulers and the verdict of every cell, for tools."""
    columns = [
        {
            "scheduler": column.title,
            "version": column.version,
            "digest": column.report.implementation.digest,
            "kubernetes": column.report.cluster.kubernetes,
            "report": f"{column.directory}/{FILE}",
            "cells": {one.id: {"verdict": one.verdict, "runs": one.runs} for one in column.report.behaviours},
        }
        for column in matrix.columns
    ]
    rows = [{"id": row.id, "title": row.title, "level": row.level, "profile": row.profile} for row in matrix.rows]
    content = {"command": matrix.command, "behaviours": rows, "schedulers": columns}
    return msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n"
