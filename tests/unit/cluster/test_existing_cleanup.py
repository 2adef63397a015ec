"""Which runs are dead, what they left, and how it is deleted, without a cluster."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from muster import cli
from muster.arena import target
from muster.cluster.api import Api, ApiRefused
from muster.cluster.existing import cleanup
from muster.cluster.existing.lease import HOLDER, Heartbeat, _start_time, alive_because, holder
from muster.cluster.resources import NAMESPACE, NODE, Resource
from muster.cluster.run_scope import RUN_LABEL, RunScope
from muster.errors import HarnessError, UsageError
from muster.schedulers import existing_cluster_objects

RUN = "kbcd240"
NOW = datetime.datetime(2026, 1, 1, 12, 0, tzinfo=datetime.UTC)
STAMP = NOW.isoformat()


class Leases:
    """An API at noon that knows one Lease, or refuses to tell."""

    def __init__(self, renewed: datetime.datetime | None = None, status: int = 404) -> None:
        self.renewed, self.status = renewed, status

    def now(self) -> datetime.datetime:
        return NOW

    def get(self, *_: object) -> dict[str, Any]:
        if self.renewed is None:
            raise ApiRefused(self.status, "", "no lease for you", "GET")
        return {"spec": {"renewTime": self.renewed.isoformat()}}


def namespace(held_by: str, created: datetime.datetime = NOW) -> dict[str, Any]:
    metadata = {"name": f"muster-{RUN}", "annotations": {HOLDER: held_by}, "creationTimestamp": created.isoformat()}
    return {"metadata": metadata}


def ago(**long: float) -> datetime.datetime:
    return NOW - datetime.timedelta(**long)


def test_on_the_same_machine_the_process_is_checked() -> None:
    machine, pid, began = holder().split("-")
    none: Any = Leases()
    assert alive_because(none, namespace(holder())) == f"it is process {os.getpid()} here"
    assert not alive_because(none, namespace(f"{machine}-{pid}-{int(began) + 1}"))
    assert not alive_because(none, namespace(f"{machine}-4194305-1"))


def test_a_zombie_process_is_dead() -> None:
    child = subprocess.Popen(["sleep", "60"])
    machine = holder().partition("-")[0]
    none: Any = Leases()
    held = namespace(f"{machine}-{child.pid}-{_start_time(child.pid)}")
    assert alive_because(none, held)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
    assert not alive_because(none, held)
    child.wait()


@pytest.mark.parametrize(("seconds", "sign"), [(30, "its Lease was renewed 30 s ago"), (90, "")])
def test_from_another_machine_the_lease_is_checked(seconds: int, sign: str) -> None:
    renewed: Any = Leases(ago(seconds=seconds))
    none: Any = Leases()
    assert alive_because(renewed, namespace("another-1-1", ago(hours=1))) == sign
    assert alive_because(none, namespace("another-1-1", ago(seconds=seconds))) == sign


def test_a_run_whose_lease_may_not_be_read_counts_as_alive() -> None:
    forbidden: Any = Leases(status=403)
    assert "may not be read: have an administrator" in alive_because(forbidden, namespace("another-1-1", ago(days=1)))
    broken: Any = Leases(status=410)
    with pytest.raises(ApiRefused):
        alive_because(broken, namespace("another-1-1", ago(days=1)))


class Answer:
    """What the API server sends, with its own idea of the time."""

    status, headers = 200, {"Date": "Thu, 01 Jan 2026 12:00:00 GMT"}

    def read(self) -> bytes:
        return b"{}"

    def release_conn(self) -> None:
        return


def test_the_time_is_that_of_the_api_server() -> None:
    pool = SimpleNamespace(request=lambda *_, **__: Answer())
    client = SimpleNamespace(
        param_serialize=lambda *_, **__: ("GET", "", {}, None, None), rest_client=SimpleNamespace(pool_manager=pool)
    )
    api = Api(client)
    assert abs(datetime.datetime.now(datetime.UTC) - api.now()) < datetime.timedelta(minutes=1)  # nothing heard yet
    api.get(NODE, "any")
    assert datetime.timedelta() <= api.now() - NOW < datetime.timedelta(minutes=1)
    beat = datetime.datetime.fromisoformat(Heartbeat(api, "muster-x", lambda: None)._spec()["renewTime"])
    assert datetime.timedelta() <= beat - NOW < datetime.timedelta(minutes=1)


def test_runs_that_are_not_deleted() -> None:
    renewed: Any = Leases(ago(seconds=30))
    leftovers = [cleanup.Leftovers(RUN, [namespace("another-1-1")], oldest=ago(hours=2).isoformat())]
    leftovers += [
        cleanup.Leftovers(run, oldest=ago(minutes=age).isoformat()) for run, age in (("bbbbbb0", 30), ("c", 90))
    ]
    assert cleanup.skipped_runs(renewed, leftovers, older_than=3600) == {
        RUN: "its Lease was renewed 30 s ago",
        "bbbbbb0": "it is younger than --older-than",
    }


def labelled(name: str, run: str = RUN) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {RUN_LABEL: run}, "creationTimestamp": STAMP}}


class FakeApi:
    """A cluster with things on it; `refuses` says of what it will not let go, and how it says so."""

    def __init__(self, *names: tuple[Resource, str], refuses: dict[str, Exception] | None = None) -> None:
        self.things, self.refuses, self.silent = list(names), refuses or {}, False

    def read(self, _path: str) -> bytes:
        if self.silent:
            raise HarnessError("the API server does not answer")
        return b"{}"

    def list(self, kind: Resource, *_: str, **__: str) -> dict[str, Any]:
        self.read("")
        return {"items": [labelled(name) for one, name in self.things if one is kind]}

    def delete(self, kind: Resource, name: str, *_: str, **__: int) -> None:
        if trouble := self.refuses.get(name):
            raise trouble
        self.things.remove((kind, name))


def test_an_object_with_a_copied_label_is_not_the_runs() -> None:
    ours = (NODE, f"gpu-1-muster-{RUN}"), (NAMESPACE, f"muster-{RUN}")
    anything: Any = FakeApi((NODE, "gpu-1"), (NAMESPACE, "team-a"), *ours)
    found = cleanup.find_runs(anything, existing_cluster_objects())
    assert list(found) == [RUN]
    assert found[RUN].names() == [f"node gpu-1-muster-{RUN}", f"namespace muster-{RUN}"]
    assert found[RUN].first_namespace is not None


def test_an_object_that_cannot_be_deleted_is_listed_with_the_reason() -> None:
    first, second, third = (f"gpu-{n}-muster-{RUN}" for n in (1, 2, 3))
    no: dict[str, Exception] = {
        f"muster-{RUN}": ApiRefused(403, "Forbidden", "namespaces stay", "DELETE"),
        first: ApiRefused(403, "Forbidden", "nodes are ours", "DELETE"),
        second: HarnessError("the API server does not answer (DELETE): failed calling webhook"),
    }
    nodes = [(NODE, name) for name in (first, second, third)]
    fake: Any = FakeApi((NAMESPACE, f"muster-{RUN}"), *nodes, refuses=no)
    assert cleanup.delete_run(fake, RUN, existing_cluster_objects(), within=0) == [
        f"namespace muster-{RUN} (namespaces stay)",
        f"node {first} (nodes are ours)",
        f"node {second} (the API server does not answer (DELETE): failed calling webhook)",
        f"node {third}",  # asked to go at the last look
    ]
    assert [name for _, name in fake.things] == [f"muster-{RUN}", first, second]


def test_objects_seen_last_are_listed_when_the_api_stops_answering() -> None:
    class Dying(FakeApi):
        def delete(self, *_: Any, **__: Any) -> None:
            self.silent = True
            raise HarnessError("the API server does not answer")

    dying: Any = Dying((NODE, f"a-muster-{RUN}"), (NODE, f"b-muster-{RUN}"))
    assert cleanup.delete_run(dying, RUN, existing_cluster_objects(), within=0) == [
        f"node a-muster-{RUN}",
        f"node b-muster-{RUN}",
        f"perhaps more of run {RUN} (the API server does not answer)",
    ]


class Pods:
    """Pods of a run, and what is deleted of them."""

    def __init__(self, *pods: dict[str, Any]) -> None:
        self.pods, self.deleted = pods, list[tuple[str, str]]()

    def list(self, *_: Any) -> dict[str, Any]:
        return {"items": self.pods}

    def delete(self, _: Resource, name: str, *__: str, grace: int) -> None:
        self.deleted.append((name, f"{grace} s"))

    def delete_all(self, *_: Any, gracePeriodSeconds: str, fieldSelector: str = "") -> None:  # noqa: N803
        self.deleted.append((fieldSelector or "all", f"{gracePeriodSeconds} s"))


def pod(name: str, node: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}, "spec": {"nodeName": node} if node else {}}


def test_pods_on_real_nodes_are_given_time_to_end() -> None:
    """Their containers hold GPUs until the kubelet has ended them."""
    simulated = pod("a", f"gpu-1-muster-{RUN}"), pod("b", "")
    api: Any = Pods(*simulated)
    cleanup._delete_pods(api, f"muster-{RUN}", RunScope(RUN), lambda _: None, set())
    assert api.deleted == [("all", "0 s")]
    api = Pods(*simulated, pod("c", "w"), pod("d", "w", deletionGracePeriodSeconds=1), pod("e", "w2"))
    cleanup._delete_pods(api, f"muster-{RUN}", RunScope(RUN), lambda _: None, set())
    assert api.deleted == [("c", "1 s"), ("e", "1 s"), ("spec.nodeName!=w,spec.nodeName!=w2", "0 s")]


@pytest.fixture
def run_cleanup(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """`muster cleanup` on a cluster with parts of two runs; none of them is alive."""

    def perform(*arguments: str) -> int:
        return cli.run_command(["cleanup", *arguments])

    monkeypatch.setattr(target, "connect", lambda *_: SimpleNamespace(api=None))
    found = {run: cleanup.Leftovers(run, oldest=STAMP) for run in ("kbcd241", "kbcd242", "zzzzzz0")}
    monkeypatch.setattr(cleanup, "find_runs", lambda *_: found)
    monkeypatch.setattr(cleanup, "skipped_runs", lambda *_, **__: {})
    monkeypatch.setattr(cleanup, "delete_run", lambda *_, **__: [])
    return perform


def test_a_run_is_deleted_with_all_its_workers(
    run_cleanup: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cleanup("--run", RUN) == 0
    assert capsys.readouterr().out == "run kbcd241: 0 objects deleted\nrun kbcd242: 0 objects deleted\n"
    assert run_cleanup("--run", "bbbbbb0") == 0
    assert capsys.readouterr().out == "no objects of run bbbbbb0 found\n"
    with pytest.raises(UsageError, match="--run typo: not the id of a run"):
        run_cleanup("--run", "typo")


def test_a_run_that_is_not_deleted_is_reported_with_the_reason(
    run_cleanup: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cleanup, "skipped_runs", lambda *_, **__: {"kbcd242": "it is alive"})
    assert run_cleanup() == 0
    assert "run kbcd242 is not deleted: it is alive\n" in capsys.readouterr().out
    with pytest.raises(UsageError, match="run kbcd242 is not deleted: it is alive"):
        run_cleanup("--run", RUN)
