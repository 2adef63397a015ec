"""Parts of a run on an existing cluster that need no cluster."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from muster.assertions.invariants import no_pod_bound_against_taint
from muster.cluster.api import Api
from muster.cluster.kubeconfig import write_single_context
from muster.cluster.resources import TRAINING_JOBS
from muster.cluster.run_scope import RunScope, ScopedApi, read_run_scope, write_run_scope
from muster.environment import Environment
from muster.environment.in_cluster_scheduler import (
    InClusterScheduler,
    brought_scheduler_name,
    check_existing_cluster_choices,
    optional_kinds,
    required_kinds,
)
from muster.errors import NotStaged, UsageError
from muster.operators.base import OperatorSettings
from muster.recording.history import History
from muster.recording.recorder import Recorder
from muster.recording.records import Moment, Record
from muster.run_options import RunOptions
from muster.schedulers import ProcessContext, choose, existing_cluster_objects
from muster.schedulers.volcano import VOLCANO_COMMAND, VOLCANO_GROUP, VOLCANO_QUEUE
from tests.support.history_builder import HistoryBuilder

RUN = "kbcd240"
TAINT = [{"key": "gpu", "effect": "NoSchedule"}]
NOWHERE = ProcessContext(Path(), Path(), Path(), {})


def test_on_an_own_cluster_the_resource_version_orders() -> None:
    assert Recorder(Api(None), ()).moment(7, 1.5) == Moment(7, 1.5)


def test_on_an_existing_cluster_the_arrival_orders() -> None:
    recorder = Recorder(ScopedApi(None, RunScope(RUN)), ())
    first, second, third = recorder.moment(900, 1.5), recorder.moment(3, 1.5), recorder.moment(2, 2.0)
    assert first < second < third
    assert {moment.version for moment in (first, second, third)} == {0}
    assert third.at == 2.0


@pytest.mark.parametrize(("tolerance", "broken"), [(0.0, 1), (0.5, 0)])
def test_events_that_may_be_out_of_order_count_in_favour_of_the_scheduler(tolerance: float, broken: int) -> None:
    builder = HistoryBuilder().node("n", 1).node("n", 1, TAINT).pod("quick", 1).bind("quick", "n")
    history = History("test", tolerance=tolerance)
    history.began = 0.0
    for records in builder.history.records.values():
        for one in records:
            history.append(Record(one.kind, one.change, Moment(0, one.moment.at), one.object, one.raw))
    assert len(no_pod_bound_against_taint(history)) == broken


def test_only_objects_of_the_run_are_visible_and_with_their_original_names() -> None:
    api = ScopedApi(None, RunScope(RUN))
    assert api.visible(b'{"name":"gpu-1"}') is None
    assert api.visible(f'{{"name":"gpu-1-muster-{RUN}"}}'.encode()) == b'{"name":"gpu-1"}'


def test_the_kubeconfig_of_processes_beside_the_cluster(tmp_path: Path) -> None:
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
    write_single_context(written, tmp_path / "config", "by-program", "secret")
    config = json.loads(written.read_text())
    assert config["clusters"][0]["cluster"]["certificate-authority"] == str(tmp_path / "ca.crt")
    assert config["users"][0]["user"] == {"token": "secret", "tokenFile": str(tmp_path / "run.token")}
    assert (tmp_path / "run.token").read_text() == "secret"
    assert written.stat().st_mode & 0o077 == 0
    write_single_context(written, tmp_path / "config", None, "")
    assert json.loads(written.read_text())["users"][0]["user"] == {"client-key": str(tmp_path / "k")}
    with pytest.raises(UsageError, match="has no context 'nope'"):
        write_single_context(written, tmp_path / "config", "nope", "")


def test_the_run_scope_is_stored_beside_a_kubeconfig(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    assert read_run_scope(file) is None
    write_run_scope(file, RunScope(RUN, "mine", existing_cluster_objects()))
    assert read_run_scope(file) == RunScope(RUN, "mine", existing_cluster_objects())


def test_an_in_cluster_scheduler_cannot_be_controlled() -> None:
    chosen, configuration = choose("kube-scheduler")
    there = InClusterScheduler(chosen, configuration, NOWHERE)
    assert there.dialect.scheduler_name == "default-scheduler"
    assert there.longest_backoff == 10.0
    assert there.claims(configuration) == chosen.claims(configuration)
    there.start()
    there.check()
    there.configure({})
    for attempt in (there.pause, there.kill, lambda: there.configure({"preemption": "off"})):
        with pytest.raises(NotStaged, match=r"Muster does not .* kube-scheduler on"):
            attempt()


def test_which_schedulers_muster_runs_and_which_kinds_must_be_served() -> None:
    assert brought_scheduler_name("reference:koordinator") == "muster-scheduler"
    assert brought_scheduler_name("volcano") == ""
    assert required_kinds("kube-scheduler", {"preemption"}) == ()
    assert required_kinds("volcano", {"queues"}) == (VOLCANO_GROUP, VOLCANO_QUEUE, VOLCANO_COMMAND)
    assert required_kinds("kube-scheduler", {"documents"}) == optional_kinds("kube-scheduler", {"preemption"}) == ()
    assert optional_kinds("kube-scheduler", {"documents"}) == TRAINING_JOBS
    with pytest.raises(UsageError, match="--client arena works on Muster's own clusters only"):
        check_existing_cluster_choices("reference", "reference", "arena")
    for possible in ("reference", "volcano:preempt", "koordinator@1.7.0", "kube-scheduler"):
        check_existing_cluster_choices(possible, "reference", "muster")
    for unlikely in ("kai", "kueue", "kube-scheduler-gangs", "scheduler-plugins", "yunikorn"):
        with pytest.raises(UsageError, match=f"^{unlikely} can be tested on Muster's own clusters only"):
            check_existing_cluster_choices(unlikely, "reference", "muster")


def test_jobs_are_not_staged_where_their_kinds_are_not_served() -> None:
    environment: Any = Environment(RunOptions(kubeconfig=Path("kubeconfig"), run_id=RUN))
    environment.api = SimpleNamespace(read=lambda _: b'{"groups": [{"name": "apps"}]}')
    with pytest.raises(NotStaged, match="the cluster does not serve pytorchjobs, mpijobs"):
        environment.ensure_operator(OperatorSettings())
