"""MPIJob v2beta1: SSH between the pods, a launcher that is retried, workers that are created again when deleted."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

from scheduler.operator.lost_replicas import Profile
from scheduler.operator.mpi_ssh_pods import PRIVATE_KEY, PUBLIC_KEY, with_keys
from tests.support.reconcile_harness import JobSimulation, Object, mpi_v2beta1

VOLCANO = Profile(gang="volcano")


def simulate(*, profile: Profile | None = None, **fields: Any) -> JobSimulation:
    return JobSimulation(mpi_v2beta1(**fields), kind="MPIJob", profile=profile or Profile()).settle()


def mount_of(pod: Object, volume: str) -> str:
    (path,) = [one["mountPath"] for one in pod["spec"]["containers"][0]["volumeMounts"] if one["name"] == volume]
    return str(path)


def secret_of(pod: Object) -> Object:
    (found,) = [one["secret"] for one in pod["spec"]["volumes"] if one["name"] == "ssh-auth"]
    return dict(found)


def test_launcher_and_workers_are_created_at_once_behind_one_service() -> None:
    """JOB-21, JOB-22"""
    job = simulate()
    assert list(job.pods) == ["job-launcher", "job-worker-0", "job-worker-1"]
    service = job.services["job"]["spec"]
    assert (service["clusterIP"], service["publishNotReadyAddresses"]) == ("None", False)
    for name, pod in job.pods.items():
        assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == (name, "job")
        assert service["selector"].items() <= pod["metadata"]["labels"].items()
    assert job.pods["job-worker-0"]["metadata"]["labels"]["training.kubeflow.org/operator-name"] == "mpi-operator"
    assert job.pods["job-worker-0"]["spec"]["dnsConfig"]["searches"] == ["job.ns.svc.cluster.local"]
    assert job.pods["job-worker-0"]["spec"]["containers"][0]["command"] == ["/usr/sbin/sshd", "-De"]


def test_all_pods_mount_the_same_keys() -> None:
    """JOB-21"""
    job = simulate(sshAuthMountPath="/home/user/.ssh")
    assert job.unwatched["Secret"]["metadata"]["name"] == "job-ssh"
    for pod in job.pods.values():
        assert mount_of(pod, "ssh-auth") == "/home/user/.ssh"
        assert secret_of(pod)["secretName"] == "job-ssh"
        paths = [one["path"] for one in secret_of(pod)["items"]]
        assert paths == ["id_rsa", "id_rsa.pub", "authorized_keys"]
        assert "defaultMode" not in secret_of(pod)
    assert secret_of(simulate().pods["job-launcher"])["defaultMode"] == 0o600


def test_a_key_pair_is_generated_for_the_secret() -> None:
    made, other = (with_keys({"kind": "Secret"})["stringData"] for _ in range(2))
    assert made[PRIVATE_KEY].startswith("-----BEGIN EC PRIVATE KEY-----")
    load_ssh_public_key(made[PUBLIC_KEY].encode())
    assert made != other


def test_the_launcher_waits_for_ready_workers_if_the_policy_says_so() -> None:
    """JOB-22"""
    job = simulate(launcherCreationPolicy="WaitForWorkersReady")
    assert list(job.pods) == ["job-worker-0", "job-worker-1"]
    assert "job-launcher" in job.run().pods


def test_the_job_runs_when_launcher_and_all_workers_run() -> None:
    job = simulate().run("job-launcher", "job-worker-0")
    assert job.state == "Created"
    assert job.run("job-worker-1").state == "Running"


def test_a_deleted_worker_is_created_again() -> None:
    """JOB-24"""
    job = simulate().run()
    assert job.lose("job-worker-0").pods["job-worker-0"]["status"]["phase"] == "Pending"
    assert job.run().state == "Running"
    job.preempt("job-worker-1")
    assert job.lose("job-worker-1").state == "Restarting"
    assert job.run().state == "Running"


def test_a_crashed_worker_is_left_to_the_launcher() -> None:
    """JOB-24"""
    job = simulate().run().end("job-worker-0", 1)
    assert (job.state, job.deleted_pods) == ("Running", [])
    assert job.counts("Worker") == (1, 0, 1)
    assert job.end("job-launcher").state == "Succeeded"


def test_an_evicted_worker_fails_the_job() -> None:
    job = simulate().run().end("job-worker-0", 137, reason="Evicted")
    assert job.state == "Failed"


@pytest.mark.parametrize(("fields", "retries"), [({"backoffLimit": 1}, 1), ({}, 6)])
def test_a_failed_launcher_is_retried_up_to_the_limit(fields: Any, retries: int) -> None:
    """JOB-23"""
    job = simulate(**fields).run()
    for _ in range(retries):
        assert job.end("job-launcher", 1).state == "Restarting"
        assert job.run().state == "Running"
    assert job.end("job-launcher", 1).state == "Failed"
    assert "backoff limit" in job.condition("Failed")["message"]


def test_clean_pod_policy_applies_to_the_workers() -> None:
    job = simulate(cleanPodPolicy="All").run().end("job-launcher")
    assert list(job.pods) == ["job-launcher"]
    assert list(job.services) == ["job"]
    assert list(simulate().run().end("job-launcher").pods) == ["job-launcher", "job-worker-0", "job-worker-1"]


@pytest.mark.parametrize(("policy", "members"), [("AtStartup", 3), ("WaitForWorkersReady", 2)])
def test_a_launcher_that_does_not_wait_is_a_member_of_the_gang(policy: str, members: int) -> None:
    job = simulate(profile=VOLCANO, launcherCreationPolicy=policy)
    assert job.group is not None
    assert job.group["spec"]["minMember"] == members


def test_queue_and_priority_of_a_gang_without_a_scheduling_policy() -> None:
    job = JobSimulation(mpi_v2beta1(), kind="MPIJob", profile=VOLCANO)
    job.metadata["annotations"] = {"scheduling.volcano.sh/queue-name": "research"}
    job.spec["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["priorityClassName"] = "high"
    group = job.settle().group
    assert group is not None
    assert (group["spec"]["queue"], group["spec"]["priorityClassName"]) == ("research", "high")


def test_a_launcher_that_runs_processes_is_a_host() -> None:
    job = simulate(runLauncherAsWorker=True)
    hosts = job.configs["job-config"]["data"]["hostfile"].splitlines()
    assert hosts[0] == "job-launcher.job.ns.svc slots=1"
    assert job.services["job"]["spec"]["publishNotReadyAddresses"] is True


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"mpiImplementation": "LAM"}, "spec.mpiImplementation:"),
        ({"launcherCreationPolicy": "Later"}, "spec.launcherCreationPolicy:"),
        ({"runLauncherAsWorker": "yes"}, "spec.runLauncherAsWorker:"),
        ({"slotsPerWorker": -1}, "spec.slotsPerWorker:"),
        ({"policy": "ExitCode"}, "spec.mpiReplicaSpecs.Launcher.restartPolicy:"),
    ],
)
def test_an_invalid_field_fails_the_job(fields: Any, field: str) -> None:
    job = simulate(**fields)
    assert f"because {field}" in job.condition("Failed")["message"]
    assert (job.pods, job.services, job.configs, job.unwatched) == ({}, {}, {}, {})
