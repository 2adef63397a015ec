"""`muster matrix --since`: what changed between two matrices."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from muster.cli import main
from tests.unit.report.test_matrix import Runs

Cells = dict[str, str]


def saved(file: Path, **schedulers: Cells) -> Path:
    """A matrix.json; names of schedulers have _ for -."""
    columns = [
        {
            "scheduler": name.replace("_", "-"),
            "cells": {id_: {"verdict": verdict, "runs": {verdict: 2}} for id_, verdict in cells.items()},
        }
        for name, cells in schedulers.items()
    ]
    file.write_text(json.dumps({"command": "muster matrix", "behaviours": [], "schedulers": columns}))
    return file


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """PRE-01 passes and PRE-02 fails, on every scheduler."""
    made = Runs(failing=["PRE-02"])
    monkeypatch.setattr(subprocess, "run", made)
    return made


def matrix(directory: Path, since: Path, *schedulers: str) -> int:
    return main(["matrix", *schedulers, "--directory", str(directory), "--since", str(since)])


@pytest.mark.usefixtures("runs")
def test_changes_are_printed_and_are_a_section_of_the_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = saved(
        tmp_path / "old.json",
        kube_scheduler={"PRE-01": "failed", "PRE-02": "passed", "PRE-99": "passed"},
        volcano={"PRE-01": "passed"},
        yunikorn={"PRE-01": "passed"},
    )
    assert matrix(tmp_path, old, "kube-scheduler", "volcano", "koordinator") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"since {old}: 3 verdicts changed",
        "  kube-scheduler  PRE-01  failed 0/2  ->  passed",
        "  kube-scheduler  PRE-02  passed      ->  failed 0/5",
        "  volcano         PRE-02  not run     ->  failed 0/5",
        "  behaviours removed or not selected: PRE-99",
        "  new schedulers: koordinator",
        "  schedulers removed or not selected: yunikorn",
        f"{tmp_path / 'matrix.html'}",
    ]
    markdown = (tmp_path / "matrix.md").read_text()
    assert "\n## Changes since " in markdown
    assert "\n| kube-scheduler | PRE-02 | passed | failed 0/5 |\n" in markdown
    assert "\nSchedulers removed or not selected: yunikorn.\n" in markdown
    page = (tmp_path / "matrix.html").read_text()
    assert '<td>PRE-02</td><td class="passed">passed</td><td class="failed">failed 0/5</td>' in page
    assert "<p>New schedulers: koordinator.</p>" in page


@pytest.mark.usefixtures("runs")
def test_a_new_behaviour_is_named_and_an_equal_verdict_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = saved(tmp_path / "old.json", kube_scheduler={"PRE-02": "failed"})
    assert matrix(tmp_path, old, "kube-scheduler") == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [
        f"since {old}: no verdicts changed",
        "  new behaviours: PRE-01",
    ]
    same = tmp_path / "same.json"
    same.write_bytes((tmp_path / "matrix.json").read_bytes())
    assert matrix(tmp_path, same, "kube-scheduler") == 0
    assert capsys.readouterr().out.splitlines()[:-1] == [f"since {same}: no verdicts changed"]
    assert "\nNo verdict, behaviour or scheduler changed.\n" in (tmp_path / "matrix.md").read_text()
    assert "<p>No verdict, behaviour or scheduler changed.</p>" in (tmp_path / "matrix.html").read_text()


@pytest.mark.usefixtures("runs")
def test_without_since_the_pages_have_no_such_section(tmp_path: Path) -> None:
    assert main(["matrix", "kube-scheduler", "--directory", str(tmp_path)]) == 0
    assert "Changes" not in (tmp_path / "matrix.md").read_text() + (tmp_path / "matrix.html").read_text()


@pytest.mark.usefixtures("runs")
def test_names_in_the_earlier_matrix_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "<script>alert(1)</script> | \x1b[31m"
    old = saved(
        tmp_path / "old.json", **{hostile: {"PRE-01": "passed"}}, kube_scheduler={"PRE-01": hostile, hostile: ""}
    )
    assert matrix(tmp_path, old, "kube-scheduler") == 0
    assert "\x1b" not in capsys.readouterr().out
    assert (tmp_path / "matrix.html").read_text().count("<script>") == 1
    (row,) = [line for line in (tmp_path / "matrix.md").read_text().splitlines() if line.startswith("| kube-")]
    assert row.count("|") - row.count("\\|") == 5
    assert "<script>" not in row


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "No such file or directory"),
        ("{", "is not a matrix: Input data was truncated"),
        ("\xff", "is not a matrix: "),
        ("[]", "is not a matrix: Expected `object`, got `array`"),
        ('{"schedulers": [{"scheduler": 1}]}', "is not a matrix: Expected `str`, got `int`"),
        ('{"schedulers": []}', "has no verdicts"),
    ],
)
def test_a_bad_file_is_refused_before_anything_runs(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, complaint: str
) -> None:
    old = tmp_path / "old.json"
    if content is not None:
        old.write_bytes(content.encode("latin-1"))
    assert matrix(tmp_path, old, "kube-scheduler") == 64
    (line,) = capsys.readouterr().err.splitlines()
    assert f"--since {old}" in line
    assert complaint in line
    assert line.endswith("give the matrix.json of an earlier `muster matrix`")
    assert runs.calls == []
