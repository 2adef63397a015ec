"""The house rules that a machine can check: style, types, the direction of imports, pages that are generated."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"], ["lint-imports"]],
    ids=lambda command: " ".join(command),
)
def test_the_linters_have_nothing_to_say(command: list[str]) -> None:
    program, *arguments = command
    outcome = subprocess.run([BIN / program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_the_page_of_behaviours_is_current() -> None:
    generated = runpy.run_path(str(ROOT / "docs" / "generate.py"))["current"]()
    assert (ROOT / "docs" / "behaviours.md").read_text() == generated, "run: python docs/generate.py"


def test_no_file_outgrows_the_eye() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for room in ("muster", "steps", "fixtures", "scheduler", "tests", "bench")
        for file in (ROOT / room).rglob("*.py")
        if (lines := len(file.read_text().splitlines())) > 500
    }
    assert long == {}


def test_no_scheduler_is_named_in_a_feature_or_a_step() -> None:
    """Features are about behaviour; who is judged is chosen on the command line. (Sources may cite upstream.)"""
    named = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in [*(ROOT / "features").rglob("*.feature"), *(ROOT / "steps").glob("*.py")]
        for line in file.read_text().splitlines()
        if not line.strip().startswith("Source:")
        for name in ("kube-scheduler", "volcano", "koordinator", "kueue", "yunikorn")
        if name in line.lower()
    ]
    assert named == []


def test_every_must_cites_its_source() -> None:
    """A document, or an upstream text; what is only our opinion is a SHOULD."""
    for file in (ROOT / "features").rglob("*.feature"):
        text = file.read_text()
        if "@documents" in text:
            continue
        for scenario in text.split("Scenario: ")[1:]:
            assert scenario.splitlines()[1].strip().startswith("Source: "), f"{file.name}: {scenario.splitlines()[0]}"
