"""Output of the commands on jobs: Arena's tables, and the keys of -o json."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muster.arena import output
from muster.arena.job_events import events_of_job
from muster.arena.job_manifests import tensorboard_address
from muster.arena.model import TrainingJob, training_job
from muster.arena.node_usage import node_rows
from muster.cluster.job_kinds import MPI, PYTORCH, JobKind

CREATED = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)
GPU = "nvidia.com/gpu"
Object = dict[str, Any]


def at(seconds: float) -> str:
    return (CREATED + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def pod(name: str, role: str, *, gpus: int = 4, phase: str = "Running", node: str = "n1", **meta: Any) -> Object:
    resources = {"limits": {GPU: str(gpus)}, "requests": {GPU: str(gpus)}} if gpus else {}
    labels = {"training.kubeflow.org/job-name": name.partition("-")[0], "training.kubeflow.org/replica-type": role}
    facts = {"name": name, "namespace": "default", "uid": name, "creationTimestamp": at(1), "labels": labels, **meta}
    status = {"phase": phase, **({"hostIP": f"10.0.0.{node[1:]}", "podIP": "10.1.0.9"} if node else {})}
    spec = {"containers": [{"name": "c", "resources": resources}], **({"nodeName": node} if node else {})}
    return {"metadata": facts, "spec": spec, "status": status}


def job_object(*conditions: str, kind: JobKind = PYTORCH, **status: Any) -> Object:
    template = {"spec": {"priorityClassName": "medium", "containers": pod("x", "y")["spec"]["containers"]}}
    roles = {"Master": {"replicas": 1, "template": template}, "Worker": {"replicas": 1, "template": template}}
    set_conditions = [{"type": one, "status": "True", "lastTransitionTime": at(60)} for one in conditions]
    meta = {"name": "big", "namespace": "default", "uid": "u", "creationTimestamp": at(0)}
    spec = {"pytorchReplicaSpecs": roles, "runPolicy": {"schedulingPolicy": {"queue": "q"}}}
    return {"kind": kind.kind, "metadata": meta, "spec": spec, "status": {"conditions": set_conditions, **status}}


def view(*conditions: str, pods: list[Object] | None = None, **status: Any) -> TrainingJob:
    both = [pod("big-worker-0", "worker", node="n2"), pod("big-master-0", "master")]
    return training_job(PYTORCH, job_object(*conditions, **status), both if pods is None else pods)


NOW = CREATED + timedelta(seconds=200)


def test_get_in_arenas_layout() -> None:
    job = view("Created", "Running", startTime=at(2))
    assert output.job_table(job, NOW, "http://172.16.0.205:32091") == (
        "STATUS: RUNNING\n"
        "NAMESPACE: default\n"
        "PRIORITY: medium\n"
        "TRAINING DURATION: 3m\n"
        "\n"
        "NAME  STATUS   TRAINER     AGE  INSTANCE      NODE\n"
        "big   RUNNING  PYTORCHJOB  3m   big-master-0  10.0.0.1\n"
        "big   RUNNING  PYTORCHJOB  3m   big-worker-0  10.0.0.2\n"
        "\n"
        "Your tensorboard will be available on:\n"
        "http://172.16.0.205:32091\n"
    )


def test_get_wide() -> None:
    leaving = pod("big-worker-0", "worker", node="n2", deletionTimestamp=at(90))
    job = view("Failed", pods=[pod("big-master-0", "master", phase="Failed"), leaving], completionTime=at(62))
    assert output.wide_job_table(job, NOW) == (
        "Name:       big\n"
        "Status:     FAILED\n"
        "Namespace:  default\n"
        "Priority:   medium\n"
        "Trainer:    PYTORCHJOB\n"
        "Duration:   1m\n"
        "CreateTime: 2030-01-01 12:00:00 UTC\n"
        "EndTime:    2030-01-01 12:01:02 UTC\n"
        "\n"
        "Instances:\n"
        "  NAME          STATUS       AGE  IS_CHIEF  GPU(Requested)  NODE\n"
        "  ----          ------       ---  --------  --------------  ----\n"
        "  big-master-0  Failed       3m   true      4               n1\n"
        "  big-worker-0  Terminating  3m   false     4               n2\n"
    )


def test_the_keys_of_json_stay_the_same() -> None:
    document = output.job_document(view("Running"), NOW, "http://a:1")
    assert json.loads(output.dump(document, "json")) == {
        "uuid": "u",
        "name": "big",
        "namespace": "default",
        "duration": "200s",
        "status": "RUNNING",
        "trainer": "pytorchjob",
        "tensorboard": "http://a:1",
        "chiefName": "big-master-0",
        "instances": [
            {
                "name": name,
                "status": "Running",
                "phase": "RUNNING",
                "age": "199s",
                "node": node,
                "nodeIP": f"10.0.0.{node[1:]}",
                "ip": "10.1.0.9",
                "chief": chief,
                "requestGPUs": 4,
                "creationTimestamp": int(CREATED.timestamp()) + 1,
            }
            for name, node, chief in (("big-master-0", "n1", True), ("big-worker-0", "n2", False))
        ],
        "priority": "medium",
        "queue": "q",
        "requestGPUs": 8,
        "allocatedGPUs": 8,
        "creationTimestamp": int(CREATED.timestamp()),
        "endTimestamp": None,
    }
    (listed,) = output.jobs_document([view("Running")], NOW)
    assert {"tensorboard": "http://a:1", **listed} == document


@pytest.mark.parametrize(
    ("conditions", "status", "expected"),
    [
        ((), {}, "PENDING"),
        (("Created",), {}, "PENDING"),
        (("Created", "Restarting"), {}, "PENDING"),
        (("Created", "Running"), {}, "RUNNING"),
        (("Running", "Failed"), {}, "FAILED"),
        (("Running", "Succeeded"), {}, "SUCCEEDED"),
        ((), {"launcherStatus": "Active"}, "RUNNING"),
        ((), {"launcherStatus": "Failed"}, "FAILED"),
    ],
)
def test_the_status_is_that_of_the_conditions(
    conditions: tuple[str, ...], status: dict[str, Any], expected: str
) -> None:
    assert view(*conditions, **status).status == expected


def test_one_pending_pod_makes_the_job_pending() -> None:
    waiting = pod("big-worker-0", "worker", phase="Pending", node="")
    job = view("Running", pods=[pod("big-master-0", "master"), waiting])
    assert (job.status, job.allocated, job.requested) == ("PENDING", 4, 8)
    assert "big-worker-0  N/A" in output.job_table(job, NOW)


def test_pods_are_assigned_to_jobs_by_owner_first() -> None:
    other = {"kind": "MPIJob", "uid": "other", "name": "big"}
    board = {"app": "pytorchjob", "release": "big", "role": "tensorboard"}
    pods = [
        pod("big-worker-0", "worker", ownerReferences=[other]),
        pod("big-tensorboard-x", "", labels=board),
        pod("big-master-0", "master", ownerReferences=[{"kind": "PyTorchJob", "uid": "u", "name": "big"}]),
        pod("odd", "", labels={"app": "pytorchjob", "release": "big", "pytorch-replica-type": "worker"}),
        pod("big-elsewhere-0", "worker", namespace="elsewhere"),
    ]
    assert [one.name for one in view(pods=pods).instances] == ["big-master-0", "odd"]


def test_a_v1alpha1_mpi_job_requests_the_gpus_of_its_workers() -> None:
    job = job_object(kind=MPI)
    job["spec"] = {"replicas": 2, "template": {"spec": pod("x", "y", gpus=1)["spec"]}}
    launcher = pod(
        "big-launcher-sz5xj", "launcher", gpus=0, labels={"mpi_job_name": "big", "mpi_role_type": "launcher"}
    )
    seen = training_job(MPI, job, [pod("big-worker-0", "worker"), launcher])
    assert (seen.requested, seen.priority) == (2, None)
    assert seen.chief is not None
    assert seen.chief.name == "big-launcher-sz5xj"
    assert "PRIORITY: N/A" in output.job_table(seen, NOW)


def test_list_is_newest_first_and_finished_jobs_hold_no_gpus() -> None:
    page = output.jobs_table([view("Running"), view("Succeeded", completionTime=at(5))], NOW, all_namespaces=True)
    assert page.splitlines() == [
        "NAMESPACE  NAME  STATUS     TRAINER     DURATION  GPU(Requested)  GPU(Allocated)  NODE",
        "default    big   RUNNING    PYTORCHJOB  3m        8               8               10.0.0.1",
        "default    big   SUCCEEDED  PYTORCHJOB  5s        8               N/A             10.0.0.1",
    ]
    assert output.jobs_table([view()], NOW).startswith("NAME  STATUS ")


def node(name: str, address: str, gpus: int = 0, *roles: str, ready: str = "True") -> Object:
    labels = {f"node-role.kubernetes.io/{role}": "" for role in roles}
    status: Object = {"addresses": [{"type": "InternalIP", "address": address}]}
    status["conditions"] = [{"type": "Ready", "status": ready}]
    status["capacity"] = {GPU: str(gpus)} if gpus else {"cpu": "4"}
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": status}


NODES = [
    node("n10", "10.0.0.10", 4),
    node("n2", "10.0.0.2", 4, ready="Unknown"),
    node("boss", "172.16.0.205", 0, "master"),
]


def test_top_node_in_arenas_layout() -> None:
    pods = [
        pod("a", "", node="n2"),
        pod("leaving", "", gpus=1, node="n10", deletionTimestamp=at(1)),
        pod("done", "", node="n10", phase="Succeeded"),
        pod("waiting", "", node=""),
    ]
    assert output.nodes_table(node_rows(NODES, pods)) == (
        "NAME  IPADDRESS     ROLE    STATUS    GPU(Total)  GPU(Allocated)\n"
        "boss  172.16.0.205  master  ready     0           0\n"
        "n2    10.0.0.2      <none>  notReady  4           4\n"
        "n10   10.0.0.10     <none>  ready     4           1\n" + "-" * 89 + "\n"
        "Allocated/Total GPUs In Cluster:\n"
        "5/8 (62%)\n"
    )


def test_top_node_details_show_only_nodes_with_gpus() -> None:
    rows = node_rows([NODES[0], NODES[2]], [pod("a", "", node="n10")])
    assert output.nodes_details(rows) == (
        "\nNAME:       n10\n"
        "IPADDRESS:  10.0.0.10\n"
        "ROLE:       <none>\n"
        "\n"
        "NAMESPACE  NAME  GPU REQUESTS  GPU LIMITS\n"
        "default    a     4             4\n"
        "\n"
        "Total GPUs In Node n10:      4\n"
        "Allocated GPUs In Node n10:  4 (100%)\n" + "-" * 89 + "\n"
        "\nAllocated/Total GPUs In Cluster:  4/4 (100%)\n"
    )
    assert output.nodes_document(rows)["nodes"][1] == {
        "name": "n10",
        "ip": "10.0.0.10",
        "role": "<none>",
        "status": "ready",
        "totalGPUs": 4,
        "allocatedGPUs": 4,
        "instances": [{"namespace": "default", "name": "a", "status": "Running", "requestGPUs": 4}],
    }
    assert output.nodes_table([]).endswith("0/0 (0%)\n")


def event(name: str, reason: str, seconds: float, version: int, *, kind: str = "Pod", **more: Any) -> Object:
    about = {"kind": kind, "name": name}
    meta = {"resourceVersion": str(version), "creationTimestamp": at(seconds)}
    return {"metadata": meta, "involvedObject": about, "reason": reason, "message": "m", **more}


def test_events_are_in_order_and_only_of_this_job() -> None:
    uid = "74d4280a-0060-43bd-b85a-79eb2a7aeaca"
    events = [
        event("big-worker-0", "Killing", 100, 9, lastTimestamp=at(100)),
        event("big-worker-0", "Preempted", 100, 8, eventTime=at(100.9), related={"kind": "Pod", "name": "urgent"}),
        event("big-worker-0", "Scheduled", 1, 3, message="to n2"),
        event("big", "SuccessfulCreatePod", 0, 2, kind="PyTorchJob"),
        event("big-worker-0", "Killing", -500, 1),
        event("big-worker-0-x", "Scheduled", 1, 3),
        event("bigger-worker-0", "Scheduled", 1, 3),
        event("big", "Scheduled", 1, 3),
        event("big-master-0", "Preempted", 120, 10, message=f"Preempted by pod {uid} on node n1"),
    ]
    found = events_of_job("big", events, since=CREATED, pods={uid: "urgent"})
    reasons = ["SuccessfulCreatePod", "Scheduled", "Preempted", "Killing", "Preempted"]
    assert [one.reason for one in found] == reasons
    page = output.events_table(found, NOW).splitlines()
    assert page[0] == "LAST SEEN  TYPE    REASON               OBJECT            MESSAGE"
    assert page[3] == "1m         Normal  Preempted            pod/big-worker-0  m (pod/urgent)"
    assert page[5].endswith(f"Preempted by pod {uid} on node n1 (pod/urgent)")
    assert output.events_document(found)[2]["related"] == "pod/urgent"


def test_a_tensorboard_is_reached_through_the_control_plane() -> None:
    service = {"spec": {"ports": [{"port": 6006, "nodePort": 32091}]}}
    assert tensorboard_address(service, NODES) == "http://172.16.0.205:32091"
    assert tensorboard_address({"spec": {"ports": [{"port": 6006}]}}, NODES) is None
    assert tensorboard_address(service, []) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0s"), (12.9, "12s"), (59, "59s"), (180, "3m"), (7300, "2h"), (86400 * 5, "5d"), (86400 * 800, "2y")],
)
def test_durations(seconds: float, text: str) -> None:
    assert output.short_duration(seconds) == text
