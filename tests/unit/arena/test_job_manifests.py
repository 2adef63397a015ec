"""The manifests of a submission."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from muster.arena.job_manifests import Submission, manifests, reference
from muster.arena.output import manifests_yaml
from muster.arena.queries import ServedKind, require_served
from muster.cluster.job_kinds import MPI, PYTORCH, JobKind
from muster.cluster.resources import job_resource
from muster.errors import UsageError

GPU = "nvidia.com/gpu"


def job(kind: JobKind = PYTORCH, version: str = "v1", **more: Any) -> dict[str, Any]:
    return all_manifests(kind, version, **more)[-1]


def all_manifests(kind: JobKind = PYTORCH, version: str = "v1", **more: Any) -> list[dict[str, Any]]:
    given = {"name": "big", "namespace": "team", "image": "registry/i:1", "command": "python a.py --epochs 5"} | more
    return manifests(Submission(kind=kind, **given), job_resource(kind, version))


def containers(role: dict[str, Any]) -> dict[str, Any]:
    (container,) = role["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


def test_three_workers_are_a_master_and_two_workers() -> None:
    made = job(gpus=4, workers=3, priority="medium")
    roles = made["spec"]["pytorchReplicaSpecs"]
    assert {role: spec["replicas"] for role, spec in roles.items()} == {"Master": 1, "Worker": 2}
    assert roles["Master"]["template"] == roles["Worker"]["template"]
    for spec in roles.values():
        assert spec["restartPolicy"] == "Never"
        assert spec["template"]["spec"]["priorityClassName"] == "medium"
        assert containers(spec) == {
            "name": "pytorch",
            "image": "registry/i:1",
            "command": ["sh", "-c", "python a.py --epochs 5"],
            "resources": {"requests": {GPU: "4"}, "limits": {GPU: "4"}},
        }
    assert made["spec"]["runPolicy"] == {"cleanPodPolicy": "None"}


def test_one_worker_is_the_master() -> None:
    assert list(job()["spec"]["pytorchReplicaSpecs"]) == ["Master"]


def test_a_container_without_gpus_sees_none() -> None:
    container = containers(job(env={"A": "b"})["spec"]["pytorchReplicaSpecs"]["Master"])
    assert container["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}, {"name": "A", "value": "b"}]
    assert "resources" not in container


def test_the_record_and_the_labels_that_select_all_objects() -> None:
    record, made = all_manifests(labels={"team": "vision"}, annotations={"note": "x"})
    assert reference(record) == "configmap/big-pytorchjob"
    assert record["data"]["app"] == "pytorchjob.kubeflow.org/big\n"
    found_by = {"app": "pytorchjob", "release": "big"}
    template = made["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["metadata"]
    for labels in (record["metadata"]["labels"], made["metadata"]["labels"], template["labels"]):
        assert found_by.items() <= labels.items()
    for meta in (made["metadata"], template):
        assert meta["labels"]["team"] == "vision"
        assert meta["annotations"]["note"] == "x"
    assert template["labels"]["muster.dev/job"] == "big"
    assert template["annotations"]["muster.dev/on-peer-loss"] == "crash"


def test_placement_fields() -> None:
    spec = job(
        tolerations=[{"key": "gpu_node", "operator": "Exists"}], selector={"zone": "a"}, scheduler_name="volcano"
    )["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert spec["tolerations"] == [{"key": "gpu_node", "operator": "Exists"}]
    assert spec["nodeSelector"] == {"zone": "a"}
    assert spec["schedulerName"] == "volcano"


def test_gang_queue_and_priority_are_in_the_policy_and_priority_is_on_the_pods() -> None:
    made = job(workers=3, gang=True, queue="q", priority="high")
    assert made["spec"]["runPolicy"]["schedulingPolicy"] == {"minAvailable": 3, "queue": "q", "priorityClass": "high"}
    assert made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priorityClassName"] == "high"
    assert job(queue="q")["spec"]["runPolicy"]["schedulingPolicy"] == {"queue": "q"}


def test_retries_timeout_and_clean_pod_policy() -> None:
    made = job(workers=2, retry=3, running_timeout=90, clean_task_policy="All")
    assert made["spec"]["runPolicy"] == {"cleanPodPolicy": "All", "backoffLimit": 3, "activeDeadlineSeconds": 90}
    assert {role["restartPolicy"] for role in made["spec"]["pytorchReplicaSpecs"].values()} == {"OnFailure"}


def test_an_mpi_job_has_a_launcher_without_gpus_that_runs_the_command() -> None:
    spec = job(MPI, gpus=2, workers=1, cpu="4", memory="8Gi", gang=True)["spec"]
    launcher, worker = spec["mpiReplicaSpecs"]["Launcher"], spec["mpiReplicaSpecs"]["Worker"]
    assert (launcher["replicas"], worker["replicas"], spec["slotsPerWorker"]) == (1, 1, 2)
    assert containers(launcher)["command"] == ["sh", "-c", "python a.py --epochs 5"]
    assert "resources" not in containers(launcher)
    assert "command" not in containers(worker)
    assert containers(worker)["resources"]["limits"] == {"cpu": "4", "memory": "8Gi", GPU: "2"}
    assert spec["runPolicy"]["schedulingPolicy"] == {"minAvailable": 1}


def test_a_v1alpha1_mpi_job_has_one_template() -> None:
    made = job(MPI, "v1alpha1", gpus=1, workers=2, gang=True, queue="q")
    assert made["apiVersion"] == "kubeflow.org/v1alpha1"
    spec = made["spec"]
    assert (spec["replicas"], spec["backoffLimit"], spec["cleanPodPolicy"]) == (2, 0, "None")
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    marks = spec["template"]["metadata"]
    assert marks["labels"]["pod-group.scheduling.sigs.k8s.io/name"] == "big-mpijob"
    assert marks["labels"]["pod-group.scheduling.sigs.k8s.io/min-available"] == "2"
    assert marks["annotations"]["scheduling.volcano.sh/queue-name"] == "q"


def test_a_tensorboard_tolerates_what_the_job_tolerates() -> None:
    record, service, deployment, _ = all_manifests(
        tensorboard=True, logdir="/root/logs", tolerations=[{"operator": "Exists"}]
    )
    assert reference(service) == "service/big-tensorboard"
    assert reference(deployment) == "deployment.apps/big-tensorboard"
    assert service["spec"]["type"] == "NodePort"
    template = deployment["spec"]["template"]
    assert service["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    assert "--logdir=/root/logs" in template["spec"]["containers"][0]["command"]
    assert template["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert record["data"]["app"].splitlines() == [
        "service/big-tensorboard",
        "deployment.apps/big-tensorboard",
        "pytorchjob.kubeflow.org/big",
    ]


def test_code_is_fetched_to_the_name_of_the_repository() -> None:
    made = job(sync_source="https://code.example/370272561/mnist-pytorch.git")
    spec = made["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert "--link=mnist-pytorch" in spec["initContainers"][0]["args"]
    assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/root/code"
    with pytest.raises(UsageError, match="does not name a repository"):
        job(sync_source="/")


def test_a_command_is_required() -> None:
    with pytest.raises(UsageError, match="there is no command to run"):
        job(command=" ")


def test_the_preferred_version_is_taken_and_yaml_has_no_anchors() -> None:
    found = [ServedKind(MPI, job_resource(MPI, "v1"))]
    assert require_served(found, PYTORCH, MPI)[0].version == "v1"
    text = manifests_yaml(all_manifests(workers=2, tensorboard=True))
    assert "&id" not in text
    assert text.count("\n---\n") == 3
    assert "  values: |\n    image: registry/i:1\n" in text
    assert list(yaml.safe_load_all(text)) == all_manifests(workers=2, tensorboard=True)
