"""Real nodes in a run scope: pods are confined to them, and nothing of them can be changed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from muster.cluster.node_pool import NodePool, full_reference
from muster.cluster.resources import NODE
from muster.cluster.run_scope import RUN_LABEL, RunScope, ScopedApi
from muster.environment.suite_manifests import load_manifests
from muster.errors import HarnessError
from muster.schedulers import existing_cluster_objects

RUN = "kbcd240"
POOL = NodePool(
    {"pool": "muster"},
    "registry.example/training:1",
    {"docker.io/library/training:latest": ("MUSTER_TRAINING=steady",)},
    nodes=("one", "two", "three"),
    used=("one", "two"),
)
SCOPE = RunScope(RUN, objects=existing_cluster_objects(), pool=POOL)


def sent(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "urgent", "namespace": f"muster-{RUN}-1"}
    containers = [{"name": "main", "image": "training"}]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}
    spec_sent: dict[str, Any] = SCOPE.manifest(pod)["spec"]
    return spec_sent


def terms(spec: dict[str, Any]) -> list[dict[str, Any]]:
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    found: list[dict[str, Any]] = required["nodeSelectorTerms"]
    return found


HERE = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["one", "two"]}


def test_a_pod_selects_tolerates_and_is_confined_to_the_nodes_of_the_scenario() -> None:
    spec = sent(nodeSelector={"kubernetes.io/hostname": "one"})
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": "one", "pool": "muster"}
    assert spec["tolerations"] == [{"key": "pool", "operator": "Equal", "value": "muster"}]
    assert terms(spec) == [{"matchExpressions": [HERE]}]


def test_each_alternative_of_an_affinity_is_confined() -> None:
    asked = [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {"matchFields": ["f"]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": asked}}
    spec = sent(affinity={"nodeAffinity": required, "podAntiAffinity": "kept"})
    assert terms(spec) == [
        {"matchExpressions": [{"key": "a", "operator": "Exists"}, HERE]},
        {"matchFields": ["f"], "matchExpressions": [HERE]},
    ]
    assert spec["affinity"]["podAntiAffinity"] == "kept"


def test_every_container_runs_the_training_image() -> None:
    spec = sent(initContainers=[{"name": "fetch", "image": "alpine:3.10"}])
    (container,), (init,) = spec["containers"], spec["initContainers"]
    assert container["image"] == init["image"] == "registry.example/training:1"
    assert container["imagePullPolicy"] == init["imagePullPolicy"] == "IfNotPresent"
    assert container["env"] == [{"name": "MUSTER_TRAINING", "value": "steady"}]
    assert init["env"] == [{"name": "MUSTER_TRAINING", "value": "init"}]


def test_a_variable_of_the_pod_itself_is_kept() -> None:
    env = [{"name": "MUSTER_TRAINING", "value": "own"}]
    assert sent(containers=[{"name": "main", "image": "training", "env": env}])["containers"][0]["env"] == env


def test_the_templates_of_jobs_are_confined() -> None:
    (job,) = load_manifests("pytorchjob")
    for role in SCOPE.manifest(job)["spec"]["pytorchReplicaSpecs"].values():
        assert role["template"]["spec"]["nodeSelector"] == {"pool": "muster"}
        assert terms(role["template"]["spec"]) == [{"matchExpressions": [HERE]}]


def test_the_probe_stays_on_its_simulated_node() -> None:
    spec = sent(nodeSelector={"muster.dev/generation": "3"})
    assert spec["nodeSelector"] == {"muster.dev/generation": "3", RUN_LABEL: RUN}
    assert spec["containers"][0]["image"] == "training"
    assert "affinity" not in spec


def test_nodes_of_the_pool_keep_their_names_and_are_only_read() -> None:
    assert SCOPE.path("GET", "/api/v1/nodes/one") == "/api/v1/nodes/one"
    assert SCOPE.path("PATCH", "/api/v1/nodes/gpu-1").endswith(f"gpu-1-muster-{RUN}")
    for method, path in (("PATCH", "/one"), ("DELETE", "/three"), ("PATCH", "/one/status")):
        with pytest.raises(HarnessError, match="did not create it"):
            SCOPE.path(method, f"/api/v1/nodes{path}")
    assert SCOPE.holds_node("three")
    assert SCOPE.holds_node(f"gpu-1-muster-{RUN}")
    assert not SCOPE.holds_node("gpu-1")


def test_a_priority_class_with_the_name_of_a_node_is_renamed() -> None:
    assert sent(priorityClassName="one")["priorityClassName"] == f"one-muster-{RUN}"


def node(name: str, **labels: str) -> bytes:
    metadata = {"name": name, "uid": "1", "labels": labels}
    return json.dumps({"kind": "Node", "apiVersion": "v1", "metadata": metadata}, separators=(",", ":")).encode()


def test_of_other_nodes_nothing_is_seen() -> None:
    api = ScopedApi(None, SCOPE)
    assert api.visible(node("three")) == node("three")
    assert api.visible(node("four")) is None
    theirs = b'{"metadata":{"name":"one","namespace":"team-a","uid":"2"},"spec":{"nodeName":"one"}}'
    assert api.visible(theirs) is None
    assert any(text.encode() in theirs for text in POOL.texts())  # a scheduler must know what runs there


def test_commands_list_the_nodes_of_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [json.loads(node(name)) for name in ("one", "three", "four")]
    listed.append(json.loads(node("master-1", **{RUN_LABEL: RUN})))
    api = ScopedApi(None, SCOPE)
    monkeypatch.setattr(api, "_json", lambda *_, **__: {"items": listed})
    assert [one["metadata"]["name"] for one in api.list(NODE)["items"]] == ["one", "master-1"]
    api.scope = replace(SCOPE, pool=replace(POOL, used=()))
    assert [one["metadata"]["name"] for one in api.list(NODE)["items"]] == ["master-1"]
    assert SCOPE.selector("/api/v1/nodes") == ""
    assert SCOPE.selector("/api/v1/pods") == f"{RUN_LABEL}={RUN}"


@pytest.mark.parametrize(
    ("image", "full"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("alpine:3.10", "docker.io/library/alpine:3.10"),
        ("tensorflow/tensorflow:2", "docker.io/tensorflow/tensorflow:2"),
        ("registry.k8s.io/git-sync/git-sync:v4", "registry.k8s.io/git-sync/git-sync:v4"),
        ("localhost:5000/a", "localhost:5000/a:latest"),
    ],
)
def test_references_are_read_as_a_kubelet_does(image: str, full: str) -> None:
    assert full_reference(image) == full
