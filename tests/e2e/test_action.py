"""The action's own steps, run in order as GitHub would: installed from a copy, run for real, reported."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

from muster.assets import cache
from muster.report import nodejs
from tests.support.action_runner import ActionRunner

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.plane


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as `uses:` would bring it: what git knows or would add, and nothing else."""
    target = tmp_path_factory.mktemp("action")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture
def runner(copy: Path, tmp_path: Path) -> ActionRunner:
    """Its environment borrows the packages of ours: pip finds all of the lock in place and installs Muster only."""
    environment = tmp_path / "temp" / "muster-venv"
    venv.create(environment, symlinks=True)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    (packages / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return ActionRunner(
        action=copy,
        work=tmp_path,
        stand_ins={
            "actions/setup-python": lambda _: {"python-path": sys.executable},
            "actions/cache/restore": lambda _: {"cache-hit": "true"},
            "actions/cache/save": lambda _: {},
            "actions/upload-artifact": uploaded,
        },
        environment={"MUSTER_CACHE": str(cache.directory()), "MUSTER_TIMEOUT_SCALE": "5"},
    )


def uploaded(given: Mapping[str, str]) -> Mapping[str, str]:
    assert (Path(given["path"]) / "results.jsonl").is_file() or not any(Path(given["path"]).iterdir())
    return {"artifact-url": f"https://example.org/{given['name']}"}


def told(runner: ActionRunner) -> str:
    return "\n".join(f"== {ran.name}: {ran.code}\n{ran.said}" for ran in runner.ran)


@pytest.mark.skipif(not nodejs.is_installed(), reason="Allure is not in the cache yet: `muster report` puts it there")
def test_two_scenarios_are_run_reported_and_counted(runner: ActionRunner) -> None:
    code = runner.run(only="PRE-01 PRE-02", workers="1", arguments="--durations 1")
    assert code == 0, told(runner)
    assert runner.outputs["exit-code"] == "0"
    assert (runner.outputs["passed"], runner.outputs["failed"], runner.outputs["errors"]) == ("2", "0", "0")
    assert json.loads(runner.outputs["verdicts"]) == {"passed": 2}
    assert runner.outputs["report-url"] == "https://example.org/muster-reference-local"
    results = Path(runner.outputs["results"])
    assert "<testsuite" in (results / "junit.xml").read_text()
    assert "<html" in (results / "report" / "index.html").read_text()[:2000]
    assert "PRE-01" in runner.summary
    assert "✅" in runner.summary
    assert runner.used["Restore binaries"]["path"].splitlines()[0] == str(cache.directory() / "bin")
    assert "Save binaries" not in runner.used  # they came from the cache


def test_a_request_that_makes_no_sense_ends_with_its_own_code(runner: ActionRunner) -> None:
    runner.action = without_installing(runner.action, runner.work)
    assert runner.run(only="PRE-1") == 64, told(runner)
    assert (runner.outputs["exit-code"], runner.outputs["passed"]) == ("64", "0")
    assert "did you mean" in told(runner)
    assert "Make the report" not in [ran.name for ran in runner.ran]


def test_an_unknown_scheduler_is_told_before_anything_is_fetched(runner: ActionRunner) -> None:
    runner.action = without_installing(runner.action, runner.work)
    assert runner.run(scheduler="volcanoo") == 64
    assert [ran.name for ran in runner.ran] == ["Check the runner", "Install", "Plan"]
    assert "::error title=Muster::unknown scheduler" in told(runner)
    assert runner.used.keys() == {"Find Python"}


RED = """#!/bin/sh
case "$1" in run) exit 1 ;; esac
"""


@pytest.mark.parametrize(("must_pass", "code"), [("true", 1), ("false", 0)])
def test_a_red_verdict_fails_the_step_only_where_it_must_pass(runner: ActionRunner, must_pass: str, code: int) -> None:
    """With a stand-in for muster: what is tried here is what the action makes of its exit code."""
    runner.action = without_installing(runner.action, runner.work)
    (runner.work / "temp" / "muster-venv" / "bin" / "muster").write_text(RED)
    assert runner.run(must_pass=must_pass) == code, told(runner)
    assert runner.outputs["exit-code"] == "1"


def without_installing(action: Path, work: Path) -> Path:
    """The same action whose installation does nothing; its scripts find the Muster of the checkout."""
    target = work / "action"
    shutil.copytree(action / "ci", target / "ci")
    text = (action / "action.yml").read_text().replace('"$VENV/bin/python" -m pip', "true")
    (target / "action.yml").write_text(text)
    environment = work / "temp" / "muster-venv"
    (packages,) = (environment / "lib").glob("python*/site-packages")
    (packages / "checkout.pth").write_text(f"{ROOT}\n")
    command = environment / "bin" / "muster"
    command.write_text(f'#!/bin/sh\nexec "{environment}/bin/python" -m muster "$@"\n')
    command.chmod(0o755)
    return target
