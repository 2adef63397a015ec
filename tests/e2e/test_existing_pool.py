"""A run on a node that an owner gives, on an embedded plane: what it is bound to, and that the node is only read.

KWOK plays the kubelet, so that no container runs: `test_existing_kind` has those.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.existing_cluster import PATIENCE, World, muster, results_in, shared_cluster

pytestmark = pytest.mark.plane
GIVEN = ("--node-selector", "pool=muster", "--training-image", "registry.example/training:1")
OFFERS = {"cpu": "16", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": "2"}
CHANGES = "it changes a node (taints, labels, cordons), and Muster changes none of these nodes"
NODE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "given", "labels": {"tenant": "yes", "pool": "muster", "kubernetes.io/hostname": "given"}},
    "spec": {"taints": [{"key": "pool", "value": "muster", "effect": "NoSchedule"}]},
    "status": {"capacity": OFFERS, "allocatable": OFFERS},
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with shared_cluster(tmp_path_factory.mktemp("pool")) as world:
        world.api.create(NODE)
        world.grant_roles("--node-selector")
        yield world


@pytest.mark.parametrize("scheduler", ["kube-scheduler", "reference"])
def test_pods_run_on_the_node_that_was_given_and_it_is_only_read(world: World, tmp_path: Path, scheduler: str) -> None:
    before, since = world.theirs(), len(world.writes())
    named = f"kube-scheduler:{world.settings}" if scheduler == "kube-scheduler" else scheduler
    run = world.run("--scheduler", named, "--only", "PRE-01", "TNT-01", "GNG-09", *GIVEN, cwd=tmp_path)
    out, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, out
    found = results_in(tmp_path)
    assert (found["PRE-01"]["verdict"], found["PRE-01"]["nodes"]) == ("passed", "real")
    assert (found["TNT-01"]["verdict"], found["TNT-01"]["message"]) == ("not-staged", CHANGES)
    assert "real nodes" in out
    assert world.stray_writes(since) == []
    assert world.forbidden() == []
    assert world.theirs() == before


def test_doctor_lists_the_nodes(world: World) -> None:
    there = ("doctor", "--kubeconfig", str(world.kubeconfig), "--node-selector")
    well = muster(*there, "pool=muster")
    assert well.returncode == 0, well.stdout
    assert "node        given: 2 GPUs, 16 CPUs" in well.stdout
    assert "permission  pods/log in the run's namespaces: get\n" in well.stdout
    theirs = muster(*there, "tenant=yes")
    assert theirs.returncode == 1
    assert "kubectl taint nodes gpu-1 tenant=yes:NoSchedule" in theirs.stdout
