"""A suite of a few steps that need no cluster, to run the runner as users do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muster import schedulers

CHECKOUT = Path(__file__).resolve().parents[2]

STEPS = """
import os, signal, threading, time
import pytest
from pytest_bdd import given, parsers, then, when
from muster.errors import ConformanceFailure, HarnessError, NotStaged, NotSupported
from muster.progress import waiting
from muster.report.results import record_environment

@pytest.fixture
def scenario(request):
    if os.environ.get("TOY") == "no-scenario":
        raise HarnessError("the cluster did not start: start it again")

@pytest.fixture
def broken_setup():
    raise HarnessError("the cluster did not start: start it again")

@pytest.fixture
def broken_teardown():
    yield
    raise HarnessError("the cluster did not stop: stop it by hand")

@pytest.fixture
def violated_at_the_end():
    yield
    raise ConformanceFailure("wanted   no over-commit\\nseen     one")

@given("a node")
@given("pods:")
@given("a text:")
def a_node() -> None:
    record_environment({"scheduler version": "v9.9.9"})

@given("a cluster that cannot start")
def _(broken_setup): ...
@given("a cluster that cannot stop")
def _(broken_teardown): ...
@given("an invariant that breaks at the end")
def _(violated_at_the_end): ...
@given("a cluster that is in use")
def _(): pytest.exit("The cluster is in use by process 7: wait until that has ended.", returncode=2)
@when("nothing happens")
def _(): ...
@when(parsers.parse("it takes until there is a file {path}"))
def _(path):
    with waiting('"urgent" to run'):
        end = time.monotonic() + 60
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.02)
@when("the worker is killed")
def _():
    os.kill(os.getpid(), signal.SIGKILL)
@then("it holds")
def _(): ...
@then(parsers.parse('"{name}" holds'))
def _(name): ...
@then("it is violated")
def _(): raise ConformanceFailure("wanted   one victim\\nseen     two victims")
@then("it is not supported")
def _(): raise NotSupported("gangs are not claimed")
@then("it is not staged")
def _(): raise NotStaged("the scheduler of an existing cluster cannot be paused")
@then("it is skipped")
def _(): pytest.skip("asked for")
@then("it raises a harness error")
def _(): raise HarnessError("the API server is gone: see its log")
@then("it raises a plain assertion")
def _(): assert 1 == 2, "odd"
@then("it raises a value error")
def _(): raise ValueError("bad value")
@then("it is violated every other time")
def _(request):
    if request.node.callspec.params["muster_round"] % 2 == 0:
        raise ConformanceFailure("wanted   steady\\nseen     flapping")
@then(parsers.parse("it leaves the file {path} when cleaned up"))
def _(path):
    try:
        open(path + ".started", "a").write(f"{os.getpid()}\\n")
        threading.Event().wait(60)
    finally:
        open(path, "a").write(f"{os.getpid()}\\n")
"""


SCHEDULER = "kube-scheduler"  # claims little: there are things that it does not support
CLAIMED = " ".join(f"@{capability}" for capability in schedulers.choose(SCHEDULER)[0].claims("default"))


def _with_scheduler(arguments: Sequence[str]) -> list[str]:
    """`run` tests this scheduler where the test names no other."""
    named = any(argument.startswith("--scheduler") for argument in arguments)
    return [*arguments, "--scheduler", SCHEDULER] if arguments[:1] == ("run",) and not named else list(arguments)


def feature(*scenarios: str, title: str = "Toys", tags: str = CLAIMED) -> str:
    """A feature file around scenarios, tagged with all that the scheduler claims."""
    return f"{tags}\nFeature: {title}\n\n" + "\n\n".join(scenarios) + "\n"


def scenario(id_: str, *steps: str, level: str = "must", title: str = "", tags: str = "") -> str:
    """One scenario, its Given first."""
    lines = [f"  @{id_} @{level} {tags}", f"  Scenario: {title or f'Title of {id_}'}", "    Given a node"]
    return "\n".join([*lines, *(f"    {step}" for step in steps)])


@dataclass
class ToySuite:
    """A suite in a directory of its own, and a directory to run it from."""

    root: Path
    work: Path

    def write(self, text: str, name: str = "toys/toys.feature") -> "ToySuite":
        file = self.root / "features" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return self

    def environment(self, **more: str) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "MUSTER_", "GITHUB_"))}
        return inherited | {"MUSTER_SUITE": str(self.root), "PYTHONPATH": str(CHECKOUT), "COLUMNS": "200", **more}

    def start(self, *arguments: str, **more: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "muster", *_with_scheduler(arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, cwd=self.work, env=self.environment(**more), stdout=pipe, stderr=pipe, text=True
        )

    def muster(self, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "muster", *_with_scheduler(arguments)]
        return subprocess.run(
            command,
            cwd=self.work,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def pytest(self, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            f"--muster-scheduler={SCHEDULER}",
            *arguments,
        ]
        return subprocess.run(
            command,
            cwd=self.root,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @property
    def latest(self) -> Path:
        return self.work / "results" / "latest"

    def results(self, directory: Path | None = None) -> list[dict[str, Any]]:
        lines = ((directory or self.latest) / "results.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def verdicts(self, directory: Path | None = None) -> dict[str, str]:
        """By id; the rows of an outline one by one."""
        results = self.results(directory)
        rows = [(f"{one['id']}[{one['example']}]" if one["example"] else one["id"], one["verdict"]) for one in results]
        assert len(dict(rows)) == len(rows), "several rounds: use results()"
        return dict(rows)

    def allure(self) -> dict[str, dict[str, Any]]:
        files = (self.latest / "allure").glob("*-result.json")
        shown = [json.loads(file.read_text(encoding="utf-8")) for file in files]
        return {result["fullName"].partition("#")[2]: result for result in shown}


def make_toy_suite(directory: Path) -> ToySuite:
    """The runner's own files from the checkout, toy steps beside them."""
    root, work = directory / "suite", directory / "work"
    (root / "features").mkdir(parents=True)
    (root / "steps").mkdir()
    work.mkdir()
    for name in ("conftest.py", "pytest.ini", "features/test_features.py"):
        shutil.copy(CHECKOUT / name, root / name)
    (root / "steps" / "__init__.py").touch()
    (root / "steps" / "toys.py").write_text(STEPS, encoding="utf-8")
    return ToySuite(root, work)
