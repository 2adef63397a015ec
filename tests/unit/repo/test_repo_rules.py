"""Rules of the repository: sizes of modules, old names, sources of behaviours, pages that are generated."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from muster.cli import old_names
from muster.schedulers import SCHEDULERS
from tests.unit.repo.module_figures import figures

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_of_behaviours_is_current() -> None:
    generated = runpy.run_path(str(ROOT / "docs" / "generate.py"))["current"]()
    assert (ROOT / "docs" / "behaviours.md").read_text() == generated, "run: python docs/generate.py"


def test_the_table_of_real_nodes_is_current() -> None:
    page = (ROOT / "docs" / "kind.md").read_text()
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert generate["NODES_BEGIN"] in page
    assert page == generate["kind_page"](page), "run: python docs/generate.py"


def test_the_fields_that_the_reference_scheduler_reads_are_current() -> None:
    page = (ROOT / "docs" / "reference-scheduler.md").read_text()
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"))
    assert generate["TABLES_BEGIN"] in page
    assert page == generate["reference_page"](page), "run: python docs/generate.py"


def test_the_tie_breaks_of_the_reference_scheduler_have_tests() -> None:
    page = (ROOT / "docs" / "reference-scheduler.md").read_text()
    named = set(re.findall(r"`(test_\w+)`", page))
    written = {
        name
        for file in (ROOT / "tests" / "unit" / "core").glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert named
    assert named <= written


def test_the_files_that_the_page_of_the_reference_scheduler_names_exist() -> None:
    page = (ROOT / "docs" / "reference-scheduler.md").read_text()
    files = {file.name for file in (ROOT / "scheduler").rglob("*.py")}
    assert set(re.findall(r"`(\w+\.py)`", page)) <= files


def test_modules_have_a_readable_size_and_a_name_of_their_own() -> None:
    assert list(figures().problems()) == []


def test_no_test_is_longer_than_500_lines() -> None:
    long = {
        str(file.relative_to(ROOT)): lines
        for top in ("tests", "bench")
        for file in (ROOT / top).rglob("*.py")
        if (lines := len(file.read_text().splitlines())) > 500
    }
    assert long == {}


@pytest.mark.parametrize("old", old_names.MAKE_TARGETS)
def test_old_make_targets_name_the_new_one(old: str) -> None:
    outcome = subprocess.run(["make", old], cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert outcome.returncode == 2
    assert f"make {old} was renamed: use make {old_names.MAKE_TARGETS[old]}" in outcome.stderr
    assert f"\n{old_names.MAKE_TARGETS[old]}: env" in (ROOT / "Makefile").read_text()


SCHEDULER_NAMES = [one.name.lower() for one in SCHEDULERS if one.name != "reference"]


def test_no_scheduler_is_named_in_a_feature_or_a_step() -> None:
    """Features are about behaviour; the scheduler is chosen on the command line. (Sources may cite upstream.)"""
    named = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in [*(ROOT / "features").rglob("*.feature"), *(ROOT / "steps").glob("*.py")]
        for line in file.read_text().splitlines()
        if not line.strip().startswith("Source:")
        for name in SCHEDULER_NAMES
        if name in line.lower()
    ]
    assert named == []


def test_every_must_cites_its_source() -> None:
    """A walk-through, or an upstream text; without a source a behaviour is a SHOULD."""
    for file in (ROOT / "features").rglob("*.feature"):
        text = file.read_text()
        if "@documents" in text:
            continue
        for scenario in text.split("Scenario: ")[1:]:
            assert scenario.splitlines()[1].strip().startswith("Source: "), f"{file.name}: {scenario.splitlines()[0]}"


def test_the_run_scope_cannot_be_forgotten() -> None:
    """Api.connect has all the user's rights: everything else opens the API by run_scope.open_api."""
    files = {
        str(file.relative_to(ROOT)) for file in (ROOT / "muster").rglob("*.py") if "Api.connect(" in file.read_text()
    }
    assert files == {"muster/cluster/run_scope.py", "muster/cluster/kind/kind_cluster.py"}
