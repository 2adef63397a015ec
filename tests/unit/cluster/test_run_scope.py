"""The run scope without a cluster: renamed, refused and restored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muster.cluster.run_scope import RUN_LABEL, RunScope, is_run_id, new_run_id, worker_run_id
from muster.environment.cluster_objects import node_manifest
from muster.environment.suite_manifests import load_manifests
from muster.errors import HarnessError
from muster.schedulers import existing_cluster_objects
from muster.schedulers.requests import NodeRequest, Taint

RUN = "kbcd240"
SCOPE = RunScope(RUN, objects=existing_cluster_objects())
SUFFIX = f"-muster-{RUN}"


def pod(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "urgent", "namespace": f"muster-{RUN}-1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [], **spec}}


def test_a_pod_is_confined_to_the_nodes_of_the_run() -> None:
    sent = SCOPE.manifest(pod(priorityClassName="critical", tolerations=[{"operator": "Exists"}]))
    assert sent["metadata"]["name"] == "urgent"
    assert sent["metadata"]["labels"] == {RUN_LABEL: RUN}
    assert sent["spec"]["nodeSelector"] == {RUN_LABEL: RUN}
    assert sent["spec"]["priorityClassName"] == f"critical{SUFFIX}"
    ours = {"key": RUN_LABEL, "operator": "Equal", "value": RUN, "effect": "NoSchedule"}
    assert sent["spec"]["tolerations"] == [{"operator": "Exists"}, ours]
    assert "schedulerName" not in sent["spec"]


def test_shared_names_are_kept() -> None:
    sent = SCOPE.manifest(
        pod(priorityClassName="system-cluster-critical", nodeSelector={"kubernetes.io/hostname": "a"})
    )
    assert sent["spec"]["priorityClassName"] == "system-cluster-critical"
    assert sent["spec"]["nodeSelector"] == {"kubernetes.io/hostname": f"a{SUFFIX}", RUN_LABEL: RUN}


def test_an_own_scheduler_gets_every_pod() -> None:
    scope = RunScope(RUN, "mine", existing_cluster_objects())
    assert scope.manifest(pod(schedulerName="koord-scheduler"))["spec"]["schedulerName"] == f"koord-scheduler{SUFFIX}"
    assert scope.manifest(pod())["spec"]["schedulerName"] == f"mine{SUFFIX}"


def test_a_node_is_tainted_and_stays_so() -> None:
    node = SCOPE.manifest(node_manifest(NodeRequest("gpu-1", 2, taints=(Taint("a", "b", "NoExecute"),))))
    ours = {"key": RUN_LABEL, "value": RUN, "effect": "NoSchedule"}
    assert node["metadata"]["name"] == node["metadata"]["labels"]["kubernetes.io/hostname"] == f"gpu-1{SUFFIX}"
    assert node["spec"]["taints"] == [{"key": "a", "value": "b", "effect": "NoExecute"}, ours]
    assert "kubernetes.io/os" not in node["metadata"]["labels"]
    assert SCOPE.patch("/api/v1/nodes/gpu-1", {"spec": {"taints": None}}) == {"spec": {"taints": [ours]}}


@pytest.mark.parametrize("file", ["pytorchjob", "queue", "priority-classes", "hp-training-job", "low-pods"])
def test_the_documents_manifests_are_renamed_and_kept_in(file: str) -> None:
    for manifest in load_manifests(file):
        text = json.dumps(SCOPE.manifest({"metadata": {}, **manifest}))
        for name in ("high-priority", "low-priority", "critical", "medium", "test"):
            assert f'"{name}"' not in text
        assert text.count('"containers"') == text.count('"nodeSelector"')
        assert '"default"' not in text
    assert load_manifests(file) == load_manifests(file)  # the originals are as they were


def test_the_templates_of_a_job_carry_the_label() -> None:
    (job,) = load_manifests("pytorchjob")
    sent = SCOPE.manifest(job)
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
        ("/api/v1/namespaces/default/pods/a", f"/api/v1/namespaces/muster-{RUN}-default/pods/a"),
        (f"/api/v1/namespaces/muster-{RUN}-3", f"/api/v1/namespaces/muster-{RUN}-3"),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses/critical",
            f"/apis/scheduling.k8s.io/v1/priorityclasses/critical{SUFFIX}",
        ),
        ("/apis/scheduling.volcano.sh/v1beta1/queues", "/apis/scheduling.volcano.sh/v1beta1/queues"),
    ],
)
def test_paths(given: str, sent: str) -> None:
    assert SCOPE.path("GET", given) == sent
    assert SCOPE.path("POST" if given.endswith("queues") else "PATCH", given) == sent


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
def test_writes_outside_the_scope_are_refused(method: str, path: str) -> None:
    with pytest.raises(HarnessError, match="did not create it"):
        SCOPE.path(method, path)
    SCOPE.path("GET", path)


def test_a_namespace_must_belong_to_the_run() -> None:
    with pytest.raises(HarnessError, match="does not allow the namespace team-a"):
        SCOPE.manifest({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})


def test_names_are_restored() -> None:
    printed = f"Preempted by pod x on node gpu-1{SUFFIX} in muster-{RUN}-default for critical{SUFFIX}".encode()
    assert SCOPE.restore_names(printed) == b"Preempted by pod x on node gpu-1 in default for critical"


def test_the_ids_of_runs() -> None:
    run = new_run_id()
    workers = [worker_run_id(run, number) for number in range(35)]
    assert all(map(is_run_id, [run, *workers]))
    assert len({run, *workers}) == 36
    assert not any(is_run_id(text) for text in ("", "team-a", "kbcd24", "kbcd2400"))
    with pytest.raises(HarnessError, match="at most 35 workers"):
        worker_run_id(run, 35)
