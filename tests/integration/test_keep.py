"""--keep keeps files and clusters only after a failure, and says how to remove them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muster import progress
from muster.cluster.local import LocalCluster
from muster.environment import Environment
from muster.errors import HarnessError
from muster.run_options import RunOptions

ROOT = Path(__file__).resolve().parents[2]
CONFTEST = """
import fixtures.environment
from fixtures.environment import environment
from muster.errors import HarnessError
from muster.pytest_plugin.plugin import pytest_addoption

class Toy:
    keeps_failures, left, cluster = False, (), None

    def __init__(self, options, *, print_line):
        self.options, self.print_line, self.failed = options, print_line, False

    def start(self):
        if self.options.reuse:
            raise HarnessError("it is in use")

    def facts(self):
        return {}

    def leaks(self):
        return []

    def stop(self):
        self.print_line(f"keep={self.options.keep} failed={self.failed}")

fixtures.environment.Environment = Toy
"""
SCENARIOS = """
def test_one(environment):
    assert True

def test_another(environment):
    assert OUTCOME
"""


class FakeCluster:
    """A cluster that was started."""

    def __init__(self) -> None:
        self.keep: bool | None = None
        self.kept: bool | None = None

    def stop(self) -> None:
        self.kept = self.keep


def run_session(place: Path, outcome: bool, *options: str) -> tuple[subprocess.CompletedProcess[str], list[Any]]:
    """Run pytest with the real fixture and a toy environment; return how it ended, and the progress messages."""
    (place / "conftest.py").write_text(CONFTEST)
    (place / "test_toy.py").write_text(SCENARIOS.replace("OUTCOME", str(outcome)))
    receiver, address = progress.listener()
    receiver.settimeout(1)
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", os.devnull, f"--rootdir={place}"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, *options, str(place)],
        env={**os.environ, progress.ENVIRONMENT_VARIABLE: address, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    receiver.setblocking(False)
    messages = []
    try:
        while True:
            messages.append(json.loads(receiver.recv(65536)))
    except BlockingIOError:
        receiver.close()
    return ended, messages


@pytest.mark.parametrize("passes", [True, False])
def test_messages_of_the_environment_reach_the_view_and_the_terminal(tmp_path: Path, passes: bool) -> None:
    ended, messages = run_session(tmp_path, passes, "--muster-keep")
    line = f"keep=True failed={not passes}"
    assert [one["lines"] for one in messages if one["event"] == "kept"] == [[line]]
    assert line in ended.stderr.splitlines()
    assert ended.returncode == (0 if passes else 1), ended.stdout


def test_a_reused_cluster_in_use_ends_the_run_with_one_message(tmp_path: Path) -> None:
    ended, _ = run_session(tmp_path, True, "--muster-cluster=kind", "--muster-reuse")
    assert ended.returncode == 2
    assert ended.stdout.count("it is in use") == 1


@pytest.mark.parametrize(("keep", "failed"), [(True, True), (True, False), (False, True)])
def test_the_cluster_is_kept_only_on_request_and_after_a_failure(keep: bool, failed: bool) -> None:
    environment = Environment(RunOptions(keep=keep))
    cluster: Any = FakeCluster()
    environment.cluster, environment.failed = cluster, failed
    environment.stop()
    assert cluster.kept is (keep and failed)


@pytest.mark.parametrize("existing", [True, False])
def test_a_failed_start_keeps_logs_but_nothing_on_an_existing_cluster(
    existing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = Environment(RunOptions(keep=True, kubeconfig=Path("there") if existing else None))
    cluster: Any = FakeCluster()

    def start() -> None:
        environment.cluster = cluster
        raise HarnessError("no")

    monkeypatch.setattr(environment, "_start", start)
    with pytest.raises(HarnessError):
        environment.start()
    assert cluster.kept is not existing


def test_kept_files_of_a_local_cluster_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[str] = []
    environment = Environment(RunOptions(keep=True), print_line=printed.append)
    cluster: Any = LocalCluster(keep=True)
    cluster.processes["etcd"] = SimpleNamespace(kill=lambda: None, log=tmp_path / "etcd.log")
    monkeypatch.setattr(cluster, "_directory", tmp_path / "muster-x")
    environment.cluster, environment.failed = cluster, True
    environment.stop()
    assert printed == [f"kept: the files of the cluster, with all logs; when you are done: rm -r {tmp_path}/muster-x"]
