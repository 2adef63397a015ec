"""What a submission creates, without a cluster."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from muster.errors import UsageError
from muster.jobs.documents import manifests_document
from muster.jobs.kinds import MPI, PYTORCH, Kind, Served, must_serve
from muster.jobs.manifests import manifests, reference
from muster.jobs.requests import Submission

GPU = "nvidia.com/gpu"


def job(kind: Kind = PYTORCH, version: str = "v1", **more: Any) -> dict[str, Any]:
    return everything(kind, version, **more)[-1]


def everything(kind: Kind = PYTORCH, version: str = "v1", **more: Any) -> list[dict[str, Any]]:
    given = {"name": "big", "namespace": "team", "image": "registry/i:1", "command": "python a.py --epochs 5"} | more
    return manifests(Submission(kind=kind, **given), Served(kind, kind.resource(version)))


def containers(role: dict[str, Any]) -> dict[str, Any]:
    (container,) = role["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


def test_three_workers_are_a_master_and_two_more_all_alike() -> None:
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


def test_one_worker_is_the_master_alone() -> None:
    assert list(job()["spec"]["pytorchReplicaSpecs"]) == ["Master"]


def test_without_gpus_a_container_is_shown_none() -> None:
    container = containers(job(env={"A": "b"})["spec"]["pytorchReplicaSpecs"]["Master"])
    assert container["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}, {"name": "A", "value": "b"}]
    assert "resources" not in container


def test_the_record_and_the_labels_by_which_everything_is_found() -> None:
    record, made = everything(labels={"team": "vision"}, annotations={"note": "x"})
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


def test_where_it_may_run() -> None:
    spec = job(
        tolerations=[{"key": "gpu_node", "operator": "Exists"}], selector={"zone": "a"}, scheduler_name="volcano"
    )["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert spec["tolerations"] == [{"key": "gpu_node", "operator": "Exists"}]
    assert spec["nodeSelector"] == {"zone": "a"}
    assert spec["schedulerName"] == "volcano"


def test_gang_queue_and_priority_stand_in_the_policy_and_the_priority_on_the_pods_too() -> None:
    made = job(workers=3, gang=True, queue="q", priority="high")
    assert made["spec"]["runPolicy"]["schedulingPolicy"] == {"minAvailable": 3, "queue": "q", "priorityClass": "high"}
    assert made["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priorityClassName"] == "high"
    assert job(queue="q")["spec"]["runPolicy"]["schedulingPolicy"] == {"queue": "q"}


def test_retries_time_out_and_clean_up() -> None:
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


def test_the_old_version_of_an_mpi_job_has_one_template() -> None:
    made = job(MPI, "v1alpha1", gpus=1, workers=2, gang=True, queue="q")
    assert made["apiVersion"] == "kubeflow.org/v1alpha1"
    spec = made["spec"]
    assert (spec["replicas"], spec["backoffLimit"], spec["cleanPodPolicy"]) == (2, 0, "None")
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    marks = spec["template"]["metadata"]
    assert marks["labels"]["pod-group.scheduling.sigs.k8s.io/name"] == "big-mpijob"
    assert marks["labels"]["pod-group.scheduling.sigs.k8s.io/min-available"] == "2"
    assert marks["annotations"]["scheduling.volcano.sh/queue-name"] == "q"


def test_a_tensorboard_goes_where_the_job_goes() -> None:
    record, service, deployment, _ = everything(
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


def test_code_from_a_repository_lands_under_its_own_name() -> None:
    made = job(sync_source="https://code.example/370272561/mnist-pytorch.git")
    spec = made["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert "--link=mnist-pytorch" in spec["initContainers"][0]["args"]
    assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/root/code"
    with pytest.raises(UsageError, match="names no repository"):
        job(sync_source="/")


def test_a_command_is_needed() -> None:
    with pytest.raises(UsageError, match="say what to run"):
        job(command=" ")


def test_the_preferred_version_is_taken_and_yaml_has_no_anchors() -> None:
    found = [Served(MPI, MPI.resource("v1"))]
    assert must_serve(found, PYTORCH, MPI)[0].version == "v1"
    text = manifests_document(everything(workers=2, tensorboard=True))
    assert "&id" not in text
    assert text.count("\n---\n") == 3
    assert "  values: |\n    image: registry/i:1\n" in text
    assert list(yaml.safe_load_all(text)) == everything(workers=2, tensorboard=True)
