"""The operator on a CRD that serves MPIJob in v2beta1 alone, as that of the mpi-operator does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from muster.cluster.local import LocalCluster
from muster.cluster.resources import CONFIG_MAP, EVENT, POD
from muster.schedulers.crds import install_crd_manifests, install_crds, read_crds
from tests.integration.test_operator_process import NEW_MPI, PYTORCH, SERVICE, mpi_job, run, state_is, submit
from tests.support.local_cluster import Watch, is_gone, mark, node, reason_is
from tests.support.operator_process import ROOT, operator, operator_kubeconfig

pytestmark = pytest.mark.plane

_CRDS = ROOT / "manifests" / "crds"


class MpiWatch(Watch):
    """Watches jobs of v2beta1 and what they own as well."""

    kinds = (*Watch.kinds, PYTORCH, NEW_MPI, SERVICE, CONFIG_MAP)


def v2beta1_alone() -> dict[str, Any]:
    (definition,) = read_crds(_CRDS / "kubeflow-mpijobs.yaml")
    (version,) = (one for one in definition["spec"]["versions"] if one["name"] == "v2beta1")
    return {**definition, "spec": {**definition["spec"], "versions": [{**version, "storage": True}]}}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        install_crds(cluster.connection.api, _CRDS / "kubeflow-pytorchjobs.yaml")
        install_crd_manifests(cluster.connection.api, [v2beta1_alone()])
        cluster.connection.api.create(node("n", gpus=16))
        yield cluster


def test_a_job_runs_succeeds_and_is_deleted_with_all_it_owns(cluster: LocalCluster, tmp_path: Path) -> None:
    api = cluster.connection.api
    watch, account = MpiWatch(api), operator_kubeconfig(cluster, tmp_path)
    with operator(account, tmp_path / "log"):
        submit(api, mpi_job("train", NEW_MPI, workers=1))
        run(api, watch, ("train-launcher", "train-worker-0"))
        watch.until(NEW_MPI, "train", state_is("Running"))
        watch.until(EVENT, "train", reason_is("SuccessfulCreatePod"))
        (owner,) = api.get(POD, "train-worker-0", "default")["metadata"]["ownerReferences"]
        assert owner["apiVersion"] == NEW_MPI.api_version, "the garbage collector looks for the owner in this version"
        mark(api, "train-launcher", exit_code="0")
        watch.until(NEW_MPI, "train", state_is("Succeeded"))
        api.delete(NEW_MPI, "train", "default")
        for kind, name in ((POD, "train-launcher"), (SERVICE, "train"), (CONFIG_MAP, "train-config")):
            watch.until(kind, name, is_gone)
