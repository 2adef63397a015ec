"""Runs on real nodes that an owner gives: a kind cluster plays the existing one, and its audit log is the witness.

Needs a Docker engine and an archive of `make kind-image`, which MUSTER_KIND_IMAGE names: `make test-kind` has both.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from muster import timeouts
from muster.cluster.existing import cleanup
from muster.cluster.resources import NODE, POD
from muster.schedulers import existing_cluster_objects
from tests.support.existing_cluster import PATIENCE, kill_everything, muster, results_in
from tests.support.existing_kind import SELECTOR, KindWorld, existing_kind

IMAGE = os.environ.get("MUSTER_KIND_IMAGE", "")
pytestmark = pytest.mark.skipif(not IMAGE, reason="MUSTER_KIND_IMAGE names no archive of `make kind-image`")
GIVEN = ("--node-selector", SELECTOR, "--training-image", "muster.dev/training:1")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KindWorld]:
    with existing_kind(IMAGE, tmp_path_factory.mktemp("kind")) as world:
        yield world


def finished(world: KindWorld, place: Path, *arguments: str) -> tuple[int, str]:
    """The exit code and the output of a run there."""
    run = world.run(*arguments, cwd=place)
    out, _ = run.communicate(timeout=2 * PATIENCE)
    return run.returncode, out


def lanes(place: Path) -> dict[str, Any]:
    """Of the timeline of the walk-through, by node."""
    (timeline,) = place.glob("results/latest/timelines/DOC-1*.json")
    return {lane["node"]: lane for lane in json.loads(timeline.read_text())["lanes"]}


def container_logs(place: Path) -> str:
    """What was attached to the walk-through."""
    attached = [file.read_text(errors="replace") for file in place.glob("results/latest/allure/*.txt")]
    return next((text for text in attached if ", GPUs: " in text), "")


@pytest.mark.parametrize("scheduler", ["kube-scheduler", "reference"])
def test_a_walk_through_runs_on_nodes_that_are_only_read(world: KindWorld, tmp_path: Path, scheduler: str) -> None:
    before, since = world.theirs(), world.changes()
    code, out = finished(world, tmp_path, "--scheduler", scheduler, "--only", "DOC-1", *GIVEN)
    assert code == 0, out
    assert world.stray_writes(since) == []
    assert world.forbidden() == []
    assert len(world.writes()) > since + 20
    assert world.theirs() == before
    drawn = lanes(tmp_path)
    assert {name for name in drawn if drawn[name]["bars"]} == set(world.given)
    assert [drawn[name]["gpu_ids"] for name in world.given] == [[f"gpu-{number}" for number in range(4)]] * 3
    logs = container_logs(tmp_path)
    assert logs.count("GPUs: gpu-") == 4
    assert logs.count("peer lost: ") >= 1
    assert world.training_processes() == 0


def test_what_these_nodes_cannot_hold_is_not_staged(world: KindWorld, tmp_path: Path) -> None:
    since = world.changes()
    chosen = ("PRE-01", "DOC-2", "DOC-4", "QUE-08")
    code, out = finished(world, tmp_path, "--scheduler", "reference", "--only", *chosen, *GIVEN)
    assert code == 2, out  # nothing was tested
    found = {name: one["message"] for name, one in results_in(tmp_path).items() if one["verdict"] == "not-staged"}
    assert found.keys() == set(chosen)
    assert "none of the 3 given nodes can stand for gpu-1 with 2 GPUs" in found["PRE-01"]
    assert "Muster changes none of these nodes" in found["DOC-4"]
    assert "that of --training-image" in found["DOC-2"]
    assert "CPUs free" in found["QUE-08"]
    assert world.stray_writes(since) == []


def test_doctor_names_the_nodes_and_refuses_those_of_others(world: KindWorld) -> None:
    there = ("doctor", "--kubeconfig", str(world.kubeconfig))
    well = muster(*there, "--node-selector", SELECTOR)
    assert well.returncode == 0, well.stdout + well.stderr
    assert f"node        {world.given[0]}: 4 GPUs, 4 CPUs, kubelet v1" in well.stdout
    assert "permission  pods/proxy in the run's namespaces: create\n" in well.stdout
    other = world.kind.workers[-1]
    world.api.patch(NODE, other, {"metadata": {"labels": {"free": "yes"}}})
    ill = muster(*there, "--node-selector", "free=yes")
    world.api.patch(NODE, other, {"metadata": {"labels": {"free": None}}})
    assert ill.returncode == 1
    assert f"kubectl taint nodes {other} free=yes:NoSchedule" in ill.stdout
    world.engine.run_in_node(world.given[0], "echo 0 > /etc/muster/gpus")
    world.wait_until(lambda: world.gpus(world.given[0]) == "0")
    idle = muster(*there, "--node-selector", SELECTOR)
    world.engine.run_in_node(world.given[0], "echo 4 > /etc/muster/gpus")
    world.wait_until(lambda: world.gpus(world.given[0]) == "4")
    assert idle.returncode == 1
    assert f"the node {world.given[0]} advertises no nvidia.com/gpu: has its device plugin registered" in idle.stdout
    none: subprocess.CompletedProcess[str] = muster(*there, "--node-selector", "nobody=here")
    assert "no node has the labels of --node-selector nobody=here" in none.stdout


def test_an_image_that_is_not_there_is_an_error_within_seconds(world: KindWorld, tmp_path: Path) -> None:
    before = world.theirs()
    elsewhere = ("--node-selector", SELECTOR, "--training-image", "registry.invalid/none:1")
    code, out = finished(world, tmp_path, "--scheduler", "kube-scheduler", "--only", "DOC-1", *elsewhere)
    assert code == 2, out
    assert "does not have the image registry.invalid/none:1 of pytorch-priority-medium" in " ".join(out.split())
    assert results_in(tmp_path)["DOC-1"]["seconds"] < timeouts.SETTING_UP
    assert world.theirs() == before


def test_a_killed_run_leaves_nothing_after_its_cleanup(world: KindWorld, tmp_path: Path) -> None:
    before, since = world.theirs(), world.changes()
    run = world.run("--scheduler", "reference", "--only", "DOC-1", "--repeat", "9", *GIVEN, cwd=tmp_path)
    world.wait_until(lambda: world.training_processes() >= 3 or run.poll() is not None)
    kill_everything(run)
    (left,) = cleanup.find_runs(world.api, existing_cluster_objects())
    code, out = finished(world, tmp_path, "--scheduler", "reference", "--only", "DOC-1", *GIVEN)
    assert code == 2, out
    assert f"muster cleanup --run {left}" in " ".join(out.split())
    cleaned = muster("cleanup", "--kubeconfig", str(world.kubeconfig))
    assert cleaned.returncode == 0, cleaned.stderr
    world.wait_until(lambda: world.training_processes() == 0)
    assert world.theirs() == before
    assert world.stray_writes(since) == []


def test_a_node_whose_kubelet_stops_is_an_error(world: KindWorld, tmp_path: Path) -> None:
    """In the middle of the scenario: the pods of its job are created for a node that no longer starts them."""
    before, silent = world.theirs(), world.given[0]
    run = world.run("--scheduler", "kube-scheduler", "--only", "DOC-1", *GIVEN, cwd=tmp_path)
    world.wait_until(lambda: _runs(world) or run.poll() is not None)
    world.engine.run_in_node(silent, "systemctl stop kubelet")
    try:
        out, _ = run.communicate(timeout=2 * PATIENCE)
    finally:
        world.engine.run_in_node(silent, "systemctl start kubelet")
    assert run.returncode == 2, out
    assert silent in out
    assert "passed" not in out.splitlines()[-1]
    muster("cleanup", "--kubeconfig", str(world.kubeconfig))
    world.wait_until(lambda: world.training_processes() == 0)
    world.wait_until(lambda: world.theirs() == before)


def _runs(world: KindWorld) -> bool:
    """Whether the first job of the walk-through does."""
    pods = [pod for pod in world.api.list(POD)["items"] if pod["metadata"]["name"].startswith("pytorch-priority")]
    return len(pods) >= 3 and all(pod["status"].get("phase") == "Running" for pod in pods[:3])
