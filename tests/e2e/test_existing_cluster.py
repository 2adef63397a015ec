"""A run on somebody's cluster, end to end: the verdicts are the same, nobody else is touched, nothing is left behind.

An embedded plane plays the cluster; the API server's own audit log is the witness.
"""

from __future__ import annotations

import datetime
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tenacity

from muster import cli, suite, timeouts
from muster.chronicle.facts import refused
from muster.chronicle.questions import eventually
from muster.cluster.connections import Connection
from muster.cluster.fences import RUN_LABEL, new_run
from muster.cluster.foreign import rights, sweeping
from muster.cluster.resources import CONFIG_MAP, NODE, POD
from muster.errors import HarnessError, NotStaged, UsageError
from muster.stage import Scene, Stage
from tests.foreign_guest import set_scene
from tests.foreign_world import PATIENCE, UNHURRIED, World, kill_everything, neighbourhood, seen
from tests.local_scene import Watch

pytestmark = pytest.mark.plane
_ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/muster"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with neighbourhood(tmp_path_factory.mktemp("foreign")) as world:
        yield world


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests run at the same time; nothing here is about how long things take."""
    for limit in ("CLEARING_AWAY", "SETTING_UP", "CANARY", "API_TRANSIENT"):
        monkeypatch.setattr(timeouts, limit, PATIENCE)


def test_two_runs_at_once_leave_everything_as_it_was(world: World, tmp_path: Path) -> None:
    """One judges the scheduler that lives there and ends by ctrl-C, the other brings its own; names are the same."""
    before, since = world.theirs(), len(world.writes())
    watch = Watch(world.api)
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        place.mkdir()
    settings = f"kube-scheduler:{world.settings}"
    resident = world.run("--scheduler", settings, "--only", "PRE-01", "--repeat", "50", cwd=places[0])
    guest = world.run("--scheduler", "reference", "--only", "PRE-01", "DOC-1", cwd=places[1])
    out, _ = guest.communicate(timeout=PATIENCE)
    assert guest.returncode == 0, out
    seen(watch, "Pod", "urgent", _of_the_residents_second_round)
    resident.send_signal(signal.SIGINT)
    out, _ = resident.communicate(timeout=PATIENCE)
    assert resident.returncode == 2, out
    assert re.search(r"\d passed", out)
    assert "failed" not in out
    assert "left on the cluster" not in out
    assert world.theirs() == before
    assert len(world.writes()) > since + 100
    assert world.stray_writes(since) == []
    assert world.forbidden() == []
    assert world.webhook.asked > 10


def test_a_run_that_was_killed_is_swept(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    before, since = world.theirs(), len(world.writes())
    command = [sys.executable, "-m", "tests.foreign_guest", str(world.kubeconfig), new_run()]
    run = subprocess.Popen(command, cwd=suite.suite_root(), stdout=subprocess.PIPE, text=True, env=UNHURRIED)
    assert run.stdout is not None
    assert run.stdout.readline() == "set\n"
    assert cli.perform(["sweep", "--kubeconfig", str(world.kubeconfig)]) == 0
    (run_id,) = sweeping.find(world.api)
    assert capsys.readouterr().out == f"run {run_id} is left alone: it is process {run.pid} here\n"
    with pytest.raises(UsageError, match="is left alone"):
        cli.perform(["sweep", "--run", run_id, "--kubeconfig", str(world.kubeconfig)])
    kill_everything(run)
    assert cli.perform(["sweep", "--kubeconfig", str(world.kubeconfig), "--older-than", "1h"]) == 0
    assert capsys.readouterr().out == f"run {run_id} is left alone: it is younger than --older-than\n"
    assert cli.perform(["sweep", "--kubeconfig", str(world.kubeconfig)]) == 0
    assert capsys.readouterr().out == f"run {run_id}: 7 things cleared away\n"
    assert world.theirs() == before
    assert world.stray_writes(since) == []
    assert cli.perform(["sweep", "--kubeconfig", str(world.kubeconfig)]) == 0
    assert capsys.readouterr().out == "nothing of any run is there\n"


def test_the_run_ends_when_somebody_elses_pod_is_preempted(world: World) -> None:
    """Here nobody is to blame; a run cannot know that, and does not wait to find out."""
    doomed = {"name": "doomed", "namespace": "team-b"}
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})
    world.api.ensure({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**doomed, "name": "default"}})
    spec = {"schedulerName": "nobody", "containers": [{"name": "main", "image": "theirs"}]}
    world.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {**doomed, "finalizers": ["a.b/c"]}, "spec": spec})
    stage = Stage("reference", foreign=Connection(world.kubeconfig), run=new_run())
    stage.start()
    try:
        scene = set_scene(stage)
        scene.chronicle.staged(eventually(refused("late")))
        assert [one["metadata"]["name"] for one in scene.api.list(NODE)["items"]] == ["gpu-1", "muster-canary"]
        _lodge(world, stage, scene)
        mark = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "why not"}
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # without it the mark counts as stale
        change = {"status": {"conditions": [{**mark, "lastTransitionTime": now}]}}
        world.api.patch(POD, "doomed", change, namespace="team-b", subresource="status")
        world.api.delete(POD, "doomed", "team-b", grace=0)
        with pytest.raises(HarnessError, match=r"team-b/doomed, was preempted \(why not\) while .*late waited"):
            scene.chronicle.staged(eventually(refused("early")))  # which never comes
        assert "team-b/doomed" in stage.alarm
    finally:
        stage.stop()
        world.api.patch(POD, "doomed", {"metadata": {"finalizers": None}}, namespace="team-b")
    assert stage.left == []
    assert sweeping.find(world.api) == {}


def test_a_scheduler_that_is_not_there_is_found_out_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "CANARY", 3.0)
    stage = Stage("volcano:preempt", foreign=Connection(world.kubeconfig), run=new_run())
    with pytest.raises(HarnessError, match="nobody places pods for the scheduler 'volcano' there"):
        stage.start()
    assert sweeping.find(world.api) == {}


def test_what_will_not_go_is_named_with_the_reason(world: World) -> None:
    run = new_run()
    metadata = {"name": f"muster-{run}", "labels": {RUN_LABEL: run}}
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    stuck = {"name": "stuck", "namespace": f"muster-{run}", "finalizers": ["neighbourhood.example/why-not"]}
    world.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": stuck})
    told = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda left: "neighbourhood.example/why-not" not in left[0]),
        stop=tenacity.stop_after_delay(PATIENCE),
    )
    (left,) = told(sweeping.clear, world.api, run, within=1)
    assert left.startswith(f"namespace muster-{run} (")
    world.api.patch(CONFIG_MAP, "stuck", {"metadata": {"finalizers": None}}, namespace=f"muster-{run}")
    assert sweeping.clear(world.api, run, within=PATIENCE) == []


def test_doctor_names_the_right_that_is_missing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--kubeconfig", str(world.kubeconfig)]
    assert cli.perform(["doctor", *where]) == 0
    well = capsys.readouterr().out
    assert "right       nodes: get, list, watch, create, patch, delete" in well
    assert "right       pods in the run's namespaces: create, patch, delete, deletecollection\n" in well
    assert well.endswith("a run there can start at once\n")
    scene = world.api._json("GET", f"{_ROLE}-scene")["rules"]
    _change_rules(world, f"{_ROLE}-scene", [rule for rule in scene if "pods/status" not in rule["resources"]])
    assert cli.perform(["doctor", *where]) == 1
    _change_rules(world, f"{_ROLE}-scene", scene)
    assert "right       pods/status in the run's namespaces: MISSING patch\n" in capsys.readouterr().out
    rules = world.api._json("GET", _ROLE)["rules"]
    lesser = [rule | {"verbs": [verb for verb in rule["verbs"] if verb != "create"] or ["get"]} for rule in rules]
    _grant(world, lesser)
    try:
        assert cli.perform(["doctor", *where]) == 1
        with pytest.raises(UsageError, match="rights are missing there \\(create namespaces, create nodes"):
            cli.perform(["run", *where, "--only", "PRE-01"])
    finally:
        _grant(world, rules)
    assert "right       nodes: get, list, watch, patch, delete; MISSING create" in capsys.readouterr().out


def _lodge(world: World, stage: Stage, scene: Scene) -> None:
    """A pod of somebody else comes to a node of the scenario, as of a DaemonSet that tolerates everything, and goes."""
    spec = {"nodeName": f"gpu-1-{stage._own_namespace}", "containers": [{"name": "main", "image": "theirs"}]}
    metadata = {"name": "lodger", "namespace": "team-b"}
    world.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    with pytest.raises(NotStaged, match="team-b/lodger, takes room on node gpu-1"):
        scene.chronicle.staged(eventually(refused("early")))  # which never comes
    world.api.delete(POD, "lodger", "team-b", grace=0)
    assert stage._neighbours is not None
    for attempt in tenacity.Retrying(wait=tenacity.wait_fixed(0.05), stop=tenacity.stop_after_delay(PATIENCE)):
        with attempt:
            stage._neighbours.keep_off(["gpu-1"])


def _of_the_residents_second_round(pod: dict[str, Any]) -> bool:
    return bool(pod["spec"]["schedulerName"] == "default-scheduler" and pod["metadata"]["namespace"].endswith("-2"))


def _change_rules(world: World, role: str, rules: list[dict[str, Any]]) -> None:
    world.api._json("PATCH", role, body={"rules": rules}, content_type="application/merge-patch+json")


def _grant(world: World, rules: list[dict[str, Any]]) -> None:
    """The API server learns of it from a watch: ask until it has."""
    _change_rules(world, _ROLE, rules)
    may_create = any("nodes" in rule["resources"] and "create" in rule["verbs"] for rule in rules)
    known = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(lambda answer: answer is may_create),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(PATIENCE),
    )
    known(rights.may, Connection(world.kubeconfig).api, rights.Right("", "", "nodes", "create"))
