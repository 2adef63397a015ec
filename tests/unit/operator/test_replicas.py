"""Replicas of a job: names, labels, environment, PodGroups, and invalid specs."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from scheduler.operator.lost_replicas import Profile
from tests.support.reconcile_harness import (
    START,
    TRAINING,
    WALKTHROUGHS,
    JobSimulation,
    Object,
    arena_mpi,
    mpi,
    pytorch,
    template,
)

VOLCANO = Profile(gang="volcano")
KOORDINATOR = Profile(gang="koordinator")


def environment(pod: Object) -> dict[str, str]:
    return {one["name"]: one["value"] for one in pod["spec"]["containers"][0]["env"]}


def test_names_labels_and_services_of_pytorch_replicas() -> None:
    """JOB-01"""
    job = JobSimulation(pytorch()).settle()
    assert list(job.pods) == ["job-master-0", "job-worker-0", "job-worker-1"]
    assert set(job.services) == set(job.pods)
    labels = job.pods["job-worker-1"]["metadata"]["labels"]
    assert {
        "training.kubeflow.org/operator-name": "pytorchjob-controller",
        "training.kubeflow.org/job-name": "job",
        "training.kubeflow.org/replica-type": "worker",
        "training.kubeflow.org/replica-index": "1",
        "group-name": "kubeflow.org",
        "job-name": "job",
        "pytorch-job-name": "job",
        "pytorch-replica-type": "worker",
        "pytorch-replica-index": "1",
        "app": "pytorchjob",
        "release": "job",
    }.items() <= labels.items()
    assert "training.kubeflow.org/job-role" not in labels
    assert job.pods["job-master-0"]["metadata"]["labels"]["training.kubeflow.org/job-role"] == "master"
    service = job.services["job-worker-1"]["spec"]
    assert service["clusterIP"] == "None"
    assert service["selector"].items() <= labels.items()
    (owner,) = job.pods["job-master-0"]["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == ("job-uid", True, True)


def test_rendezvous_variables_of_pytorch_replicas() -> None:
    """JOB-01"""
    job = JobSimulation(pytorch()).settle()
    ranks = {name: environment(pod) for name, pod in job.pods.items()}
    assert [one["RANK"] for one in ranks.values()] == ["0", "1", "2"]
    assert {one["MASTER_ADDR"] for one in ranks.values()} == {"job-master-0"}
    assert {(one["MASTER_PORT"], one["WORLD_SIZE"]) for one in ranks.values()} == {("23456", "3")}
    assert ranks["job-master-0"]["PYTHONUNBUFFERED"] == "1"


def test_without_a_master_the_first_worker_leads() -> None:
    job = JobSimulation({**pytorch(master=False), "nprocPerNode": "4"}).settle()
    assert list(job.pods) == ["job-worker-0", "job-worker-1"]
    found = environment(job.pods["job-worker-1"])
    assert (found["MASTER_ADDR"], found["RANK"], found["WORLD_SIZE"]) == ("job-worker-0", "1", "8")
    assert job.pods["job-worker-0"]["metadata"]["labels"]["job-role"] == "master"


def test_a_template_keeps_its_own_fields_except_the_rendezvous_variables() -> None:
    spec = pytorch(workers=0)
    wanted = spec["pytorchReplicaSpecs"]["Master"]["template"]
    wanted["metadata"] = {"labels": {"app": "mine", "x": "y"}, "annotations": {"a": "b"}}
    wanted["spec"]["containers"][0]["env"] = [{"name": "RANK", "value": "7"}, {"name": "MINE", "value": "1"}]
    wanted["spec"]["containers"][0]["ports"] = [{"name": "pytorchjob-port", "containerPort": 1234}]
    job = JobSimulation(spec).settle()
    pod = job.pods["job-master-0"]
    assert {"app": "mine", "x": "y"}.items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["annotations"] == {"a": "b"}
    found = environment(pod)
    assert (found["RANK"], found["MINE"], found["MASTER_PORT"]) == ("0", "1", "1234")


def test_pods_with_restart_policy_exit_code_are_not_restarted_by_the_kubelet() -> None:
    job = JobSimulation(pytorch(workers=0, policy="ExitCode")).settle()
    assert job.pods["job-master-0"]["spec"]["restartPolicy"] == "Never"


def test_the_walkthroughs_profile_marks_pods_that_crash_together() -> None:
    metadata = JobSimulation(pytorch(), profile=WALKTHROUGHS).settle().pods["job-worker-0"]["metadata"]
    assert (metadata["labels"]["muster.dev/job"], metadata["annotations"]["muster.dev/on-peer-loss"]) == (
        "job",
        "crash",
    )


def test_the_launcher_is_created_when_all_workers_are_ready() -> None:
    """JOB-07"""
    job = JobSimulation(mpi(), kind="MPIJob").settle()
    assert list(job.pods) == ["job-worker-0", "job-worker-1"]
    job.run("job-worker-0")
    assert "job-launcher" not in job.pods
    job.run("job-worker-1")
    assert "job-launcher" in job.pods
    assert job.state == "Created"
    assert job.run().state == "Running"
    assert job.services == {}
    assert job.pods["job-launcher"]["metadata"]["labels"]["mpi_role_type"] == "launcher"


def test_the_launcher_of_a_v1alpha1_job_has_a_suffix_and_no_gpu() -> None:
    """JOB-07, DOC-2"""
    job = JobSimulation(arena_mpi(), kind="MPIJob").settle().run()
    (name,) = [name for name in job.pods if "launcher" in name]
    assert len(name) == len("job-launcher-xxxxx")
    assert "resources" not in job.pods[name]["spec"]["containers"][0]
    assert job.pods["job-worker-0"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 1
    labels = job.pods[name]["metadata"]["labels"]
    assert {"group_name": "kubeflow.org", "mpi_job_name": "job", "app": "mpijob"}.items() <= labels.items()
    job.run()
    assert job.status["launcherStatus"] == "Active"


def test_a_volcano_gang_has_no_pods_until_its_pod_group_is_admitted() -> None:
    """JOB-06"""
    policy = {"queue": "test", "priorityClass": "high-priority"}
    job = JobSimulation(pytorch(workers=5, schedulingPolicy=policy), profile=VOLCANO).settle()
    assert job.group is not None
    assert job.group["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert job.group["spec"] == {
        "minMember": 6,
        "minResources": {"cpu": "6", "nvidia.com/gpu": "6"},
        "queue": "test",
        "priorityClassName": "high-priority",
    }
    assert job.pods == {}
    assert job.set_group_phase("Pending").pods == {}
    assert job.state == "Created"
    assert len(job.set_group_phase("Inqueue").pods) == 6
    pod = job.pods["job-master-0"]
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "job"
    assert pod["spec"]["schedulerName"] == "volcano"
    assert "priorityClassName" not in pod["spec"]
    job.run()
    for name in list(job.pods):
        job.end(name)
    assert job.group is None


def test_the_pods_of_a_koordinator_gang_are_created_at_once() -> None:
    """JOB-06"""
    policy = {"minAvailable": 2, "queue": "q", "priorityClass": "high", "scheduleTimeoutSeconds": 300}
    job = JobSimulation(pytorch(schedulingPolicy=policy), profile=KOORDINATOR).settle()
    assert job.group is not None
    assert job.group["apiVersion"] == "scheduling.sigs.k8s.io/v1alpha1"
    assert job.group["spec"]["minMember"] == 2
    assert job.group["spec"]["minResources"] == {"cpu": "2", "nvidia.com/gpu": "2"}
    assert job.group["spec"]["scheduleTimeoutSeconds"] == 300
    pod = job.pods["job-worker-1"]
    assert pod["metadata"]["labels"]["pod-group.scheduling.sigs.k8s.io"] == "job"
    assert pod["spec"]["schedulerName"] == "koord-scheduler"
    assert pod["spec"]["priorityClassName"] == "high"


def test_a_pod_group_is_deleted_after_the_last_pod_has_ended() -> None:
    """A running pod uses the queue's quota; a scheduler that lost the PodGroup would give it away."""
    job = JobSimulation(pytorch(schedulingPolicy={}), profile=KOORDINATOR).settle().run()
    assert job.end("job-master-0").state == "Succeeded"
    assert job.group is not None
    job.end("job-worker-0")
    assert job.group is not None
    job.end("job-worker-1")
    assert job.group is None
    failed = JobSimulation(pytorch(schedulingPolicy={}), profile=KOORDINATOR).settle().run()
    assert failed.end("job-worker-0", 1).state == "Failed"
    assert failed.group is None, "its remaining pods may run for ever"


