"""The fence, without a cluster: what is sent, what is stopped, and what is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muster.cluster.fences import RUN_LABEL, Fence, is_run, new_run, run_of_worker
from muster.errors import HarnessError
from muster.stage.jobs import documents
from muster.stage.nodes import node_manifest
from muster.subject.requests import NodeRequest, Taint

RUN = "kbcd240"
FENCE = Fence(RUN)
SUFFIX = f"-muster-{RUN}"


def pod(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "urgent", "namespace": f"muster-{RUN}-1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [], **spec}}


def test_a_pod_is_kept_to_the_nodes_of_the_run() -> None:
    sent = FENCE.created(pod(priorityClassName="critical", tolerations=[{"operator": "Exists"}]))
    assert sent["metadata"]["name"] == "urgent"
    assert sent["metadata"]["labels"] == {RUN_LABEL: RUN}
    assert sent["spec"]["nodeSelector"] == {RUN_LABEL: RUN}
    assert sent["spec"]["priorityClassName"] == f"critical{SUFFIX}"
    ours = {"key": RUN_LABEL, "operator": "Equal", "value": RUN, "effect": "NoSchedule"}
    assert sent["spec"]["tolerations"] == [{"operator": "Exists"}, ours]
    assert "schedulerName" not in sent["spec"]


def test_what_belongs_to_everybody_keeps_its_name() -> None:
    sent = FENCE.created(pod(priorityClassName="system-cluster-critical", nodeSelector={"kubernetes.io/hostname": "a"}))
    assert sent["spec"]["priorityClassName"] == "system-cluster-critical"
    assert sent["spec"]["nodeSelector"] == {"kubernetes.io/hostname": f"a{SUFFIX}", RUN_LABEL: RUN}


def test_a_guest_places_every_pod_whoever_it_asks_for() -> None:
    fence = Fence(RUN, "mine")
    assert fence.created(pod(schedulerName="koord-scheduler"))["spec"]["schedulerName"] == f"koord-scheduler{SUFFIX}"
    assert fence.created(pod())["spec"]["schedulerName"] == f"mine{SUFFIX}"


def test_a_node_is_tainted_and_stays_so() -> None:
    node = FENCE.created(node_manifest(NodeRequest("gpu-1", 2, taints=(Taint("a", "b", "NoExecute"),))))
    ours = {"key": RUN_LABEL, "value": RUN, "effect": "NoSchedule"}
    assert node["metadata"]["name"] == node["metadata"]["labels"]["kubernetes.io/hostname"] == f"gpu-1{SUFFIX}"
    assert node["spec"]["taints"] == [{"key": "a", "value": "b", "effect": "NoExecute"}, ours]
    assert "kubernetes.io/os" not in node["metadata"]["labels"]
    assert FENCE.changed("/api/v1/nodes/gpu-1", {"spec": {"taints": None}}) == {"spec": {"taints": [ours]}}


@pytest.mark.parametrize("file", ["pytorchjob", "queue", "priority-classes", "hp-training-job", "low-pods"])
def test_the_documents_manifests_are_renamed_and_kept_in(file: str) -> None:
    for manifest in documents(file):
        text = json.dumps(FENCE.created({"metadata": {}, **manifest}))
        for name in ("high-priority", "low-priority", "critical", "medium", "test"):
            assert f'"{name}"' not in text
        assert text.count('"containers"') == text.count('"nodeSelector"')
        assert '"default"' not in text
    assert documents(file) == documents(file)  # the originals are as they were


def test_the_templates_of_a_job_carry_the_label() -> None:
    (job,) = documents("pytorchjob")
    sent = FENCE.created(job)
    for role in sent["spec"]["pytorchReplicaSpecs"].values():
        assert role["template"]["metadata"]["labels"] == {RUN_LABEL: RUN}
    assert sent["spec"]["runPolicy"]["schedulingPolicy"] == {
        "queue": f"test{SUFFIX}",
        "priorityClass": f"high-priority{SUFFIX}",
    }


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("/api/v1/nodes/gpu-1/status", f"/api/v1/nodes/gpu-1{SUFFIX}/status"),
        ("/api/v1/namespaces/default/pods/a", f"/api/v1/namespaces/muster-{RUN}-home/pods/a"),
        (f"/api/v1/namespaces/muster-{RUN}-3", f"/api/v1/namespaces/muster-{RUN}-3"),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses/critical",
            f"/apis/scheduling.k8s.io/v1/priorityclasses/critical{SUFFIX}",
        ),
        ("/apis/scheduling.volcano.sh/v1beta1/queues", "/apis/scheduling.volcano.sh/v1beta1/queues"),
    ],
)
def test_paths(given: str, sent: str) -> None:
    assert FENCE.path("GET", given) == sent
    assert FENCE.path("POST" if given.endswith("queues") else "PATCH", given) == sent


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/api/v1/namespaces/kube-system/pods/etcd"),
        ("POST", "/api/v1/namespaces/team-a/pods"),
        ("DELETE", "/api/v1/nodes"),
        ("DELETE", "/api/v1/pods"),
        ("DELETE", "/api/v1/namespaces/team-a"),
        ("DELETE", "/api/v1/namespaces/muster-another-1"),
        ("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical"),
        ("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
        ("PATCH", "/apis/scheduling.volcano.sh/v1beta1/queues/default"),
    ],
)
def test_nothing_gets_past_the_fence(method: str, path: str) -> None:
    with pytest.raises(HarnessError, match="it is not the run's own"):
        FENCE.path(method, path)
    FENCE.path("GET", path)


def test_a_namespace_must_be_the_runs_own() -> None:
    with pytest.raises(HarnessError, match="stopped the namespace team-a"):
        FENCE.created({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})


def test_what_is_read_has_the_names_of_the_scenario() -> None:
    said = f"Preempted by pod x on node gpu-1{SUFFIX} in muster-{RUN}-home for critical{SUFFIX}".encode()
    assert FENCE.shown(said) == b"Preempted by pod x on node gpu-1 in default for critical"


def test_the_ids_of_runs() -> None:
    run = new_run()
    workers = [run_of_worker(run, number) for number in range(35)]
    assert all(map(is_run, [run, *workers]))
    assert len({run, *workers}) == 36
    assert not any(is_run(text) for text in ("", "team-a", "kbcd24", "kbcd2400"))
    with pytest.raises(HarnessError, match="at most 35 workers"):
        run_of_worker(run, 35)
