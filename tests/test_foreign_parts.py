"""The parts of a run on somebody's cluster that can be tested without one."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from muster.chronicle.history import History
from muster.chronicle.invariants import no_pod_ignores_a_taint
from muster.chronicle.objects import Pod
from muster.chronicle.recorder import Recorder
from muster.chronicle.records import Moment, Record
from muster.cluster.api import Api, ApiRefused
from muster.cluster.connections import Connection
from muster.cluster.fenced_api import FencedApi, read_fence, write_fence
from muster.cluster.fences import RUN_LABEL, Fence
from muster.cluster.foreign import rights, sweeping
from muster.cluster.foreign.heartbeats import HOLDER, _began, holder, is_alive
from muster.cluster.foreign.kubeconfigs import write_single
from muster.cluster.resources import MPI_JOB, PYTORCH_JOB, VOLCANO_COMMAND, VOLCANO_GROUP, VOLCANO_QUEUE
from muster.errors import HarnessError, NotStaged, UsageError
from muster.stage.neighbours import Neighbours
from muster.stage.residents import Resident, brings, check_companions, spoken_with
from muster.subject import Workplace, choose
from tests.tales import Tale

RUN = "kbcd240"
TAINT = [{"key": "gpu", "effect": "NoSchedule"}]
NOW = datetime.datetime(2026, 1, 1, 12, 0, tzinfo=datetime.UTC)
NOWHERE = Workplace(Path(), Path(), Path(), {})


def test_on_a_cluster_of_ours_the_version_orders() -> None:
    assert Recorder(Api(None), ()).moment(7, 1.5) == Moment(7, 1.5)


def test_elsewhere_the_arrival_orders_and_no_two_moments_are_the_same() -> None:
    recorder = Recorder(FencedApi(None, Fence(RUN)), ())
    first, second, third = recorder.moment(900, 1.5), recorder.moment(3, 1.5), recorder.moment(2, 2.0)
    assert first < second < third
    assert {moment.version for moment in (first, second, third)} == {0}
    assert third.at == 2.0


@pytest.mark.parametrize(("tolerance", "broken"), [(0.0, 1), (0.5, 0)])
def test_what_may_have_been_overtaken_counts_for_the_scheduler(tolerance: float, broken: int) -> None:
    tale = Tale().node("n", 1).node("n", 1, TAINT).pod("quick", 1).bind("quick", "n")
    history = History("tale", tolerance=tolerance)
    history.began = 0.0
    for records in tale.history.records.values():
        for one in records:
            history.append(Record(one.kind, one.change, Moment(0, one.moment.at), one.object, one.raw))
    assert len(no_pod_ignores_a_taint(history)) == broken


def test_only_what_is_the_runs_own_is_recorded_and_under_its_own_names() -> None:
    api = FencedApi(None, Fence(RUN))
    assert api.own(b'{"name":"gpu-1"}') is None
    assert api.own(f'{{"name":"gpu-1-muster-{RUN}"}}'.encode()) == b'{"name":"gpu-1"}'


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
    found = Neighbours(connection, lambda priority: [name for name, own in waiting.items() if own > priority])
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


class Leases:
    """An API that knows one Lease, or none."""

    def __init__(self, renewed: datetime.datetime | None) -> None:
        self.renewed = renewed

    def get(self, *_: object) -> dict[str, Any]:
        if self.renewed is None:
            raise ApiRefused(404, "NotFound", "no lease", "GET")
        return {"spec": {"renewTime": self.renewed.isoformat()}}


def namespace(held_by: str, created: datetime.datetime = NOW) -> dict[str, Any]:
    metadata = {"name": f"muster-{RUN}", "annotations": {HOLDER: held_by}, "creationTimestamp": created.isoformat()}
    return {"metadata": metadata}


def test_on_the_same_machine_the_process_is_the_answer() -> None:
    machine, pid, began = holder().split("-")
    nobody: Any = Leases(None)
    assert is_alive(nobody, namespace(holder()), NOW)
    assert not is_alive(nobody, namespace(f"{machine}-{pid}-{int(began) + 1}"), NOW)
    assert not is_alive(nobody, namespace(f"{machine}-4194305-1"), NOW)


def test_a_process_that_nobody_has_buried_is_dead() -> None:
    child = subprocess.Popen(["sleep", "60"])
    machine = holder().partition("-")[0]
    nobody: Any = Leases(None)
    held = namespace(f"{machine}-{child.pid}-{_began(child.pid)}")
    assert is_alive(nobody, held, NOW)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie
    assert not is_alive(nobody, held, NOW)
    child.wait()


@pytest.mark.parametrize(("seconds", "alive"), [(30, True), (90, False)])
def test_from_elsewhere_the_lease_tells(seconds: int, alive: bool) -> None:
    then = NOW - datetime.timedelta(seconds=seconds)
    renewed: Any = Leases(then)
    none: Any = Leases(None)
    assert is_alive(renewed, namespace("another-1-1", NOW - datetime.timedelta(hours=1)), NOW) is alive
    assert is_alive(none, namespace("another-1-1", then), NOW) is alive


class Labelled:
    """An API on which everything carries the label of a run, be it one of ours or not."""

    def list(self, kind: Any, **_: str) -> dict[str, Any]:
        names = {"Node": ["gpu-1", f"gpu-1-muster-{RUN}"], "Namespace": ["team-a", f"muster-{RUN}"]}.get(kind.kind, [])
        labels = {RUN_LABEL: RUN}
        stamp = NOW.isoformat()
        return {"items": [{"metadata": {"name": n, "labels": labels, "creationTimestamp": stamp}} for n in names]}


def test_a_copied_label_makes_nothing_ours() -> None:
    anything: Any = Labelled()
    found = sweeping.find(anything)
    assert list(found) == [RUN]
    assert found[RUN].names() == [f"node gpu-1-muster-{RUN}", f"namespace muster-{RUN}"]
    assert found[RUN].first is not None


def test_a_kubeconfig_for_those_beside_the_cluster(tmp_path: Path) -> None:
    source = {
        "clusters": [{"name": "c", "cluster": {"server": "https://there", "certificate-authority": "ca.crt"}}],
        "users": [{"name": "u", "user": {"exec": {"command": "log-in"}}}, {"name": "v", "user": {"client-key": "k"}}],
        "contexts": [
            {"name": "by-program", "context": {"cluster": "c", "user": "u", "namespace": "mine"}},
            {"name": "by-key", "context": {"cluster": "c", "user": "v"}},
        ],
        "current-context": "by-key",
    }
    (tmp_path / "config").write_text(yaml.safe_dump(source))
    written = tmp_path / "run.kubeconfig"
    write_single(written, tmp_path / "config", "by-program", "secret")
    config = json.loads(written.read_text())
    assert config["clusters"][0]["cluster"]["certificate-authority"] == str(tmp_path / "ca.crt")
    assert config["users"][0]["user"] == {"token": "secret", "tokenFile": str(tmp_path / "run.token")}
    assert (tmp_path / "run.token").read_text() == "secret"
    assert written.stat().st_mode & 0o077 == 0
    write_single(written, tmp_path / "config", None, "")
    assert json.loads(written.read_text())["users"][0]["user"] == {"client-key": str(tmp_path / "k")}
    with pytest.raises(UsageError, match="has no context 'nope'"):
        write_single(written, tmp_path / "config", "nope", "")


def test_a_fence_lies_beside_a_kubeconfig(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    assert read_fence(file) is None
    write_fence(file, Fence(RUN, "mine"))
    assert read_fence(file) == Fence(RUN, "mine")


def test_a_resident_is_spoken_to_and_nothing_else() -> None:
    chosen, configuration = choose("kube-scheduler")
    there = Resident(chosen, configuration, NOWHERE)
    assert there.dialect.scheduler_name == "default-scheduler"
    assert there.longest_backoff == 10.0
    assert there.claims(configuration) == chosen.claims(configuration)
    there.start()
    there.check()
    there.configure({})
    for attempt in (there.pause, there.kill, lambda: there.configure({"preemption": "off"})):
        with pytest.raises(NotStaged, match="kube-scheduler is not ours to"):
            attempt()


def test_who_is_brought_and_what_must_be_served() -> None:
    assert brings("reference:koordinator") == "muster-scheduler"
    assert brings("volcano") == ""
    assert spoken_with("kube-scheduler", {"preemption"}) == ()
    assert spoken_with("volcano", {"queues"}) == (VOLCANO_GROUP, VOLCANO_QUEUE, VOLCANO_COMMAND)
    assert {PYTORCH_JOB, MPI_JOB} <= set(spoken_with("kube-scheduler", {"documents"}))
    with pytest.raises(UsageError, match="--client arena works on a cluster of Muster's own only"):
        check_companions("reference", "arena")


def test_the_roles_only_read_in_other_peoples_namespaces() -> None:
    writes = {right for right in rights.wanted() if right.verb not in ("get", "list", "watch") and not right.namespace}
    assert {right.resource for right in writes} == {
        *("namespaces", "nodes", "nodes/status", "priorityclasses", "queues", "queues/status", "devices"),
        *("rolebindings", "clusterroles"),
    }
    assert [str(right) for right in writes if right.resource == "clusterroles"] == [
        "bind clusterroles.rbac.authorization.k8s.io muster-scene"
    ]
