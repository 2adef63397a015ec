"""`muster logs`: which pod, which request, and why there may be no log."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from muster.arena import target
from muster.cli import main
from muster.cluster.api import ApiRefused
from muster.cluster.resources import Resource

Object = dict[str, Any]
KUBELET: Object = {"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}}}}
JOB: Object = {
    "metadata": {"name": "big", "namespace": "default", "uid": "u", "creationTimestamp": "2030-01-01T00:00:00Z"},
    "spec": {"pytorchReplicaSpecs": {}},
}


def pod(role: str, node: str = "real") -> Object:
    labels = {"training.kubeflow.org/job-name": "big", "training.kubeflow.org/replica-type": role}
    meta = {**JOB["metadata"], "name": f"big-{role}-0", "uid": role, "labels": labels}
    spec = {"containers": [{"name": "pytorch"}, {"name": "sidecar"}], **({"nodeName": node} if node else {})}
    return {"metadata": meta, "spec": spec, "status": {"phase": "Running" if node else "Pending"}}


class FakeApi:
    def __init__(self, *pods: Object) -> None:
        self.pods = {one["metadata"]["name"]: one for one in pods}
        self.nodes: dict[str, Object] = {"real": KUBELET, "simulated": {"status": {}}}
        self.requests: list[tuple[str, dict[str, str]]] = []

    def read(self, path: str, **query: str) -> bytes:
        if path.startswith("/apis/kubeflow.org/v1"):
            return b'{"resources": [{"name": "pytorchjobs"}]}'
        self.requests.append((path, query))
        return b"epoch 1\nepoch 2\n"

    def list(self, _: Resource, __: str | None = None) -> Object:
        return {"items": list(self.pods.values())}

    def get(self, resource: Resource, name: str, _: str | None = None) -> Object:
        known = {"Node": self.nodes, "Pod": self.pods, "PyTorchJob": {"big": JOB}}.get(resource.kind, {})
        if name not in known:
            raise ApiRefused(404, "NotFound", "not found", f"get {name}")
        return known[name]


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = FakeApi(pod("master"), pod("worker"))
    found: Any = SimpleNamespace(api=fake, namespace="default")
    monkeypatch.setattr(target, "connect", lambda _: found)
    return fake


def test_the_chief_is_the_default(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "big"]) == 0
    assert capsys.readouterr().out == "epoch 1\nepoch 2\n"
    assert api.requests == [("/api/v1/namespaces/default/pods/big-master-0/log", {"container": "pytorch"})]


def test_another_pod_and_its_last_lines(api: FakeApi) -> None:
    assert main(["logs", "big", "-i", "big-worker-0", "-t", "2"]) == 0
    path, query = api.requests[0]
    assert (path, query["tailLines"]) == ("/api/v1/namespaces/default/pods/big-worker-0/log", "2")


@pytest.mark.parametrize(
    ("node", "message"),
    [("simulated", "its node simulated is simulated, no process runs there"), ("", "it is pending")],
)
def test_a_pod_without_a_log(api: FakeApi, node: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    api.pods["big-master-0"] = pod("master", node)
    assert main(["logs", "big"]) == 0
    assert capsys.readouterr() == ("", f"there is no log of big-master-0: {message}\n")
    assert api.requests == []


def test_a_node_that_the_user_may_not_read(api: FakeApi) -> None:
    api.nodes.clear()
    assert main(["logs", "big"]) == 0
    assert len(api.requests) == 1


def test_wrong_names(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "big", "-i", "big-worker-7"]) == 64
    assert "has no pod 'big-worker-7': choose from big-master-0, big-worker-0" in capsys.readouterr().err
    api.pods.clear()
    assert main(["logs", "big"]) == 64
    assert "the training job 'big' has no pods: muster get big" in capsys.readouterr().err
    assert main(["logs", "small"]) == 64
