"""--keep keeps exactly when something has failed, and whoever sits at the terminal hears how to remove it."""

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
from muster.cluster.connections import Connection
from muster.cluster.local import LocalCluster
from muster.errors import HarnessError
from muster.stage import Stage

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
import fixtures.stages
from fixtures.stages import stage
from muster.errors import HarnessError
from muster.plugin import pytest_addoption

class Toy:
    keeps_failures, left = False, ()

    def __init__(self, scheduler, *, own, keep, say, **_):
        self.own, self.keep, self.say, self.failed = own, keep, say, False

    def start(self):
        if self.own.reuse:
            raise HarnessError("it is in use")

    def facts(self):
        return {}

    def leaks(self):
        return []

    def stop(self):
        self.say(f"keep={self.keep} failed={self.failed}")

fixtures.stages.Stage = Toy
"""
SCENARIOS = """
def test_one(stage):
    assert True

def test_another(stage):
    assert OUTCOME
"""


class There:
    """A cluster that was started."""

    def __init__(self) -> None:
        self.keep: bool | None = None
        self.kept: bool | None = None

    def stop(self) -> None:
        self.kept = self.keep


def played(place: Path, outcome: bool, *options: str) -> tuple[subprocess.CompletedProcess[str], list[Any]]:
    """A session of pytest with the real fixture and a toy for a stage; how it ended, and what a watcher was told."""
    (place / "conftest.py").write_text(CONFTEST)
    (place / "test_toy.py").write_text(SCENARIOS.replace("OUTCOME", str(outcome)))
    receiver, address = progress.listener()
    receiver.settimeout(1)
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", os.devnull, f"--rootdir={place}"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *options, str(place)],
        env={**os.environ, progress.ENVIRONMENT_VARIABLE: address, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    receiver.setblocking(False)
    told = []
    try:
        while True:
            told.append(json.loads(receiver.recv(65536)))
    except BlockingIOError:
        receiver.close()
    return ended, told


@pytest.mark.parametrize("passes", [True, False])
def test_what_a_stage_says_reaches_the_watcher_and_the_terminal(tmp_path: Path, passes: bool) -> None:
    ended, told = played(tmp_path, passes, "--muster-keep")
    line = f"keep=True failed={not passes}"
    assert [one["lines"] for one in told if one["event"] == "kept"] == [[line]]
    assert line in ended.stderr.splitlines()
    assert ended.returncode == (0 if passes else 1), ended.stdout


def test_a_reused_cluster_that_cannot_be_had_ends_the_run_with_one_sentence(tmp_path: Path) -> None:
    ended, _ = played(tmp_path, True, "--muster-cluster=kind", "--muster-reuse")
    assert ended.returncode == 2
    assert ended.stdout.count("it is in use") == 1


@pytest.mark.parametrize(("keep", "failed"), [(True, True), (True, False), (False, True)])
def test_a_stage_keeps_its_cluster_only_if_asked_to_and_something_failed(keep: bool, failed: bool) -> None:
    stage = Stage("reference", keep=keep)
    cluster: Any = There()
    stage.cluster, stage.failed = cluster, failed
    stage.stop()
    assert cluster.kept is (keep and failed)


@pytest.mark.parametrize("somebodys", [True, False])
def test_what_did_not_start_leaves_logs_but_nothing_on_somebodys_cluster(
    somebodys: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage("reference", keep=True, foreign=Connection(Path("there")) if somebodys else None)
    cluster: Any = There()

    def start() -> None:
        stage.cluster = cluster
        raise HarnessError("no")

    monkeypatch.setattr(stage, "_start", start)
    with pytest.raises(HarnessError):
        stage.start()
    assert cluster.kept is not somebodys


def test_files_of_an_embedded_cluster_that_are_kept_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    stage = Stage("reference", keep=True, say=said.append)
    cluster: Any = LocalCluster(keep=True)
    cluster.processes["etcd"] = SimpleNamespace(kill=lambda: None, log=tmp_path / "etcd.log")
    monkeypatch.setattr(cluster, "_directory", tmp_path / "muster-x")
    stage.cluster, stage.failed = cluster, True
    stage.stop()
    assert said == [f"kept: the files of the cluster, with all logs; when you are done: rm -r {tmp_path}/muster-x"]
