"""Which run is dead, what is left of it, and what becomes of that: without a cluster."""

from __future__ import annotations

import datetime
import os
import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from muster import cli
from muster.cluster.api import Api, ApiRefused
from muster.cluster.fences import RUN_LABEL
from muster.cluster.foreign import sweeping
from muster.cluster.foreign.heartbeats import HOLDER, Heartbeat, _began, holder, sign_of_life
from muster.cluster.resources import NAMESPACE, NODE, Resource
from muster.errors import HarnessError, UsageError
from muster.jobs import targets

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


def test_on_the_same_machine_the_process_is_the_answer() -> None:
    machine, pid, began = holder().split("-")
    nobody: Any = Leases()
    assert sign_of_life(nobody, namespace(holder())) == f"it is process {os.getpid()} here"
    assert not sign_of_life(nobody, namespace(f"{machine}-{pid}-{int(began) + 1}"))
    assert not sign_of_life(nobody, namespace(f"{machine}-4194305-1"))


def test_a_process_that_nobody_has_buried_is_dead() -> None:
    child = subprocess.Popen(["sleep", "60"])
    machine = holder().partition("-")[0]
    nobody: Any = Leases()
    held = namespace(f"{machine}-{child.pid}-{_began(child.pid)}")
    assert sign_of_life(nobody, held)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
    assert not sign_of_life(nobody, held)
    child.wait()


@pytest.mark.parametrize(("seconds", "sign"), [(30, "it was heard of 30 s ago"), (90, "")])
def test_from_elsewhere_the_lease_tells(seconds: int, sign: str) -> None:
    renewed: Any = Leases(ago(seconds=seconds))
    none: Any = Leases()
    assert sign_of_life(renewed, namespace("another-1-1", ago(hours=1))) == sign
    assert sign_of_life(none, namespace("another-1-1", ago(seconds=seconds))) == sign


def test_a_heartbeat_that_may_not_be_read_says_nothing_so_the_run_lives() -> None:
    forbidden: Any = Leases(status=403)
    assert "may not be read: have an administrator" in sign_of_life(forbidden, namespace("another-1-1", ago(days=1)))
    broken: Any = Leases(status=410)
    with pytest.raises(ApiRefused):
        sign_of_life(broken, namespace("another-1-1", ago(days=1)))


class Answer:
    """What the API server sends, with its own idea of the time."""

    status, headers = 200, {"Date": "Thu, 01 Jan 2026 12:00:00 GMT"}

    def read(self) -> bytes:
        return b"{}"

    def release_conn(self) -> None:
        return


def test_the_time_is_the_api_servers() -> None:
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


def test_who_is_spared_and_why() -> None:
    anybody: Any = Leases(ago(seconds=30))
    remains = [sweeping.Remains(RUN, [namespace("another-1-1")], oldest=ago(hours=2).isoformat())]
    remains += [sweeping.Remains(run, oldest=ago(minutes=age).isoformat()) for run, age in (("bbbbbb0", 30), ("c", 90))]
    assert sweeping.spared(anybody, remains, older_than=3600) == {
        RUN: "it was heard of 30 s ago",
        "bbbbbb0": "it is younger than --older-than",
    }


def labelled(name: str, run: str = RUN) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {RUN_LABEL: run}, "creationTimestamp": STAMP}}


class There:
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


def test_a_copied_label_makes_nothing_ours() -> None:
    ours = (NODE, f"gpu-1-muster-{RUN}"), (NAMESPACE, f"muster-{RUN}")
    anything: Any = There((NODE, "gpu-1"), (NAMESPACE, "team-a"), *ours)
    found = sweeping.find(anything)
    assert list(found) == [RUN]
    assert found[RUN].names() == [f"node gpu-1-muster-{RUN}", f"namespace muster-{RUN}"]
    assert found[RUN].first is not None


def test_what_will_not_go_keeps_nothing_else_and_is_named_with_the_reason() -> None:
    first, second, third = (f"gpu-{n}-muster-{RUN}" for n in (1, 2, 3))
    no: dict[str, Exception] = {
        f"muster-{RUN}": ApiRefused(403, "Forbidden", "namespaces stay", "DELETE"),
        first: ApiRefused(403, "Forbidden", "nodes are ours", "DELETE"),
        second: HarnessError("the API server does not answer (DELETE): failed calling webhook"),
    }
    nodes = [(NODE, name) for name in (first, second, third)]
    there: Any = There((NAMESPACE, f"muster-{RUN}"), *nodes, refuses=no)
    assert sweeping.clear(there, RUN, within=0) == [
        f"namespace muster-{RUN} (namespaces stay)",
        f"node {first} (nodes are ours)",
        f"node {second} (the API server does not answer (DELETE): failed calling webhook)",
        f"node {third}",  # asked to go at the last look
    ]
    assert [name for _, name in there.things] == [f"muster-{RUN}", first, second]


def test_when_the_api_falls_silent_what_was_seen_last_is_named() -> None:
    class Dying(There):
        def delete(self, *_: Any, **__: Any) -> None:
            self.silent = True
            raise HarnessError("the API server does not answer")

    dying: Any = Dying((NODE, f"a-muster-{RUN}"), (NODE, f"b-muster-{RUN}"))
    assert sweeping.clear(dying, RUN, within=0) == [
        f"node a-muster-{RUN}",
        f"node b-muster-{RUN}",
        f"perhaps more of run {RUN} (the API server does not answer)",
    ]


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """`muster sweep` on a cluster with parts of two runs; nothing of them lives."""

    def perform(*words: str) -> int:
        return cli.perform(["sweep", *words])

    monkeypatch.setattr(targets, "reach", lambda *_: SimpleNamespace(api=None))
    found = {run: sweeping.Remains(run, oldest=STAMP) for run in ("kbcd241", "kbcd242", "zzzzzz0")}
    monkeypatch.setattr(sweeping, "find", lambda _: found)
    monkeypatch.setattr(sweeping, "spared", lambda *_, **__: {})
    monkeypatch.setattr(sweeping, "clear", lambda *_, **__: [])
    return perform


def test_a_run_is_swept_with_all_its_workers(sweep: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert sweep("--run", RUN) == 0
    assert capsys.readouterr().out == "run kbcd241: 0 things cleared away\nrun kbcd242: 0 things cleared away\n"
    assert sweep("--run", "bbbbbb0") == 0
    assert capsys.readouterr().out == "nothing of run bbbbbb0 is there\n"
    with pytest.raises(UsageError, match="--run typo: no run is called so"):
        sweep("--run", "typo")


def test_a_run_that_is_spared_is_said_with_the_reason(
    sweep: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweeping, "spared", lambda *_, **__: {"kbcd242": "it lives"})
    assert sweep() == 0
    assert "run kbcd242 is left alone: it lives\n" in capsys.readouterr().out
    with pytest.raises(UsageError, match="run kbcd242 is left alone: it lives"):
        sweep("--run", RUN)
