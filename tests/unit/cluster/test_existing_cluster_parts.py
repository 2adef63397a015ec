"""The parts of a run on somebody's cluster that can be tested without one."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from muster.chronicle.history import History
from muster.chronicle.invariants import no_pod_ignores_a_taint
from muster.chronicle.recorder import Recorder
from muster.chronicle.records import Moment, Record
from muster.cluster.api import Api
from muster.cluster.connections import Connection
from muster.cluster.fenced_api import FencedApi, read_fence, write_fence
from muster.cluster.fences import Fence
from muster.cluster.foreign.kubeconfigs import write_single
from muster.cluster.resources import MPI_JOB, PYTORCH_JOB, VOLCANO_COMMAND, VOLCANO_GROUP, VOLCANO_QUEUE
from muster.errors import NotStaged, UsageError
from muster.stage import Stage
from muster.stage.residents import Resident, brings, check_companions, jobs_spoken_of, spoken_with
from muster.subject import Workplace, choose
from tests.tales import Tale

RUN = "kbcd240"
TAINT = [{"key": "gpu", "effect": "NoSchedule"}]
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
    assert spoken_with("kube-scheduler", {"documents"}) == jobs_spoken_of("kube-scheduler", {"preemption"}) == ()
    assert jobs_spoken_of("kube-scheduler", {"documents"}) == (PYTORCH_JOB, MPI_JOB)
    with pytest.raises(UsageError, match="--client arena works on a cluster of Muster's own only"):
        check_companions("reference", "reference", "arena")
    for possible in ("reference", "volcano:preempt", "koordinator@1.7.0", "kube-scheduler"):
        check_companions(possible, "reference", "muster")
    for unlikely in ("kai", "kueue", "kube-scheduler-gangs", "scheduler-plugins", "yunikorn"):
        with pytest.raises(UsageError, match=f"^{unlikely} can be judged on a cluster of Muster's own only"):
            check_companions(unlikely, "reference", "muster")


def test_jobs_are_not_staged_where_nobody_defined_them() -> None:
    stage: Any = Stage("reference", foreign=Connection(Path("kubeconfig")), run=RUN)
    stage.api = SimpleNamespace(read=lambda _: b'{"groups": [{"name": "apps"}]}')
    with pytest.raises(NotStaged, match="the cluster does not serve pytorchjobs and mpijobs"):
        stage.need_operator("documents")
