"""The operator as a process with a real API server: the lifecycle of jobs and their pods."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from muster.cluster.api import Api, ApiRefused
from muster.cluster.local import LocalCluster
from muster.cluster.resources import CONFIG_MAP, EVENT, POD, ROLE_BINDING, SECRET, SERVICE_ACCOUNT, Resource
from muster.schedulers.crds import install_crds
from muster.schedulers.volcano import VOLCANO_GROUP
from scheduler.operator.api_objects import Job
from scheduler.operator.replica_names import suffix
from tests.support.local_cluster import Object, Watch, bind, is_gone, mark, node, phase_is, reason_is
from tests.support.operator_process import ROOT, grant_kubectl_delivery, operator, operator_kubeconfig

pytestmark = pytest.mark.plane

PYTORCH = Resource("kubeflow.org/v1", "PyTorchJob", "pytorchjobs")
MPI = Resource("kubeflow.org/v1", "MPIJob", "mpijobs")
OLD_MPI = Resource("kubeflow.org/v1alpha1", "MPIJob", "mpijobs")
NEW_MPI = Resource("kubeflow.org/v2beta1", "MPIJob", "mpijobs")
SERVICE = Resource("v1", "Service", "services")
LEASE = Resource("coordination.k8s.io/v1", "Lease", "leases")
ROLE = Resource("rbac.authorization.k8s.io/v1", "Role", "roles")


class JobWatch(Watch):
    """Watches jobs, PodGroups and services as well."""

    kinds = (*Watch.kinds, PYTORCH, MPI, VOLCANO_GROUP, SERVICE, CONFIG_MAP)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        for name in ("kubeflow-pytorchjobs", "kubeflow-mpijobs", "volcano-podgroups"):
            install_crds(cluster.connection.api, ROOT / "manifests" / "crds" / f"{name}.yaml")
        cluster.connection.api.create(node("n", gpus=16))
        yield cluster


@pytest.fixture(scope="module")
def account(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return operator_kubeconfig(cluster, tmp_path_factory.mktemp("account"))


@pytest.fixture
def api(cluster: LocalCluster) -> Api:
    return cluster.connection.api


@pytest.fixture
def watch(api: Api) -> JobWatch:
    return JobWatch(api)


def job(name: str, *, workers: int = 1, policy: str = "Never", **run: Any) -> Object:
    def role(count: int) -> Object:
        container = {"name": "pytorch", "image": "training", "resources": {"limits": {"nvidia.com/gpu": 1}}}
        return {"replicas": count, "restartPolicy": policy, "template": {"spec": {"containers": [container]}}}

    roles = {"Master": role(1), "Worker": role(workers)}
    return {
        "apiVersion": PYTORCH.api_version,
        "kind": "PyTorchJob",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"runPolicy": run, "pytorchReplicaSpecs": roles},
    }


def submit(api: Api, manifest: Object) -> None:
    version, plural = manifest["apiVersion"], manifest["kind"].lower() + "s"
    api.post(f"/apis/{version}/namespaces/default/{plural}", manifest)


def state_is(kind: str) -> Callable[[str, Object], bool]:
    """The state that `kubectl get` shows: the last condition."""
    return lambda event, found: (
        event != "DELETED" and (found.get("status", {}).get("conditions") or [{}])[-1].get("type") == kind
    )


def run(api: Api, watch: Watch, pods: Sequence[str]) -> None:
    for name in pods:
        watch.until(POD, name, phase_is("Pending"))
        bind(api, name, "n")
    for name in pods:
        watch.until(POD, name, phase_is("Running"))


def test_a_job_gets_its_pods_runs_and_succeeds(account: Path, api: Api, watch: JobWatch, tmp_path: Path) -> None:
    pods = ("good-master-0", "good-worker-0", "good-worker-1")
    with operator(account, tmp_path / "log"):
        submit(api, job("good", workers=2, cleanPodPolicy="Running"))
        created = watch.until(PYTORCH, "good", state_is("Created"))
        run(api, watch, pods)
        running = watch.until(PYTORCH, "good", state_is("Running"))
        assert created < running
        for name in pods:
            watch.until(SERVICE, name, lambda event, _: event == "ADDED")
        mark(api, "good-master-0", exit_code="0")
        watch.until(PYTORCH, "good", state_is("Succeeded"))
        for worker in pods[1:]:
            watch.until(POD, worker, is_gone)
        status = api.get(PYTORCH, "good", "default")["status"]
        assert status["replicaStatuses"]["Worker"]["succeeded"] == 2
        assert status["completionTime"] >= status["startTime"]
        assert api.get(POD, "good-master-0", "default")["status"]["phase"] == "Succeeded"
        watch.until(EVENT, "good", reason_is("SuccessfulCreatePod"))
        api.delete(PYTORCH, "good", "default")
        watch.until(POD, "good-master-0", is_gone)


def test_a_lost_replica_fails_the_job_and_its_peers_crash(
    account: Path, api: Api, watch: JobWatch, tmp_path: Path
) -> None:
    with operator(account, tmp_path / "log", "--profile", "walkthroughs"):
        submit(api, job("lossy", workers=2, policy="OnFailure"))
        run(api, watch, ("lossy-master-0", "lossy-worker-0", "lossy-worker-1"))
        watch.until(PYTORCH, "lossy", state_is("Running"))
        api.delete(POD, "lossy-worker-1", "default")
        watch.until(PYTORCH, "lossy", state_is("Failed"))
        for survivor in ("lossy-master-0", "lossy-worker-0"):
            watch.until(POD, survivor, phase_is("Failed"))
        names = {one["metadata"]["name"] for one in api.list(POD, "default")["items"]}
        assert "lossy-worker-1" not in names


def test_a_replica_that_is_deleted_while_the_operator_is_down_is_lost(
    account: Path, api: Api, watch: JobWatch, tmp_path: Path
) -> None:
    def all_active(event: str, found: Object) -> bool:
        counts = found.get("status", {}).get("replicaStatuses", {})
        return event != "DELETED" and sum(one["active"] for one in counts.values()) == 2

    log = tmp_path / "log"
    with operator(account, log):
        submit(api, job("down"))
        run(api, watch, ("down-master-0", "down-worker-0"))
        watch.until(PYTORCH, "down", all_active)
    api.delete(POD, "down-worker-0", "default", grace=0)
    watch.until(POD, "down-worker-0", is_gone)
    with operator(account, log):
        watch.until(PYTORCH, "down", state_is("Failed"))
    assert "down-worker-0" not in {one["metadata"]["name"] for one in api.list(POD, "default")["items"]}


def test_a_gang_has_no_pods_before_its_pod_group_is_admitted(
    account: Path, api: Api, watch: JobWatch, tmp_path: Path
) -> None:
    with operator(account, tmp_path / "log", "--gang", "volcano", "--leader-elect"):
        submit(api, job("gang", workers=5, schedulingPolicy={"queue": "test", "priorityClass": "high-priority"}))
        watch.until(VOLCANO_GROUP, "gang", lambda event, _: event == "ADDED")
        watch.until(PYTORCH, "gang", state_is("Created"))
        spec = api.get(VOLCANO_GROUP, "gang", "default")["spec"]
        assert (spec["minMember"], spec["queue"], spec["priorityClassName"]) == (6, "test", "high-priority")
        assert spec["minResources"] == {"nvidia.com/gpu": "6"}
        assert not any(one["metadata"]["name"].startswith("gang-") for one in api.list(POD, "default")["items"])
        api.patch(VOLCANO_GROUP, "gang", {"status": {"phase": "Inqueue"}}, namespace="default")
        names = ("gang-master-0", *(f"gang-worker-{index}" for index in range(5)))
        run(api, watch, names)
        assert api.get(POD, "gang-master-0", "default")["spec"]["schedulerName"] == "volcano"
        for name in names:
            mark(api, name, exit_code="0")
        watch.until(PYTORCH, "gang", state_is("Succeeded"))
        watch.until(VOLCANO_GROUP, "gang", is_gone)
    lease = api.get(LEASE, "muster-operator", "kube-system")
    assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == ("", 1)  # released


def test_a_v1alpha1_mpi_job_as_arena_creates_it(account: Path, api: Api, watch: JobWatch, tmp_path: Path) -> None:
    container = {"name": "mpi", "image": "training", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    metadata = {"name": "medium", "namespace": "default", "labels": {"app": "mpijob", "release": "medium"}}
    spec = {"replicas": 1, "backoffLimit": 0, "cleanPodPolicy": "All", "template": template}
    with operator(account, tmp_path / "log", "--profile", "walkthroughs"):
        submit(api, {"apiVersion": OLD_MPI.api_version, "kind": "MPIJob", "metadata": metadata, "spec": spec})
        run(api, watch, ["medium-worker-0"])
        seen = msgspec.convert(api.get(MPI, "medium", "default"), Job)
        name = f"medium-launcher-{suffix(seen)}"
        watch.until(POD, name, phase_is("Pending"))
        launcher = api.get(POD, name, "default")
        assert launcher["metadata"]["labels"]["mpi_role_type"] == "launcher"
        assert not launcher["spec"]["containers"][0]["resources"]
        run(api, watch, [name])
        watch.until(MPI, "medium", state_is("Running"))
        api.delete(POD, "medium-worker-0", "default")
        watch.until(MPI, "medium", state_is("Failed"))
        watch.until(POD, "medium-worker-0", is_gone)
        watch.until(POD, name, phase_is("Failed"))
        left = api.list(POD, "default", labelSelector="release=medium,app=mpijob")["items"]
        assert [one["metadata"]["name"] for one in left] == [name]
        assert api.get(OLD_MPI, "medium", "default")["status"]["launcherStatus"] == "Failed"


def mpi_job(name: str, kind: Resource, *, workers: int) -> Object:
    template = {"spec": {"containers": [{"name": "mpi", "image": "training"}]}}
    roles = {"Launcher": {"template": template}, "Worker": {"replicas": workers, "template": template}}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": kind.api_version,
        "kind": "MPIJob",
        "metadata": metadata,
        "spec": {"mpiReplicaSpecs": roles},
    }


def prints(*hosts: str) -> Callable[[str, Object], bool]:
    script = "\n".join(["#!/bin/sh", *(f"echo {host}" for host in hosts), ""])
    return lambda event, found: event != "DELETED" and found.get("data", {}).get("discover_hosts.sh") == script


def test_a_v2beta1_mpi_job_has_keys_and_files_of_its_own(
    account: Path, api: Api, watch: JobWatch, tmp_path: Path
) -> None:
    pods = ("ssh-launcher", "ssh-worker-0")
    with operator(account, tmp_path / "log"):
        submit(api, mpi_job("ssh", NEW_MPI, workers=1))
        run(api, watch, pods)
        watch.until(MPI, "ssh", state_is("Running"))
        watch.until(CONFIG_MAP, "ssh-config", prints("ssh-worker-0.ssh.default.svc"))
        assert api.get(SERVICE, "ssh", "default")["spec"]["clusterIP"] == "None"
        keys = api.get(SECRET, "ssh-ssh", "default")
        assert keys["type"] == "kubernetes.io/ssh-auth"
        began = time.monotonic()
        api.delete(POD, "ssh-worker-0", "default", grace=0)
        watch.until(POD, "ssh-worker-0", lambda event, _: event == "ADDED", since=began)
        assert api.get(SECRET, "ssh-ssh", "default")["data"] == keys["data"], "the launcher has the old keys"
        began = time.monotonic()
        mark(api, "ssh-launcher", exit_code="0")
        watch.until(MPI, "ssh", state_is("Succeeded"), since=began)
        api.delete(MPI, "ssh", "default")
        watch.until(CONFIG_MAP, "ssh-config", is_gone)


def test_a_launcher_with_kubectl_may_exec_into_its_workers(
    cluster: LocalCluster, account: Path, api: Api, watch: JobWatch, tmp_path: Path
) -> None:
    grant_kubectl_delivery(cluster)
    with operator(account, tmp_path / "log", "--mpi-kubectl-delivery-image", "example.com/kubectl"):
        submit(api, mpi_job("exec", MPI, workers=1))
        run(api, watch, ["exec-worker-0"])
        watch.until(POD, "exec-launcher", phase_is("Pending"))
        assert api.get(POD, "exec-launcher", "default")["spec"]["serviceAccountName"] == "exec-launcher"
        for kind in (SERVICE_ACCOUNT, ROLE_BINDING):
            assert api.get(kind, "exec-launcher", "default")["metadata"]["ownerReferences"]
        patch = {"spec": {"mpiReplicaSpecs": {"Worker": {"replicas": 2}}}}
        api.patch(MPI, "exec", patch, namespace="default")
        watch.until(POD, "exec-worker-1", phase_is("Pending"))
        rules = api.get(ROLE, "exec-launcher", "default")["rules"]
        assert rules[1]["resourceNames"] == ["exec-worker-0", "exec-worker-1"]


def test_invalid_jobs_are_rejected_or_fail_validation(account: Path, api: Api, watch: JobWatch, tmp_path: Path) -> None:
    invalid = job("invalid")
    invalid["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 0
    with pytest.raises(ApiRefused, match=r"Worker\.replicas"):
        submit(api, invalid)
    empty, rejected = job("empty"), job("rejected")
    empty["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"] = []
    rejected["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["name"] = "No Name"
    with operator(account, tmp_path / "log"):
        for name, manifest, field in (
            ("empty", empty, "spec.pytorchReplicaSpecs.Master.template.spec.containers"),
            ("rejected", rejected, "spec.containers[0].name"),
        ):
            submit(api, manifest)
            watch.until(PYTORCH, name, state_is("Failed"))
            condition = api.get(PYTORCH, name, "default")["status"]["conditions"][-1]
            assert condition["reason"] == "PyTorchJobFailedValidation"
            assert field in condition["message"]
        watch.until(POD, "rejected-master-0", is_gone)  # created before the worker was rejected
        watch.until(EVENT, "empty", reason_is("PyTorchJobFailedValidation"))


def test_a_killed_and_restarted_operator_creates_no_pod_twice(
    account: Path, api: Api, watch: JobWatch, tmp_path: Path
) -> None:
    jobs = [f"many-{number}" for number in range(10)]
    with operator(account, tmp_path / "log") as first:
        for name in jobs:
            submit(api, job(name, workers=2))
        watch.until(POD, "many-3-master-0", phase_is("Pending"))
        first.kill()
        first.wait()
        first.returncode = 0  # killed on purpose
    before = _uids(api)
    with operator(account, tmp_path / "log"):
        for name in jobs:
            for pod in (f"{name}-master-0", f"{name}-worker-0", f"{name}-worker-1"):
                watch.until(POD, pod, phase_is("Pending"))
            watch.until(PYTORCH, name, state_is("Created"))
        submit(api, job("newcomer"))  # the first operator may have created all pods: this one needs the second
        watch.until(PYTORCH, "newcomer", state_is("Created"))
    after = _uids(api)
    assert before.items() <= after.items()
    assert len(after) == 3 * len(jobs)


def test_active_deadline_and_ttl(account: Path, api: Api, watch: JobWatch, tmp_path: Path) -> None:
    """Only timers trigger these reconciliations."""
    with operator(account, tmp_path / "log"):
        submit(api, job("slow", activeDeadlineSeconds=1, ttlSecondsAfterFinished=1))
        watch.until(PYTORCH, "slow", state_is("Failed"))
        watch.until(PYTORCH, "slow", is_gone)
        for name in ("slow-master-0", "slow-worker-0"):
            watch.until(POD, name, is_gone)


def _uids(api: Api) -> dict[str, str]:
    found = api.list(POD, "default")["items"]
    return {one["metadata"]["name"]: one["metadata"]["uid"] for one in found if one["metadata"]["name"][:5] == "many-"}