def test_under_a_gang_scheduler_every_job_is_a_gang_of_all_its_replicas() -> None:
    job = JobSimulation(pytorch(), profile=VOLCANO).settle()
    assert job.group is not None
    assert (job.group["spec"]["minMember"], job.group["spec"]["queue"]) == (3, "default")
    pod = job.set_group_phase("Inqueue").pods["job-worker-1"]
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "job"
    assert pod["spec"]["schedulerName"] == "volcano"


def test_without_gangs_for_all_a_job_without_a_scheduling_policy_has_no_pod_group() -> None:
    profile = dataclasses.replace(VOLCANO, gang_all_jobs=False, scheduler_name="mine")
    job = JobSimulation(pytorch(), profile=profile).settle()
    assert job.group is None
    assert job.pods["job-master-0"]["spec"]["schedulerName"] == "mine"


def test_min_member_does_not_count_the_launcher() -> None:
    policy = {"minAvailable": 3}
    job = JobSimulation(mpi(schedulingPolicy=policy), kind="MPIJob", profile=VOLCANO).settle()
    assert job.group is not None
    assert job.group["spec"]["minMember"] == 2


def test_a_launcher_without_workers_is_a_gang_of_one() -> None:
    spec = mpi()
    del spec["mpiReplicaSpecs"]["Worker"]
    job = JobSimulation(spec, kind="MPIJob", profile=VOLCANO).settle()
    assert job.group is not None
    assert job.group["spec"]["minMember"] == 1


