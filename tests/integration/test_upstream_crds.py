"""The operator on the CRD of Kubeflow's training-operator, which prunes every status field that is not listed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from muster import assets
from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD
from muster.schedulers.crds import install_crds
from tests.integration.test_operator_process import MPI, PYTORCH, SERVICE, job, run, state_is, submit
from tests.support.local_cluster import Watch, bind, is_gone, mark, node, phase_is
from tests.support.operator_process import ROOT, operator, operator_kubeconfig

pytestmark = pytest.mark.plane

_CRD = "training-operator-pytorchjobs.yaml"


class UpstreamWatch(Watch):
    """Watches jobs and services as well."""

    kinds = (*Watch.kinds, PYTORCH, MPI, SERVICE)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        install_crds(cluster.connection.api, assets.ensure([_CRD], print_line=print)[_CRD])
        install_crds(cluster.connection.api, ROOT / "manifests" / "crds" / "kubeflow-mpijobs.yaml")
        cluster.connection.api.create(node("n", gpus=16))
        yield cluster


def test_restarts_are_remembered_and_the_limit_stops_the_job(cluster: LocalCluster, tmp_path: Path) -> None:
    api = cluster.connection.api
    watch, account = UpstreamWatch(api), operator_kubeconfig(cluster, tmp_path)
    with operator(account, tmp_path / "log"):
        submit(api, job("train", policy="ExitCode", backoffLimit=2))
        run(api, watch, ("train-master-0", "train-worker-0"))
        watch.until(PYTORCH, "train", state_is("Running"))
        for _ in range(2):
            crashed = time.monotonic()
            mark(api, "train-worker-0", exit_code="137")
            again = watch.until(POD, "train-worker-0", lambda event, _: event == "ADDED", since=crashed)
            bind(api, "train-worker-0", "n")
            watch.until(POD, "train-worker-0", phase_is("Running"), since=again)
        mark(api, "train-worker-0", exit_code="137")
        watch.until(PYTORCH, "train", state_is("Failed"))
        watch.until(POD, "train-master-0", is_gone)
    found = api.get(PYTORCH, "train", "default")
    assert "backoff limit" in found["status"]["conditions"][-1]["message"]
    assert set(found["status"]) <= {"conditions", "replicaStatuses", "startTime", "completionTime"}
