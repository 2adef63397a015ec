"""Leftovers of a killed run are deleted from a reused kind cluster; the cluster's own objects stay."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cluster.api import Api, ApiRefused
from muster.cluster.kind.reset import delete_leftovers, prepare_workers
from muster.cluster.resources import (
    CONFIG_MAP,
    DEFINITION,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    SERVICE,
    TRAINING_JOBS,
    Resource,
)
from muster.errors import HarnessError
from muster.schedulers.volcano import VOLCANO_GROUP, VOLCANO_QUEUE

CustomObject = dict[str, Any]


class FakeApi(Api):
    """Objects by kind. A namespace is gone after some requests, everything else when it has no finalizer."""

    def __init__(self, looks: int = 0) -> None:
        super().__init__(None)
        self.looks = looks
        self.things: dict[tuple[str, str], list[CustomObject]] = {}

    def put(self, kind: Resource, name: str, namespace: str = "", **metadata: Any) -> None:
        place = {"namespace": namespace} if namespace else {}
        self.things.setdefault(_key(kind), []).append({"metadata": {"name": name, **place, **metadata}})

    def define(self, *kinds: Resource) -> None:
        for kind in kinds:
            group, version = kind.api_version.split("/")
            spec = {
                "group": group,
                "names": {"kind": kind.kind, "plural": kind.plural},
                "scope": "Namespaced" if kind.namespaced else "Cluster",
                "versions": [{"name": "v0", "storage": False}, {"name": version, "storage": True}],
            }
            self.things.setdefault(_key(DEFINITION), []).append({"metadata": {"name": kind.plural}, "spec": spec})

    def names(self, kind: Resource) -> list[str]:
        return [one["metadata"]["name"] for one in self.things.get(_key(kind), [])]

    def list(self, resource: Resource, namespace: str | None = None, **query: str) -> dict[str, Any]:
        if resource is NAMESPACE:
            self.looks -= 1
            going = [one for one in self.things[_key(NAMESPACE)] if "deletionTimestamp" in one["metadata"]]
            for one in going if self.looks < 0 else []:
                self.things[_key(NAMESPACE)].remove(one)
        found = [one for one in self.things.get(_key(resource), []) if _fits(one, namespace, query)]
        return {"items": list(found)}

    def patch(self, resource: Resource, name: str, body: Any, **_: Any) -> dict[str, Any]:
        for one in self.things[_key(resource)]:
            if one["metadata"]["name"] == name:
                del one["metadata"]["finalizers"]
                return {}
        raise ApiRefused(404, "NotFound", "it is gone", "PATCH")

    def delete(self, resource: Resource, name: str, namespace: str | None = None, *, grace: int | None = None) -> None:
        (one,) = (each for each in self.things[_key(resource)] if each["metadata"]["name"] == name)
        if resource is NAMESPACE:
            assert "deletionTimestamp" not in one["metadata"], "once is enough"
            one["metadata"]["deletionTimestamp"] = "now"
        elif "finalizers" not in one["metadata"]:
            self.things[_key(resource)].remove(one)


def _key(kind: Resource) -> tuple[str, str]:
    return kind.api_version, kind.plural


def _fits(one: CustomObject, namespace: str | None, query: dict[str, str]) -> bool:
    real = "kubernetes.io/os" in one["metadata"].get("labels", {})
    return one["metadata"].get("namespace") == (namespace or one["metadata"].get("namespace")) and not (
        real and query.get("labelSelector") == "!kubernetes.io/os"
    )


def fresh(looks: int = 0) -> FakeApi:
    fake = FakeApi(looks)
    for name in ("default", "kube-system", "kube-public", "kube-node-lease", "local-path-storage"):
        fake.put(NAMESPACE, name)
    fake.put(NODE, "muster-control-plane", labels={"kubernetes.io/os": "linux"})
    fake.put(PRIORITY_CLASS, "system-node-critical")
    fake.put(POD, "coredns", "kube-system")
    fake.put(SERVICE, "kubernetes", "default")
    fake.put(CONFIG_MAP, "kube-root-ca.crt", "default")
    return fake


def test_objects_of_the_kind_cluster_stay() -> None:
    fake = fresh()
    delete_leftovers(fake, "docker rm -f -v node-1")
    assert fake.things == fresh().things


def test_all_objects_of_a_killed_run_are_deleted() -> None:
    fake = fresh()
    before = fresh().things
    fake.define(*TRAINING_JOBS, VOLCANO_GROUP, VOLCANO_QUEUE)
    for kind in (*TRAINING_JOBS, VOLCANO_GROUP, POD, SERVICE, CONFIG_MAP):
        fake.put(kind, "left", "default", finalizers=["controller.example/is-gone"])
    fake.put(VOLCANO_QUEUE, "left")
    fake.put(PRIORITY_CLASS, "priority-10")
    fake.put(NODE, "gpu-1")
    fake.put(POD, "beside-the-system", "kube-system", annotations={"muster.dev/termination": "1s"})
    for namespace in ("muster-probe", "muster-4711-1", "kueue-system"):
        fake.put(NAMESPACE, namespace)
        fake.put(POD, f"in-{namespace}", namespace)
    delete_leftovers(fake, "docker rm -f -v node-1")
    kinds = (*TRAINING_JOBS, VOLCANO_GROUP, VOLCANO_QUEUE)
    assert [fake.names(kind) for kind in kinds] == [[], [], [], []]
    assert {key: things for key, things in fake.things.items() if key in before} == before


def test_a_terminating_namespace_is_awaited() -> None:
    fake = fresh(looks=4)
    fake.put(NAMESPACE, "muster-probe")
    delete_leftovers(fake, "docker rm -f -v node-1")
    assert "muster-probe" not in fake.names(NAMESPACE)


def test_a_namespace_that_is_not_deleted_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.timeouts.CLEARING_AWAY", 0.2)
    fake = fresh(looks=1000)
    fake.put(NAMESPACE, "muster-probe")
    with pytest.raises(
        HarnessError, match=r"still has Namespace muster-probe .*remove it with `docker rm -f -v node-1`"
    ):
        delete_leftovers(fake, "docker rm -f -v node-1")


def test_workers_lose_what_a_killed_run_has_left() -> None:
    fake = WorkerApi({"kubernetes.io/hostname": "w", "beta.kubernetes.io/os": "linux", "zone": "west"})
    prepare_workers(fake, ["w"])
    assert fake.changes == [("w", {"metadata": {"labels": {"zone": None}}, "spec": {"taints": None}})]


class WorkerApi(Api):
    """One worker that is ready."""

    def __init__(self, labels: dict[str, str]) -> None:
        super().__init__(None)
        self._labels = labels
        self.changes: list[tuple[str, Any]] = []

    def ensure(self, manifest: Any) -> None:
        return

    def get(self, *_: Any) -> dict[str, Any]:
        return {"metadata": {"name": "w", "labels": self._labels}}

    def list(self, *_: Any, **__: Any) -> dict[str, Any]:
        status = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"nvidia.com/gpu": "0"}}
        return {"items": [{"metadata": {"name": "w"}, "status": status}]}

    def patch(self, resource: Resource, name: str, body: Any, **_: Any) -> dict[str, Any]:
        self.changes.append((name, body))
        return {}