def test_min_resources_of_the_spec_are_copied() -> None:
    policy = {"minResources": {"cpu": "9"}}
    job = JobSimulation(pytorch(schedulingPolicy=policy), profile=VOLCANO).settle()
    assert job.group is not None
    assert job.group["spec"]["minResources"] == {"cpu": "9"}


def invalid_pytorch(role: str, **fields: Any) -> Object:
    spec = pytorch()
    spec["pytorchReplicaSpecs"][role] |= fields
    return spec


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("PyTorchJob", None, "spec:"),
        ("PyTorchJob", {}, "spec.pytorchReplicaSpecs:"),
        ("PyTorchJob", {"pytorchReplicaSpecs": []}, "spec.pytorchReplicaSpecs:"),
        ("PyTorchJob", {"pytorchReplicaSpecs": {"Chief": {}}}, "spec.pytorchReplicaSpecs.Chief:"),
        ("PyTorchJob", invalid_pytorch("Master", replicas=2), "spec.pytorchReplicaSpecs.Master.replicas:"),
        ("PyTorchJob", invalid_pytorch("Worker", replicas=0), "spec.pytorchReplicaSpecs.Worker.replicas:"),
        ("PyTorchJob", invalid_pytorch("Worker", replicas="two"), "spec.pytorchReplicaSpecs.Worker.replicas:"),
        ("PyTorchJob", invalid_pytorch("Worker", replicas=10**9), "spec.pytorchReplicaSpecs.Worker.replicas:"),
        (
            "PyTorchJob",
            invalid_pytorch("Worker", restartPolicy="Maybe"),
            "spec.pytorchReplicaSpecs.Worker.restartPolicy:",
        ),
        (
            "PyTorchJob",
            invalid_pytorch("Worker", template={"spec": {"containers": [{"name": "x"}]}}),
            "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image:",
        ),
        ("PyTorchJob", invalid_pytorch("Worker", template=7), "spec.pytorchReplicaSpecs.Worker.template:"),
        ("PyTorchJob", pytorch(cleanPodPolicy="Some"), "spec.runPolicy.cleanPodPolicy:"),
        ("PyTorchJob", pytorch(backoffLimit=-1), "spec.runPolicy.backoffLimit:"),
        ("PyTorchJob", pytorch(suspend="yes"), "spec.runPolicy.suspend:"),
        ("PyTorchJob", pytorch(schedulingPolicy={"minAvailable": 4}), "spec.runPolicy.schedulingPolicy.minAvailable:"),
        ("MPIJob", {}, "spec.mpiReplicaSpecs.Launcher:"),
        ("MPIJob", arena_mpi(workers=0), "spec.replicas:"),
    ],
)
def test_an_invalid_spec_fails_the_job_and_creates_nothing(kind: str, spec: Any, field: str) -> None:
    """JOB-09"""
    job = JobSimulation(spec, kind=kind, profile=VOLCANO).settle()
    assert job.state == "Failed"
    condition = job.condition("Failed")
    assert condition["reason"] == f"{kind}FailedValidation"
    assert f"because {field}" in condition["message"]
    assert any(one.startswith(f"{kind}FailedValidation") for one in job.events)
    assert (job.pods, job.services, job.group) == ({}, {}, None)
    assert "completionTime" in job.status


@pytest.mark.parametrize("name", ["j" * 60, "Job", "9lives", "a.b"])
def test_a_name_that_is_not_a_host_name_is_invalid(name: str) -> None:
    """JOB-09"""
    job = JobSimulation(pytorch(), name=name).settle()
    assert "metadata.name" in job.condition("Failed")["message"]


def test_run_policy_fields_directly_under_spec_are_read() -> None:
    spec = {**pytorch(workers=0), "cleanPodPolicy": "All", "ttlSecondsAfterFinished": 5}
    del spec["runPolicy"]
    job = JobSimulation(spec).settle().run()
    job.end("job-master-0")
    assert job.pods == {}
    assert job.requeue_at == START + 5


def test_an_invalid_quantity_fails_validation() -> None:
    spec = pytorch(schedulingPolicy={})
    spec["pytorchReplicaSpecs"]["Worker"]["template"] = template(cpu="many")
    assert "many" in JobSimulation(spec, profile=TRAINING).settle().condition("Failed")["message"]
