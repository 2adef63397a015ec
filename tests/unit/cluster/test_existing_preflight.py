"""What a cluster is asked before anything is created there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from muster.cluster.api import ApiRefused
from muster.cluster.connections import Connection
from muster.cluster.foreign import ForeignCluster, inspection, rights
from muster.cluster.resources import POD, PYTORCH_JOB, VOLCANO_QUEUE, Resource
from muster.errors import HarnessError, UsageError


class There:
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
        self.rehearsed: list[dict[str, Any]] = []
        self.looked_at: list[str] = []

    def read(self, path: str) -> bytes:
        if path == "/version":
            return json.dumps({"gitVersion": self.version}).encode()
        if path == "/apis":
            return json.dumps({"groups": [{"name": kind.partition("/")[0]} for kind in self.kinds]}).encode()
        served = [kind.rpartition("/")[2] for kind in self.kinds if path == f"/apis/{kind.rpartition('/')[0]}"]
        return json.dumps({"resources": [{"name": name} for name in served]}).encode()

    def post(self, _path: str, review: dict[str, Any]) -> dict[str, Any]:
        asked = review["spec"]["resourceAttributes"]
        return {"status": {"allowed": f"{asked['verb']} {asked['resource']}" not in self.forbids}}

    def rehearse(self, manifest: dict[str, Any]) -> None:
        self.rehearsed.append(manifest)
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


def inspect(there: There, *kinds: Resource, jobs: Sequence[Resource] = ()) -> inspection.Findings:
    api: Any = there
    return inspection.inspect(api, kinds, jobs)


def test_a_sound_cluster() -> None:
    findings = inspect(There(kinds=("scheduling.volcano.sh/v1beta1/queues",)), VOLCANO_QUEUE)
    assert (findings.version, findings.problems, findings.warnings) == ("v1.36.2", [], [])
    findings.must_be_sound()


@pytest.mark.parametrize(
    ("there", "sentence"),
    [
        (There(version="v1.27.3"), "Kubernetes v1.27.3 is too old: 1.29 is the least"),
        (There(forbids=("create nodes",)), "rights are missing there (create nodes): have an administrator apply"),
        (There(refuses={"Node": "nodes are made by us"}), "the cluster refuses a Node of ours: nodes are made by us; "),
    ],
    ids=["version", "rights", "admission"],
)
def test_what_stands_in_the_way_is_one_sentence(there: There, sentence: str) -> None:
    with pytest.raises(UsageError) as raised:
        inspect(there).must_be_sound()
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_kind_that_is_not_served_is_named_with_a_remedy() -> None:
    with pytest.raises(
        UsageError, match=r"does not serve queues of scheduling.volcano.sh/v1beta1: install what brings"
    ):
        inspect(There(), VOLCANO_QUEUE).must_be_sound()


def test_without_kinds_that_only_jobs_need_a_run_can_start() -> None:
    findings = inspect(There(), jobs=(PYTORCH_JOB,))
    assert findings.problems == []
    (warning,) = findings.warnings
    assert warning.startswith("the cluster does not serve pytorchjobs of kubeflow.org/v1: install what brings them")
    assert warning.endswith("until then what speaks of them is not staged")


def test_what_is_worth_knowing() -> None:
    pods = ("theirs", "kube-system-is-late-in-the-alphabet", "cluster-autoscaler-7d9", "kwok-controller-5c")
    findings = inspect(There(version="v1.99.0", pods=pods))
    assert findings.problems == []
    assert [warning.split(":")[0] for warning in findings.warnings] == [
        "Kubernetes v1.99.0 is newer than what Muster was tried on (1.37)",
        "cluster-autoscaler runs there",
        "kwok-controller runs there",
    ]


def test_what_is_rehearsed_is_what_will_be_created(tmp_path: Path) -> None:
    there = There()
    inspect(there)
    made: list[dict[str, Any]] = []
    cluster: Any = ForeignCluster(Connection(tmp_path), run="kbcd240")
    cluster._api = SimpleNamespace(create=made.append, ensure=lambda _: None)
    cluster._lacking = []
    cluster.add_namespace("muster-kbcd240")
    (rehearsed,) = [one for one in there.rehearsed if one["kind"] == "Namespace"]
    assert made[0]["metadata"]["labels"] == {"pod-security.kubernetes.io/enforce": "privileged"}
    assert rehearsed["metadata"]["labels"].items() > made[0]["metadata"]["labels"].items()


def test_a_binding_is_waited_for_by_a_right_that_was_lacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    awaited: list[tuple[object, ...]] = []
    monkeypatch.setattr(rights, "bind_scene", lambda *words: awaited.append(words[1:]))
    lacking = rights.Right(rights.SCENE_ROLE, "", "pods/status", "patch")
    cluster: Any = ForeignCluster(Connection(tmp_path), run="kbcd240")
    cluster._api = SimpleNamespace(create=lambda _: None, ensure=lambda _: None)
    cluster._lacking = [lacking]
    cluster.add_namespace("muster-kbcd240")
    assert awaited == [("muster-kbcd240", lacking)]


def test_a_webhook_that_cannot_be_rehearsed_is_no_obstacle() -> None:
    refused = {"Namespace": 'admission webhook "a.b" does not support dry run'}
    assert inspect(There(refuses=refused)).problems == []


def test_a_quota_in_every_new_namespace_is_told() -> None:
    api: Any = There(brings={"ResourceQuota": "everybody"})
    with pytest.raises(HarnessError, match="puts the ResourceQuota everybody into new namespaces"):
        inspection.look_at_namespace(api, "muster-kbcd240")


def test_limits_are_looked_for_in_both_namespaces_of_a_run(tmp_path: Path) -> None:
    there = There()
    cluster: Any = ForeignCluster(Connection(tmp_path), run="kbcd240")
    cluster._api = there
    cluster.look_for_limits()
    assert set(there.looked_at) == {"muster-kbcd240", "muster-kbcd240-home"}
