"""Other people's pods: when they end a run, when they spoil a scenario, and when they are none of our business."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from muster.chronicle.objects import Pod
from muster.chronicle.records import Moment, Record
from muster.cluster.api import Api
from muster.cluster.connections import Connection
from muster.cluster.fences import Fence
from muster.errors import HarnessError, NotStaged
from muster.stage.neighbours import Neighbours
from muster.stage.residents import Resident
from muster.stage.stage import Stage
from muster.subject import Workplace, choose
from tests.tales import Tale

FENCE = Fence("kbcd240")
NOWHERE = Workplace(Path(), Path(), Path(), {})


def stranger(uid: str, *, reason: str = "", priority: int = 0) -> Record:
    """A pod of somebody else, asked to go."""
    conditions = [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "why"}] if reason else []
    body = {
        "metadata": {"name": uid, "uid": uid, "namespace": "team-a", "deletionTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"priority": priority},
        "status": {"conditions": conditions},
    }
    raw = msgspec.json.encode(body)
    return Record("Pod", "MODIFIED", Moment(1, 1.0), msgspec.json.decode(raw, type=Pod), raw)


def neighbours(waiting: dict[str, int]) -> Neighbours:
    connection = Connection(Path("nowhere"))
    connection.__dict__["api"] = Api(None)
    found = Neighbours(connection, FENCE, lambda priority: [name for name, own in waiting.items() if own > priority])
    found.take([stranger("before", reason="PreemptionByScheduler")])  # it was on its way when we came
    found._listed = True
    return found


def test_a_stranger_that_goes_while_nobody_of_ours_waits_is_none_of_our_business() -> None:
    calm = neighbours({"urgent": 5})
    calm.take([stranger("before", reason="PreemptionByScheduler")])
    calm.take([stranger("tidied"), stranger("drained", reason="EvictionByEvictionAPI")])
    calm.take([stranger("important", reason="PreemptionByScheduler", priority=5)])
    calm.check()


def test_a_stranger_that_may_have_gone_for_us_ends_the_run() -> None:
    alarmed = neighbours({"urgent": 5, "patient": 1})
    alarmed.take([stranger("victim", reason="PreemptionByScheduler", priority=3)])
    with pytest.raises(HarnessError, match=r"team-a/victim, was preempted \(why\) while urgent waited: it may be our"):
        alarmed.check()


def daemon(change: str = "MODIFIED", *, node: str = f"gpu-1{FENCE.suffix}", phase: str = "Pending") -> Record:
    """A pod of a DaemonSet that puts up with every taint."""
    body = {
        "metadata": {"name": "exporter-x", "uid": "exporter", "namespace": "monitoring"},
        "spec": {"nodeName": node},
        "status": {"phase": phase},
    }
    raw = msgspec.json.encode(body)
    return Record("Pod", change, Moment(1, 1.0), msgspec.json.decode(raw, type=Pod), raw)


def spoiled(guard: Callable[..., None], *of: Any) -> str:
    """Why a scenario is not staged, if so: raised out of a test it would only pass for a skip."""
    try:
        guard(*of)
    except NotStaged as reason:
        return str(reason)
    return ""


def test_a_stranger_on_a_node_of_the_scenario_is_not_the_schedulers_fault() -> None:
    found = neighbours({})
    found.take([daemon()])
    told = spoiled(found.keep_off, ["gpu-0", "gpu-1"])
    assert "monitoring/exporter-x, takes room on node gpu-1: have it keep off" in told
    assert not spoiled(found.keep_off, ["gpu-2"])  # a scenario that has other nodes


@pytest.mark.parametrize(
    "later", [daemon("DELETED"), daemon(phase="Succeeded"), daemon(node="gpu-1")], ids=["gone", "ended", "elsewhere"]
)
def test_a_stranger_that_holds_no_room_of_ours_is_welcome(later: Record) -> None:
    found = neighbours({})
    found.take([later])
    assert not spoiled(found.keep_off, ["gpu-1"])
    found.take([daemon(), daemon("DELETED")])
    assert not spoiled(found.keep_off, ["gpu-1"])


def stage_of(scheduler: str, tale: Tale) -> Any:
    """A stage whose scheduler lives on somebody's cluster, with a scene on it and nothing behind it."""
    stage: Any = Stage(scheduler)
    chosen, configuration = choose(scheduler)
    stage.subject = Resident(chosen, configuration, NOWHERE)
    stage.recorder = SimpleNamespace(history=tale.history)
    stage.cluster = SimpleNamespace(check=lambda: None)
    stage._neighbours = neighbours({})
    return stage


def test_a_scenario_is_told_of_a_stranger_on_its_nodes_but_not_of_one_beside_the_canary() -> None:
    tale = Tale().node("gpu-1", 1).node("muster-canary")
    tale.history.nodes["muster-canary"].node.metadata.labels["muster.dev/role"] = "canary"
    stage = stage_of("kube-scheduler", tale)
    stage._neighbours.take([daemon(node=f"muster-canary{FENCE.suffix}")])
    assert not spoiled(stage._undisturbed, tale.history)
    stage._neighbours.take([daemon()])
    assert "takes room on node gpu-1" in spoiled(stage._undisturbed, tale.history)


@pytest.mark.parametrize(
    ("scheduler", "priority", "suspects"),
    [("kube-scheduler", 3, ["waiting"]), ("kube-scheduler", 5, []), ("volcano", 5, ["waiting"])],
    ids=["less-important", "as-important", "reclaimed-for-a-queue"],
)
def test_a_queue_may_take_back_from_pods_of_any_priority(scheduler: str, priority: int, suspects: list[str]) -> None:
    tale = Tale().node("n", 1).settled("early", "n", 1, priority=5).pod("waiting", 1, priority=5)
    assert stage_of(scheduler, tale)._could_have_preempted(priority) == suspects
