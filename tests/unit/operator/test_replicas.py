"""From a job to its replicas: names, labels, environment, gangs, and what is wrong with a spec."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from scheduler.operator.profiles import Profile
from tests.test_operator_play import DOCUMENTS, START, TRAINING, Object, Play, arena_mpi, mpi, pytorch, template

VOLCANO = Profile(gang="volcano")
KOORDINATOR = Profile(gang="koordinator")


def environment(pod: Object) -> dict[str, str]:
    return {one["name"]: one["value"] for one in pod["spec"]["containers"][0]["env"]}


def test_pytorch_replicas_are_named_numbered_and_found() -> None:
    """JOB-01"""
    play = Play(pytorch()).settle()
    assert list(play.pods) == ["job-master-0", "job-worker-0", "job-worker-1"]
    assert set(play.services) == set(play.pods)
    labels = play.pods["job-worker-1"]["metadata"]["labels"]
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
    assert play.pods["job-master-0"]["metadata"]["labels"]["training.kubeflow.org/job-role"] == "master"
    service = play.services["job-worker-1"]["spec"]
    assert service["clusterIP"] == "None"
    assert service["selector"].items() <= labels.items()
    (owner,) = play.pods["job-master-0"]["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == ("job-uid", True, True)


def test_replicas_know_where_to_meet() -> None:
    """JOB-01"""
    play = Play(pytorch()).settle()
    ranks = {name: environment(pod) for name, pod in play.pods.items()}
    assert [one["RANK"] for one in ranks.values()] == ["0", "1", "2"]
    assert {one["MASTER_ADDR"] for one in ranks.values()} == {"job-master-0"}
    assert {(one["MASTER_PORT"], one["WORLD_SIZE"]) for one in ranks.values()} == {("23456", "3")}
    assert ranks["job-master-0"]["PYTHONUNBUFFERED"] == "1"


def test_without_a_master_the_first_worker_leads() -> None:
    play = Play({**pytorch(master=False), "nprocPerNode": "4"}).settle()
    assert list(play.pods) == ["job-worker-0", "job-worker-1"]
    found = environment(play.pods["job-worker-1"])
    assert (found["MASTER_ADDR"], found["RANK"], found["WORLD_SIZE"]) == ("job-worker-0", "1", "8")
    assert play.pods["job-worker-0"]["metadata"]["labels"]["job-role"] == "master"


def test_a_templates_own_words_stay_except_where_replicas_must_agree() -> None:
    spec = pytorch(workers=0)
    wanted = spec["pytorchReplicaSpecs"]["Master"]["template"]
    wanted["metadata"] = {"labels": {"app": "mine", "x": "y"}, "annotations": {"a": "b"}}
    wanted["spec"]["containers"][0]["env"] = [{"name": "RANK", "value": "7"}, {"name": "MINE", "value": "1"}]
    wanted["spec"]["containers"][0]["ports"] = [{"name": "pytorchjob-port", "containerPort": 1234}]
    play = Play(spec).settle()
    pod = play.pods["job-master-0"]
    assert {"app": "mine", "x": "y"}.items() <= pod["metadata"]["labels"].items()
    assert pod["metadata"]["annotations"] == {"a": "b"}
    found = environment(pod)
    assert (found["RANK"], found["MINE"], found["MASTER_PORT"]) == ("0", "1", "1234")


def test_exit_codes_are_the_operators_business_not_the_nodes() -> None:
    play = Play(pytorch(workers=0, policy="ExitCode")).settle()
    assert play.pods["job-master-0"]["spec"]["restartPolicy"] == "Never"


def test_the_documents_profile_marks_who_crashes_together() -> None:
    metadata = Play(pytorch(), profile=DOCUMENTS).settle().pods["job-worker-0"]["metadata"]
    assert (metadata["labels"]["muster.dev/job"], metadata["annotations"]["muster.dev/on-peer-loss"]) == (
        "job",
        "crash",
    )


def test_the_launcher_comes_when_all_workers_are_ready() -> None:
    """JOB-07"""
    play = Play(mpi(), kind="MPIJob").settle()
    assert list(play.pods) == ["job-worker-0", "job-worker-1"]
    play.run("job-worker-0")
    assert "job-launcher" not in play.pods
    play.run("job-worker-1")
    assert "job-launcher" in play.pods
    assert play.state == "Created"
    assert play.run().state == "Running"
    assert play.services == {}
    assert play.pods["job-launcher"]["metadata"]["labels"]["mpi_role_type"] == "launcher"


def test_arenas_launcher_has_a_suffix_and_no_gpu() -> None:
    """JOB-07, DOC-2"""
    play = Play(arena_mpi(), kind="MPIJob").settle().run()
    (name,) = [name for name in play.pods if "launcher" in name]
    assert len(name) == len("job-launcher-xxxxx")
    assert "resources" not in play.pods[name]["spec"]["containers"][0]
    assert play.pods["job-worker-0"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 1
    labels = play.pods[name]["metadata"]["labels"]
    assert {"group_name": "kubeflow.org", "mpi_job_name": "job", "app": "mpijob"}.items() <= labels.items()
    play.run()
    assert play.status["launcherStatus"] == "Active"


def test_a_volcano_gang_waits_to_be_let_in() -> None:
    """JOB-06"""
    policy = {"queue": "test", "priorityClass": "high-priority"}
    play = Play(pytorch(workers=5, schedulingPolicy=policy), profile=VOLCANO).settle()
    assert play.group is not None
    assert play.group["apiVersion"] == "scheduling.volcano.sh/v1beta1"
    assert play.group["spec"] == {
        "minMember": 6,
        "minResources": {"cpu": "6", "nvidia.com/gpu": "6"},
        "queue": "test",
        "priorityClassName": "high-priority",
    }
    assert play.pods == {}
    assert play.let_in("Pending").pods == {}
    assert play.state == "Created"
    assert len(play.let_in("Inqueue").pods) == 6
    pod = play.pods["job-master-0"]
    assert pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == "job"
    assert pod["spec"]["schedulerName"] == "volcano"
    assert "priorityClassName" not in pod["spec"]
    play.run()
    for name in list(play.pods):
        play.end(name)
    assert play.group is None


def test_a_koordinator_gang_is_there_at_once() -> None:
    """JOB-06"""
    policy = {"minAvailable": 2, "queue": "q", "priorityClass": "high", "scheduleTimeoutSeconds": 300}
    play = Play(pytorch(schedulingPolicy=policy), profile=KOORDINATOR).settle()
    assert play.group is not None
    assert play.group["apiVersion"] == "scheduling.sigs.k8s.io/v1alpha1"
    assert play.group["spec"]["minMember"] == 2
    assert play.group["spec"]["minResources"] == {"cpu": "2", "nvidia.com/gpu": "2"}
    assert play.group["spec"]["scheduleTimeoutSeconds"] == 300
    pod = play.pods["job-worker-1"]
    assert pod["metadata"]["labels"]["pod-group.scheduling.sigs.k8s.io"] == "job"
    assert pod["spec"]["schedulerName"] == "koord-scheduler"
    assert pod["spec"]["priorityClassName"] == "high"


def test_a_group_outlives_the_last_pod_that_runs() -> None:
    """While one runs, it uses the queue's share; a scheduler that lost the group would give that away."""
    play = Play(pytorch(schedulingPolicy={}), profile=KOORDINATOR).settle().run()
    assert play.end("job-master-0").state == "Succeeded"
    assert play.group is not None
    play.end("job-worker-0")
    assert play.group is not None
    play.end("job-worker-1")
    assert play.group is None
    failed = Play(pytorch(schedulingPolicy={}), profile=KOORDINATOR).settle().run()
    assert failed.end("job-worker-0", 1).state == "Failed"
    assert failed.group is None, "its survivors may run for ever"


