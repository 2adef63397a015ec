"""What a run that was killed leaves in a kind cluster goes before the next one begins; what belongs there stays."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cluster.api import Api, ApiRefused
from muster.cluster.kind.tidying import clear_remains
from muster.cluster.resources import (
    CONFIG_MAP,
    DEFINITION,
    MPI_JOB,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    PYTORCH_JOB,
    SERVICE,
    VOLCANO_GROUP,
    VOLCANO_QUEUE,
    Resource,
)
from muster.errors import HarnessError

Thing = dict[str, Any]


class There(Api):
    """Objects by kind. A namespace goes after so many looks at it, everything else when nobody holds it."""

    def __init__(self, looks: int = 0) -> None:
        super().__init__(None)
        self.looks = looks
        self.things: dict[tuple[str, str], list[Thing]] = {}

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


def _fits(one: Thing, namespace: str | None, query: dict[str, str]) -> bool:
    real = "kubernetes.io/os" in one["metadata"].get("labels", {})
    return one["metadata"].get("namespace") == (namespace or one["metadata"].get("namespace")) and not (
        real and query.get("labelSelector") == "!kubernetes.io/os"
    )


def fresh(looks: int = 0) -> There:
    there = There(looks)
    for name in ("default", "kube-system", "kube-public", "kube-node-lease", "local-path-storage"):
        there.put(NAMESPACE, name)
    there.put(NODE, "muster-control-plane", labels={"kubernetes.io/os": "linux"})
    there.put(PRIORITY_CLASS, "system-node-critical")
    there.put(POD, "coredns", "kube-system")
    there.put(SERVICE, "kubernetes", "default")
    there.put(CONFIG_MAP, "kube-root-ca.crt", "default")
    return there


def test_what_belongs_to_a_kind_cluster_stays() -> None:
    there = fresh()
    clear_remains(there, "node-1")
    assert there.things == fresh().things


def test_everything_of_a_run_that_was_killed_goes() -> None:
    there = fresh()
    before = fresh().things
    there.define(PYTORCH_JOB, MPI_JOB, VOLCANO_GROUP, VOLCANO_QUEUE)
    for kind in (PYTORCH_JOB, MPI_JOB, VOLCANO_GROUP, POD, SERVICE, CONFIG_MAP):
        there.put(kind, "left", "default", finalizers=["somebody.who/is-gone"])
    there.put(VOLCANO_QUEUE, "left")
    there.put(PRIORITY_CLASS, "priority-10")
    there.put(NODE, "gpu-1")
    there.put(POD, "beside-the-system", "kube-system", annotations={"muster.dev/termination": "1s"})
    for namespace in ("muster-canary", "muster-4711-1", "kueue-system"):
        there.put(NAMESPACE, namespace)
        there.put(POD, f"in-{namespace}", namespace)
    clear_remains(there, "node-1")
    kinds = (PYTORCH_JOB, MPI_JOB, VOLCANO_GROUP, VOLCANO_QUEUE)
    assert [there.names(kind) for kind in kinds] == [[], [], [], []]
    assert {key: things for key, things in there.things.items() if key in before} == before


def test_a_namespace_that_takes_its_time_is_waited_for() -> None:
    there = fresh(looks=4)
    there.put(NAMESPACE, "muster-canary")
    clear_remains(there, "node-1")
    assert "muster-canary" not in there.names(NAMESPACE)


def test_a_namespace_that_does_not_go_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.timeouts.CLEARING_AWAY", 0.2)
    there = fresh(looks=1000)
    there.put(NAMESPACE, "muster-canary")
    with pytest.raises(HarnessError, match=r"rid of Namespace muster-canary .*remove it with `docker rm -f -v node-1`"):
        clear_remains(there, "node-1")
