"""`muster up` with everything: a job that is submitted runs; nothing is left afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from muster.arena import in_process
from muster.cli import main
from muster.cluster.resources import NODE, POD
from muster.cluster.run_scope import open_api
from tests.support.local_cluster import Watch, phase_is
from tests.support.processes_left import PATIENCE

BAD = {
    "no scheduler of that name": (["--scheduler", "nope"], "unknown scheduler 'nope'"),
    "no operator of that name": (["--operator", "nope"], "unknown operator 'nope': choose from reference"),
    "fewer than no nodes": (["--nodes", "-1"], "argument --nodes: '-1' is not a number from 0 upwards"),
    "fewer than no GPUs": (["--gpus", "-1"], "argument --gpus: '-1' is not a number from 0 upwards"),
    "fewer than no masters": (["--masters", "-1"], "argument --masters: '-1' is not a number from 0 upwards"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_usage_error_starts_nothing(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, message = BAD[case]
    assert main(["up", *arguments]) == 64
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    directory = tmp_path / "temporary"
    directory.mkdir()
    return directory


@pytest.fixture
def up(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """With its defaults, but smaller."""
    command = [sys.executable, "-m", "muster", "up", "--nodes", "1", "--gpus", "2", "--masters", "1"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as running:
        yield running
        if running.poll() is None:
            running.kill()


@pytest.mark.plane
def test_a_job_that_is_submitted_runs(up: subprocess.Popen[str], temporary: Path) -> None:
    assert up.stdout is not None
    kubeconfig = Path(up.stdout.readline().strip().removeprefix("export KUBECONFIG="))
    api = open_api(kubeconfig)
    taints = {one["metadata"]["name"]: one["spec"].get("taints", []) for one in api.list(NODE)["items"]}
    assert list(taints) == ["gpu-1", "master-1"]
    assert [(one["key"], one["effect"]) for one in taints["master-1"]] == [
        ("node-role.kubernetes.io/master", "NoSchedule")
    ]

    watch = Watch(api)
    for name, priority in (("first", "medium"), ("second", "critical")):
        command = f'muster submit pytorch --name={name} --gpus=2 --image=i --priority={priority} "true"'
        assert in_process.run(command, kubeconfig).exit_code == 0
        watch.until(POD, f"{name}-master-0", phase_is("Running"))
    assert "second-master-0" in in_process.run("muster top node -d", kubeconfig).output
    assert "is bound to gpu-1" in in_process.run("muster explain second-master-0", kubeconfig).output

    up.send_signal(signal.SIGINT)
    _, printed = up.communicate(timeout=PATIENCE)
    assert up.returncode == 0
    assert "scheduler  reference" in printed
    assert "operator   reference" in printed
    assert len(printed.splitlines()) <= 12
    assert printed.endswith("everything is gone: no process, no port, no file left\n")
    assert list(temporary.iterdir()) == []


@pytest.mark.plane
def test_a_component_that_ends_stops_it_and_is_named(up: subprocess.Popen[str], temporary: Path) -> None:
    assert up.stdout is not None
    assert up.stdout.readline().startswith("export KUBECONFIG=")
    os.kill(child(up.pid, b"scheduler.operator"), signal.SIGKILL)
    _, printed = up.communicate(timeout=PATIENCE)
    assert up.returncode == 2
    assert "muster: the operator reference" in printed
    assert list(temporary.iterdir()) == []


def child(parent: int, part: bytes) -> int:
    """The one with that text in its command line, which is empty in the middle of exec."""
    deadline = time.monotonic() + PATIENCE
    while len(found := [pid for pid, line in children(parent) if part in line]) != 1:
        assert time.monotonic() < deadline, f"{len(found)} children with {part!r}"
        time.sleep(0.01)
    return found[0]


def children(parent: int) -> list[tuple[int, bytes]]:
    """By pid, with their command lines. The file named children may leave some out while others come and go."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append((int(place.name), place.joinpath("cmdline").read_bytes()))
        except OSError:
            continue  # gone meanwhile
    return found