def test_a_job_without_a_scheduling_policy_is_no_gang() -> None:
    play = Play(pytorch(), profile=dataclasses.replace(VOLCANO, scheduler_name="mine")).settle()
    assert play.group is None
    assert play.pods["job-master-0"]["spec"]["schedulerName"] == "mine"


def test_a_gang_never_waits_for_the_launcher_that_waits_for_it() -> None:
    policy = {"minAvailable": 3}
    play = Play(mpi(schedulingPolicy=policy), kind="MPIJob", profile=VOLCANO).settle()
    assert play.group is not None
    assert play.group["spec"]["minMember"] == 2


def test_given_resources_are_taken_as_given() -> None:
    policy = {"minResources": {"cpu": "9"}}
    play = Play(pytorch(schedulingPolicy=policy), profile=VOLCANO).settle()
    assert play.group is not None
    assert play.group["spec"]["minResources"] == {"cpu": "9"}


def wrong_pytorch(role: str, **fields: Any) -> Object:
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
        ("PyTorchJob", wrong_pytorch("Master", replicas=2), "spec.pytorchReplicaSpecs.Master.replicas:"),
        ("PyTorchJob", wrong_pytorch("Worker", replicas=0), "spec.pytorchReplicaSpecs.Worker.replicas:"),
        ("PyTorchJob", wrong_pytorch("Worker", replicas="two"), "spec.pytorchReplicaSpecs.Worker.replicas:"),
        ("PyTorchJob", wrong_pytorch("Worker", replicas=10**9), "spec.pytorchReplicaSpecs.Worker.replicas:"),
        (
            "PyTorchJob",
            wrong_pytorch("Worker", restartPolicy="Maybe"),
            "spec.pytorchReplicaSpecs.Worker.restartPolicy:",
        ),
        (
            "PyTorchJob",
            wrong_pytorch("Worker", template={"spec": {"containers": [{"name": "x"}]}}),
            "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].image:",
        ),
        ("PyTorchJob", wrong_pytorch("Worker", template=7), "spec.pytorchReplicaSpecs.Worker.template:"),
        ("PyTorchJob", pytorch(cleanPodPolicy="Some"), "spec.runPolicy.cleanPodPolicy:"),
        ("PyTorchJob", pytorch(backoffLimit=-1), "spec.runPolicy.backoffLimit:"),
        ("PyTorchJob", pytorch(suspend="yes"), "spec.runPolicy.suspend:"),
        ("PyTorchJob", pytorch(schedulingPolicy={"minAvailable": 4}), "spec.runPolicy.schedulingPolicy.minAvailable:"),
        ("MPIJob", {}, "spec.mpiReplicaSpecs.Launcher:"),
        ("MPIJob", arena_mpi(workers=0), "spec.replicas:"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_created(kind: str, spec: Any, field: str) -> None:
    """JOB-09"""
    play = Play(spec, kind=kind, profile=VOLCANO).settle()
    assert play.state == "Failed"
    said = play.condition("Failed")
    assert said["reason"] == f"{kind}FailedValidation"
    assert f"because {field}" in said["message"]
    assert any(one.startswith(f"{kind}FailedValidation") for one in play.said)
    assert (play.pods, play.services, play.group) == ({}, {}, None)
    assert "completionTime" in play.status


@pytest.mark.parametrize("name", ["j" * 60, "Job", "9lives", "a.b"])
def test_a_name_that_is_no_host_name_is_refused(name: str) -> None:
    """JOB-09"""
    play = Play(pytorch(), name=name).settle()
    assert "metadata.name" in play.condition("Failed")["message"]


def test_the_older_layout_of_the_run_policy_is_read_too() -> None:
    spec = {**pytorch(workers=0), "cleanPodPolicy": "All", "ttlSecondsAfterFinished": 5}
    del spec["runPolicy"]
    play = Play(spec).settle().run()
    play.end("job-master-0")
    assert play.pods == {}
    assert play.wake == START + 5


def test_hostile_resources_are_a_sentence_and_not_a_crash() -> None:
    spec = pytorch(schedulingPolicy={})
    spec["pytorchReplicaSpecs"]["Worker"]["template"] = template(cpu="many")
    assert "many" in Play(spec, profile=TRAINING).settle().condition("Failed")["message"]
