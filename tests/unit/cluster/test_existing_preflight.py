"""Preflight checks of an existing cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muster.cluster.api import ApiRefused
from muster.cluster.existing import ExistingCluster, preflight, rbac
from muster.cluster.interface import Connection
from muster.cluster.resources import POD, TRAINING_JOBS, Resource
from muster.errors import HarnessError, UsageError
from muster.schedulers.volcano import VOLCANO_QUEUE

BUILT_IN_GROUPS = ("apps", "coordination.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io")


class FakeApi:
    """A cluster that answers as it is told."""

    def __init__(
        self,
        *,
        version: str = "v1.36.2",
        kinds: tuple[str, ...] = (),
        pods: tuple[str, ...] = (),
        forbids: tuple[str, ...] = (),
        refuses: dict[str, str] | None = None,
        brings: dict[str, str] | None = None,
    ) -> None:
        self.version, self.kinds, self.pods, self.forbids = version, kinds, pods, forbids
        self.refuses, self.brings = refuses or {}, brings or {}
        self.dry_runs: list[dict[str, Any]] = []
        self.looked_at: list[str] = []

    def read(self, path: str) -> bytes:
        if path == "/version":
            return json.dumps({"gitVersion": self.version}).encode()
        if path == "/apis":
            names = [*BUILT_IN_GROUPS, *(kind.partition("/")[0] for kind in self.kinds)]
            return json.dumps({"groups": [{"name": name} for name in names]}).encode()
        served = [kind.rpartition("/")[2] for kind in self.kinds if path == f"/apis/{kind.rpartition('/')[0]}"]
        return json.dumps({"resources": [{"name": name} for name in served]}).encode()

    def post(self, _path: str, review: dict[str, Any]) -> dict[str, Any]:
        requested = review["spec"]["resourceAttributes"]
        return {"status": {"allowed": f"{requested['verb']} {requested['resource']}" not in self.forbids}}

    def dry_run(self, manifest: dict[str, Any]) -> None:
        self.dry_runs.append(manifest)
        if reason := self.refuses.get(manifest["kind"]):
            raise ApiRefused(403, "Forbidden", reason, "POST")

    def list(self, kind: Resource, namespace: str = "", **query: str) -> dict[str, Any]:
        """One pod a page: a cluster of any size is like that."""
        self.looked_at.append(namespace)
        names = self.pods if kind is POD else tuple(filter(None, [self.brings.get(kind.kind)]))
        page = int(query.get("continue", 0))
        more = str(page + 1) if len(names) > page + 1 else ""
        items = [{"metadata": {"name": name}} for name in names[page : page + 1]]
        return {"metadata": {"continue": more}, "items": items}


def inspect(fake: FakeApi, *kinds: Resource, jobs: Sequence[Resource] = ()) -> preflight.Findings:
    api: Any = fake
    return preflight.inspect(api, kinds, jobs)


def test_a_cluster_without_problems() -> None:
    findings = inspect(FakeApi(kinds=("scheduling.volcano.sh/v1beta1/queues",)), VOLCANO_QUEUE)
    assert (findings.version, findings.problems, findings.warnings) == ("v1.36.2", [], [])
    findings.raise_first_problem()


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (FakeApi(version="v1.27.3"), "Kubernetes v1.27.3 is too old: use 1.29 or newer"),
        (FakeApi(forbids=("create nodes",)), "permissions are missing (create nodes): have an administrator apply"),
        (
            FakeApi(refuses={"Node": "nodes are made by us"}),
            "the cluster refuses a Node of a run: nodes are made by us; ",
        ),
    ],
    ids=["version", "rights", "admission"],
)
def test_a_problem_is_one_usage_error(fake: FakeApi, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        inspect(fake).raise_first_problem()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_kind_is_reported_with_a_remedy() -> None:
    with pytest.raises(
        UsageError, match=r"does not serve queues of scheduling.volcano.sh/v1beta1: install the component"
    ):
        inspect(FakeApi(), VOLCANO_QUEUE).raise_first_problem()


def test_missing_job_kinds_are_a_warning() -> None:
    findings = inspect(FakeApi(), jobs=TRAINING_JOBS[:1])
    assert findings.problems == []
    (warning,) = findings.warnings
    assert warning.startswith(
        "the cluster does not serve pytorchjobs of kubeflow.org/v1: install the component that defines them"
    )
    assert warning.endswith("until then scenarios that need them are not staged")


def test_warnings() -> None:
    pods = ("theirs", "kube-system-is-late-in-the-alphabet", "cluster-autoscaler-7d9", "kwok-controller-5c")
    findings = inspect(FakeApi(version="v1.99.0", pods=pods))
    assert findings.problems == []
    assert [warning.split(":")[0] for warning in findings.warnings] == [
        "Kubernetes v1.99.0 is newer than what Muster was tested with (1.37)",
        "cluster-autoscaler runs there",
        "kwok-controller runs there",
    ]


def test_the_dry_run_creates_the_same_namespace_as_the_run(tmp_path: Path) -> None:
    fake = FakeApi()
    inspect(fake)
    made: list[dict[str, Any]] = []
    cluster: Any = ExistingCluster(Connection(tmp_path), run="kbcd240")
    cluster._api = SimpleNamespace(create=made.append, ensure=lambda _: None)
    cluster._missing = []
    cluster.add_namespace("muster-kbcd240")
    (dry_runs,) = [one for one in fake.dry_runs if one["kind"] == "Namespace"]
    assert made[0]["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "privileged"}
    assert dry_runs["metadata"]["labels"].items() > made[0]["metadata"]["labels"].items()


def test_a_role_binding_is_awaited_by_a_missing_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    awaited: list[tuple[object, ...]] = []
    monkeypatch.setattr(rbac, "bind_scenario_role", lambda *arguments: awaited.append(arguments[1:]))
    lacking = rbac.Permission(rbac.SCENARIO_ROLE, "", "pods/status", "patch")
    cluster: Any = ExistingCluster(Connection(tmp_path), run="kbcd240")
    cluster._api = SimpleNamespace(create=lambda _: None, ensure=lambda _: None)
    cluster._missing = [lacking]
    cluster.add_namespace("muster-kbcd240")
    assert awaited == [("muster-kbcd240", lacking)]


def test_a_webhook_without_dry_run_is_ignored() -> None:
    refused = {"Namespace": 'admission webhook "a.b" does not support dry run'}
    assert inspect(FakeApi(refuses=refused)).problems == []


def test_a_quota_in_new_namespaces_is_an_error() -> None:
    api: Any = FakeApi(brings={"ResourceQuota": "for-all"})
    with pytest.raises(HarnessError, match="creates the ResourceQuota for-all in every new namespace"):
        preflight.check_namespace(api, "muster-kbcd240")


def test_both_namespaces_of_a_run_are_checked_for_limits(tmp_path: Path) -> None:
    fake = FakeApi()
    cluster: Any = ExistingCluster(Connection(tmp_path), run="kbcd240")
    cluster._api = fake
    cluster.check_namespaces()
    assert set(fake.looked_at) == {"muster-kbcd240", "muster-kbcd240-default"}
