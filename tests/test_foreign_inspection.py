"""What a cluster is asked before anything is created there, and what is said about it afterwards."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from muster.cli import clearing
from muster.cluster.api import Api, ApiRefused
from muster.cluster.foreign import inspection, sweeping
from muster.cluster.resources import POD, VOLCANO_QUEUE, Resource
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
        if reason := self.refuses.get(manifest["kind"]):
            raise ApiRefused(403, "Forbidden", reason, "POST")

    def list(self, kind: Resource, _namespace: str = "", **_: str) -> dict[str, Any]:
        names = self.pods if kind is POD else filter(None, [self.brings.get(kind.kind)])
        return {"items": [{"metadata": {"name": name}} for name in names]}


def inspect(there: There, *kinds: Resource) -> inspection.Findings:
    api: Any = there
    return inspection.inspect(api, kinds)


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


def test_what_is_worth_knowing() -> None:
    findings = inspect(There(version="v1.99.0", pods=("cluster-autoscaler-7d9",)))
    assert findings.problems == []
    assert [warning.split(":")[0] for warning in findings.warnings] == [
        "Kubernetes v1.99.0 is newer than what Muster was tried on (1.37)",
        "cluster-autoscaler runs there",
    ]


def test_a_webhook_that_cannot_be_rehearsed_is_no_obstacle() -> None:
    refused = {"Namespace": 'admission webhook "a.b" does not support dry run'}
    assert inspect(There(refuses=refused)).problems == []


def test_a_quota_in_every_new_namespace_is_told() -> None:
    api: Any = There(brings={"ResourceQuota": "everybody"})
    with pytest.raises(HarnessError, match="puts the ResourceQuota everybody into new namespaces"):
        inspection.look_at_namespace(api, "muster-kbcd240")


@pytest.mark.parametrize(
    ("keep", "left", "said"),
    [
        (False, [], "run kbcd241 was cleared away after its process had ended"),
        (False, ["node n"], "left on the cluster: node n; try again with: muster sweep --run kbcd241 --kubeconfig k"),
        (True, [], "kept on the cluster: run kbcd241; to clear it away: muster sweep --run kbcd241 --kubeconfig k"),
    ],
    ids=["crashed", "stuck", "kept"],
)
def test_what_is_said_after_a_run(
    keep: bool, left: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Api, "connect", lambda *_: None)
    monkeypatch.setattr(sweeping, "find", lambda _: {"kbcd241": None, "zzzzzz0": None})
    monkeypatch.setattr(sweeping, "clear", lambda *_, **__: left)
    clearing.after_run(argparse.Namespace(kubeconfig=Path("k"), context=None, keep=keep, run_id="kbcd240"))
    assert capsys.readouterr().err == f"muster: {said}\n"
