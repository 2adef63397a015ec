"""Other tenants' pods: when they end a run, when a scenario is not staged, and when they do not matter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from muster.cluster.api import Api
from muster.cluster.interface import Connection
from muster.cluster.run_scope import RunScope
from muster.environment.bystander_guard import BystanderGuard
from muster.environment.environment import Environment
from muster.environment.in_cluster_scheduler import InClusterScheduler
from muster.errors import ConformanceFailure, HarnessError, NotStaged
from muster.recording.history import History
from muster.recording.objects import Pod
from muster.recording.recorder import Recorder
from muster.recording.records import Moment, Record
from muster.run_options import RunOptions
from muster.schedulers import ProcessContext, choose
from tests.support.history_builder import HistoryBuilder

SCOPE = RunScope("kbcd240")
ON_NODE = f"gpu-1{SCOPE.suffix}"
UNDER_TEST = "default-scheduler"
NOWHERE = ProcessContext(Path(), Path(), Path(), {})


def bystander(uid: str, *, reason: str = "", priority: int = 0) -> Record:
    """Another tenant's pod that is terminating."""
    conditions = [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "why"}] if reason else []
    body = {
        "metadata": {"name": uid, "uid": uid, "namespace": "team-a", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"priority": priority},
        "status": {"conditions": conditions},
    }
    raw = msgspec.json.encode(body)
    return Record("Pod", "MODIFIED", Moment(1, 1.0), msgspec.json.decode(raw, type=Pod), raw)


def guard(pending: dict[str, int]) -> BystanderGuard:
    connection = Connection(Path("nowhere"))
    connection.__dict__["api"] = Api(None)
    found = BystanderGuard(
        connection,
        SCOPE,
        frozenset({UNDER_TEST}),
        lambda priority: [name for name, own in pending.items() if own > priority],
    )
    found.take([bystander("before", reason="PreemptionByScheduler")])  # it was terminating before the run
    found._listed = True
    return found


def test_preempted_bystanders_do_not_matter_while_no_pod_of_the_run_is_pending() -> None:
    calm = guard({"urgent": 5})
    calm.take([bystander("before", reason="PreemptionByScheduler")])
    calm.take([bystander("tidied"), bystander("drained", reason="EvictionByEvictionAPI")])
    calm.take([bystander("higher-priority", reason="PreemptionByScheduler", priority=5)])
    calm.check()


def test_a_bystander_preempted_possibly_for_the_run_ends_it() -> None:
    alarmed = guard({"urgent": 5, "patient": 1})
    alarmed.take([bystander("victim", reason="PreemptionByScheduler", priority=3)])
    with pytest.raises(
        HarnessError, match=r"team-a/victim, was preempted \(why\) while urgent of this run was pending: the run may"
    ):
        alarmed.check()


def test_a_dead_watch_of_bystanders_is_an_error() -> None:
    blind = guard({})
    blind.kinds["Pod"]._down_since, blind.kinds["Pod"].last_error = 1.0, "pods is forbidden"
    with pytest.raises(HarnessError, match=r"the watch of Pod objects has been down .*pods is forbidden"):
        blind.check()


def daemon(change: str = "MODIFIED", *, node: str = ON_NODE, phase: str = "Pending", **spec: Any) -> Record:
    """A pod of a DaemonSet that tolerates every taint, unless `spec` says otherwise."""
    tolerate_all = {"schedulerName": UNDER_TEST, "tolerations": [{"operator": "Exists"}]}
    body = {
        "metadata": {"name": "exporter-x", "uid": "exporter", "namespace": "monitoring"},
        "spec": {"nodeName": node, **tolerate_all, **spec},
        "status": {"phase": phase},
    }
    raw = msgspec.json.encode(body)
    return Record("Pod", change, Moment(1, 1.0), msgspec.json.decode(raw, type=Pod), raw)


def not_staged(check: Callable[..., None], *arguments: Any) -> str:
    """Why a scenario is not staged, if so: raised out of a test it would count as a skip."""
    try:
        check(*arguments)
    except NotStaged as reason:
        return str(reason)
    return ""


def failure(check: Callable[..., None], *arguments: Any) -> str:
    """The failure report of a scenario, if the scheduler has failed."""
    try:
        check(*arguments)
    except ConformanceFailure as report:
        return str(report)
    except NotStaged:
        return ""
    return ""


def test_a_scenario_with_a_bystander_on_its_node_is_not_staged() -> None:
    found = guard({})
    found.take([daemon()])
    reason = not_staged(found.check_nodes, with_nodes("gpu-0", "gpu-1"), "")
    assert "monitoring/exporter-x, uses capacity of node gpu-1: keep it off" in reason
    assert not not_staged(found.check_nodes, with_nodes("gpu-2"), "")  # a scenario that has other nodes


def test_a_scheduler_that_ignores_the_taint_of_the_runs_nodes_has_failed() -> None:
    found = guard({})
    found.take([daemon("ADDED", node="", tolerations=[]), daemon(tolerations=[])])
    report = failure(found.check_nodes, with_nodes("gpu-1"), "muster run --only PRE-01")
    assert (
        "seen     default-scheduler bound another tenant's pod, monitoring/exporter-x, to node gpu-1 against its taint "
        "muster.dev/run=kbcd240:NoSchedule, which the pod does not tolerate\n" in report
    )
    assert report.endswith("repeat   muster run --only PRE-01")
    found.check_nodes(with_nodes("gpu-2"), "")  # a scenario that has other nodes


def test_a_failure_of_the_scheduler_outweighs_a_bystander_that_may_be_there() -> None:
    found = guard({})
    found.take([daemon()])
    other = daemon(tolerations=[])
    other.object.metadata.uid = "other"
    found._pending.add("other")
    found.take([other])
    assert "against its taint" in failure(found.check_nodes, with_nodes("gpu-1"), "")


