"""The ConfigMap of an MPIJob, and the pods that read it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from scheduler.operator.lost_replicas import Profile
from tests.support.reconcile_harness import JobSimulation, Object, arena_mpi, mpi, mpi_v2beta1, template

DELIVERY = Profile(kubectl_image="example.com/kubectl")


def files(job: JobSimulation) -> dict[str, str]:
    found: dict[str, str] = job.configs["job-config"]["data"]
    return found


def training_container(pod: Object) -> Object:
    found: Object = pod["spec"]["containers"][0]
    return found


def variables(pod: Object) -> dict[str, str]:
    return {one["name"]: one["value"] for one in training_container(pod)["env"]}


def volumes(pod: Object) -> dict[str, Object]:
    return {one["name"]: one for one in pod["spec"]["volumes"]}


def mounts(pod: Object) -> dict[str, str]:
    return {one["name"]: one["mountPath"] for one in training_container(pod)["volumeMounts"]}


def test_the_hostfile_lists_all_workers_before_they_run() -> None:
    """JOB-19"""
    job = JobSimulation({**mpi(), "slotsPerWorker": 4}, kind="MPIJob").settle()
    assert files(job)["hostfile"] == "job-worker-0 slots=4\njob-worker-1 slots=4\n"
    assert files(JobSimulation(mpi(), kind="MPIJob").settle())["hostfile"].startswith("job-worker-0 slots=1\n")


def test_the_slots_of_a_v1alpha1_job_are_its_gpus() -> None:
    spec = {**arena_mpi(), "template": template(gpus=8, name="mpi")}
    assert files(JobSimulation(spec, kind="MPIJob").settle())["hostfile"] == "job-worker-0 slots=8\n"
    given = {**spec, "slotsPerWorker": 2}
    assert files(JobSimulation(given, kind="MPIJob").settle())["hostfile"] == "job-worker-0 slots=2\n"


def test_a_launcher_with_gpus_is_a_host_too() -> None:
    spec = mpi(workers=1)
    spec["mpiReplicaSpecs"]["Launcher"]["template"] = template(gpus=1, name="mpi")
    job = JobSimulation(spec, kind="MPIJob").settle().run()
    assert files(job)["hostfile"] == "job-launcher slots=1\njob-worker-0 slots=1\n"
    assert "NVIDIA_VISIBLE_DEVICES" not in variables(job.pods["job-launcher"])


def test_discover_hosts_prints_the_workers_that_run(tmp_path: Path) -> None:
    """JOB-20"""
    job = JobSimulation({**mpi(workers=3), "slotsPerWorker": 2}, kind="MPIJob").settle()
    script = tmp_path / "discover_hosts.sh"

    def printed() -> list[str]:
        script.write_text(files(job)["discover_hosts.sh"])
        return subprocess.run(["sh", script], check=True, capture_output=True, text=True).stdout.split()

    assert printed() == []
    job.run("job-worker-1")
    assert printed() == ["job-worker-1:2"]
    job.run("job-worker-0")
    assert printed() == ["job-worker-0:2", "job-worker-1:2"]
    job.keep_terminating = True
    job.preempt("job-worker-1")
    assert files(job)["discover_hosts.sh"].count("echo") == 2, "the job has failed: its files are left alone"


def test_kubexec_runs_a_command_in_a_worker(tmp_path: Path) -> None:
    job = JobSimulation({**mpi(), "mainContainer": "main"}, kind="MPIJob").settle()
    kubectl, script = tmp_path / "kubectl", tmp_path / "kubexec.sh"
    kubectl.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    kubectl.chmod(0o755)
    script.write_text(files(job)["kubexec.sh"].replace("/opt/kube/", f"{tmp_path}/"))
    run = subprocess.run(
        ["sh", script, "job-worker-0", "orted", "-x", "a b"], check=True, capture_output=True, text=True
    )
    arguments = ["exec", "job-worker-0", "--container", "main", "--", "/bin/sh", "-c", "orted -x a b"]
    assert run.stdout.splitlines() == arguments


def test_the_launcher_reads_hostfile_and_kubexec_and_the_workers_kubexec() -> None:
    """JOB-19"""
    job = JobSimulation(mpi(), kind="MPIJob").settle().run()
    launcher, worker = job.pods["job-launcher"], job.pods["job-worker-0"]
    assert variables(launcher)["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    assert variables(launcher)["OMPI_MCA_plm_rsh_agent"] == "/etc/mpi/kubexec.sh"
    assert variables(launcher)["NVIDIA_VISIBLE_DEVICES"] == ""
    assert mounts(launcher) == mounts(worker) == {"mpi-job-config": "/etc/mpi"}
    items = {name: volumes(pod)["mpi-job-config"]["configMap"]["items"] for name, pod in job.pods.items()}
    assert [(one["key"], one["mode"]) for one in items["job-launcher"]] == [
        ("kubexec.sh", 0o555),
        ("hostfile", 0o444),
        ("discover_hosts.sh", 0o555),
    ]
    assert [one["key"] for one in items["job-worker-0"]] == ["kubexec.sh"]
    assert (training_container(worker)["command"], training_container(worker)["args"]) == (["sleep"], ["365d"])
    assert "serviceAccountName" not in launcher["spec"]
    assert "initContainers" not in launcher["spec"]
    assert job.unwatched == {}


def test_kubectl_comes_with_an_init_container_and_permission_to_exec_into_the_workers() -> None:
    job = JobSimulation(mpi(), kind="MPIJob", profile=DELIVERY).settle().run()
    pod = job.pods["job-launcher"]["spec"]
    (container,) = pod["initContainers"]
    assert (container["name"], container["image"]) == ("kubectl-delivery", "example.com/kubectl")
    assert pod["serviceAccountName"] == "job-launcher"
    assert mounts(job.pods["job-launcher"])["mpi-job-kubectl"] == "/opt/kube"
    assert list(job.unwatched) == ["ServiceAccount", "Role", "RoleBinding"]
    execs = job.unwatched["Role"]["rules"][1]
    assert (execs["resources"], execs["resourceNames"]) == (["pods/exec"], ["job-worker-0", "job-worker-1"])


def test_a_launcher_without_workers_may_not_exec_into_any_pod() -> None:
    spec = mpi()
    del spec["mpiReplicaSpecs"]["Worker"]
    job = JobSimulation(spec, kind="MPIJob", profile=DELIVERY).settle()
    assert [rule["resources"] for rule in job.unwatched["Role"]["rules"]] == [["pods"]]


def test_the_init_container_satisfies_the_restricted_pod_security_standard() -> None:
    spec = mpi()
    user = {"runAsNonRoot": True, "runAsUser": 1000, "privileged": True}
    spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["securityContext"] = user
    job = JobSimulation(spec, kind="MPIJob", profile=DELIVERY).settle().run()
    (container,) = job.pods["job-launcher"]["spec"]["initContainers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
        "runAsNonRoot": True,
        "runAsUser": 1000,
    }


def test_a_worker_keeps_its_own_command_volumes_and_variables() -> None:
    spec = mpi(workers=1)
    for role in ("Launcher", "Worker"):
        pod = spec["mpiReplicaSpecs"][role]["template"]["spec"]
        pod["volumes"] = [{"name": "data", "emptyDir": {}}]
        pod["containers"][0] |= {"command": ["mine"], "env": [{"name": "MINE", "value": "1"}]}
    job = JobSimulation(spec, kind="MPIJob").settle().run()
    assert training_container(job.pods["job-worker-0"])["command"] == ["mine"]
    for pod in job.pods.values():
        assert list(volumes(pod)) == ["data", "mpi-job-config"]
        assert variables(pod)["MINE"] == "1"


@pytest.mark.parametrize(
    ("implementation", "line", "expected"),
    [
        (
            "OpenMPI",
            "job-worker-0.job.ns.svc slots=2",
            {"OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile", "OMPI_MCA_orte_set_default_slots": "2"},
        ),
        ("Intel", "job-worker-0.job.ns.svc:2", {"I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile", "I_MPI_PERHOST": "2"}),
        ("MPICH", "job-worker-0.job.ns.svc:2", {"HYDRA_HOST_FILE": "/etc/mpi/hostfile"}),
    ],
)
def test_hostfile_and_variables_of_an_implementation(implementation: str, line: str, expected: Any) -> None:
    """JOB-25"""
    spec = mpi_v2beta1(workers=1, mpiImplementation=implementation, slotsPerWorker=2)
    job = JobSimulation(spec, kind="MPIJob").settle()
    assert files(job)["hostfile"] == f"{line}\n"
    assert expected.items() <= variables(job.pods["job-launcher"]).items()
    assert set(files(job)) == {"hostfile", "discover_hosts.sh"}
    assert files(job.run())["discover_hosts.sh"] == "#!/bin/sh\necho job-worker-0.job.ns.svc\n"