RUN_TOLERATION = {"key": "muster.dev/run", "operator": "Exists", "effect": "NoSchedule"}
OTHER_TOLERATIONS = [
    {"key": "muster.dev/run", "value": "other-run"},
    {"key": "muster.dev/run", "operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
]


@pytest.mark.parametrize(
    "records",
    [
        [daemon("ADDED", node=""), daemon()],
        [daemon("ADDED", node="", tolerations=[RUN_TOLERATION]), daemon(tolerations=[RUN_TOLERATION])],
        [daemon("ADDED", node="", tolerations=[], schedulerName="x"), daemon(tolerations=[], schedulerName="x")],
        [daemon("ADDED", tolerations=[]), daemon(tolerations=[])],
    ],
    ids=["tolerates all", "tolerates the run's taint", "bound by another scheduler", "created with a nodeName"],
)
def test_a_bystander_that_the_scheduler_did_not_bind_against_the_taint_is_not_its_failure(
    records: list[Record],
) -> None:
    found = guard({})
    found.take(records)
    assert "uses capacity of node gpu-1" in not_staged(found.check_nodes, with_nodes("gpu-1"), "")


@pytest.mark.parametrize("toleration", OTHER_TOLERATIONS, ids=["another run", "another effect", "another key"])
def test_a_toleration_of_another_taint_does_not_help(toleration: dict[str, str]) -> None:
    found = guard({})
    found.take([daemon("ADDED", node="", tolerations=[toleration]), daemon(tolerations=[toleration])])
    assert "against its taint" in failure(found.check_nodes, with_nodes("gpu-1"), "")


@pytest.mark.parametrize(
    ("scheduler", "brought", "names"),
    [
        ("kube-scheduler", "", {"default-scheduler"}),
        ("volcano", "", {"volcano"}),
        ("reference", "muster-scheduler", set()),  # it runs under a name that only pods of the run have
    ],
)
def test_the_scheduler_names_that_bystanders_may_have(
    scheduler: str, brought: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BystanderGuard, "start", lambda self: self)
    environment = environment_of(scheduler, HistoryBuilder())
    environment._policy._connection.__dict__["api"] = Api(None)
    cluster: Any = SimpleNamespace(scope=RunScope("kbcd240", brought))
    environment._policy.watch_bystanders(cluster, environment.scheduler, lambda _: [])
    assert environment._policy.guard._scheduler_names == names


def with_nodes(*names: str) -> History:
    builder = HistoryBuilder()
    for name in names:
        builder.node(name, 1)
    return builder.history


@pytest.mark.parametrize(
    "later", [daemon("DELETED"), daemon(phase="Succeeded"), daemon(node="gpu-1")], ids=["gone", "ended", "elsewhere"]
)
def test_a_bystander_without_capacity_of_the_run_does_not_matter(later: Record) -> None:
    found = guard({})
    found.take([later])
    assert not not_staged(found.check_nodes, with_nodes("gpu-1"), "")
    found.take([daemon(), daemon("DELETED")])
    assert not not_staged(found.check_nodes, with_nodes("gpu-1"), "")


def test_a_binding_of_a_bystander_shows_that_the_scheduler_serves_others() -> None:
    found = guard({})
    found.take([daemon(node="elsewhere")])  # bound before it was seen
    assert found.last_binding == float("-inf")
    found.take([daemon(node="")])
    assert found.last_binding == float("-inf")
    found.take([daemon(node="elsewhere")])
    first = found.last_binding
    assert first > 0
    found.take([daemon(node="elsewhere")])
    assert found.last_binding == first, "a later change of a bound pod is no binding"


def environment_of(scheduler: str, builder: HistoryBuilder) -> Any:
    """An environment whose scheduler runs on an existing cluster, with a scenario and no real cluster."""
    environment: Any = Environment(RunOptions(scheduler=scheduler, kubeconfig=Path("nowhere")))
    chosen, configuration = choose(scheduler)
    environment.scheduler = InClusterScheduler(chosen, configuration, NOWHERE)
    environment.recorder = Recorder(Api(None), ())
    environment.recorder.history = builder.history
    environment.cluster = SimpleNamespace(check=lambda: None)
    environment._policy.guard = guard({})
    return environment


def test_a_bystander_on_the_probe_node_does_not_matter() -> None:
    builder = HistoryBuilder().node("gpu-1", 1).node("muster-probe")
    builder.history.nodes["muster-probe"].latest.metadata.labels["muster.dev/role"] = "probe"
    environment = environment_of("kube-scheduler", builder)
    environment._policy.guard.take([daemon(node=f"muster-probe{SCOPE.suffix}")])
    assert not not_staged(environment._check_scenario, builder.history, "")
    environment._policy.guard.take([daemon()])
    assert "uses capacity of node gpu-1" in not_staged(environment._check_scenario, builder.history, "")


@pytest.mark.parametrize(
    ("scheduler", "priority", "preemptors"),
    [("kube-scheduler", 3, ["pending"]), ("kube-scheduler", 5, []), ("volcano", 5, ["pending"])],
    ids=["lower-priority", "equal-priority", "reclaimed-for-a-queue"],
)
def test_a_queue_may_reclaim_from_pods_of_any_priority(scheduler: str, priority: int, preemptors: list[str]) -> None:
    builder = HistoryBuilder().node("n", 1).running_pod("early", "n", 1, priority=5).pod("pending", 1, priority=5)
    assert environment_of(scheduler, builder)._possible_preemptors(priority) == preemptors
