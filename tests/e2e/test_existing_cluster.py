"""A run on an existing cluster, end to end: same verdicts, no changes to other tenants, nothing left behind.

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

from muster import cli, timeouts
from muster.assertions.pods import unschedulable
from muster.cluster.existing import cleanup, rbac
from muster.cluster.interface import Connection
from muster.cluster.resources import CONFIG_MAP, NODE, POD
from muster.cluster.run_scope import RUN_LABEL, new_run_id
from muster.environment import Environment, ScenarioContext
from muster.errors import HarnessError, NotStaged, UsageError
from muster.recording.questions import eventually
from muster.run_options import RunOptions
from muster.schedulers import existing_cluster_objects
from muster.suite import paths
from tests.support.existing_cluster import PATIENCE, UNHURRIED, World, kill_everything, seen, shared_cluster
from tests.support.existing_run import create_scenario
from tests.support.local_cluster import Watch

pytestmark = pytest.mark.plane
_ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/muster"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with shared_cluster(tmp_path_factory.mktemp("existing")) as world:
        yield world


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests run at the same time; nothing here is about how long things take."""
    for limit in ("CLEARING_AWAY", "SETTING_UP", "PROBE", "API_TRANSIENT"):
        monkeypatch.setattr(timeouts, limit, PATIENCE)


def test_two_runs_at_once_leave_everything_as_it_was(world: World, tmp_path: Path) -> None:
    """One tests the in-cluster scheduler and ends by ctrl-C, the other starts its own; their names are the same."""
    before, since = world.theirs(), len(world.writes())
    watch = Watch(world.api)
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        place.mkdir()
    settings = f"kube-scheduler:{world.settings}"
    in_cluster = world.run("--scheduler", settings, "--only", "PRE-01", "--repeat", "50", cwd=places[0])
    brought = world.run("--scheduler", "reference", "--only", "PRE-01", "DOC-1", "JOB-19", "JOB-21", cwd=places[1])
    out, _ = brought.communicate(timeout=PATIENCE)
    assert brought.returncode == 0, out
    assert re.search(r"JOB-21 +passed", out), "a run may create the ConfigMap and the Secret of an MPIJob"
    seen(watch, "Pod", "urgent", _is_in_second_round)
    in_cluster.send_signal(signal.SIGINT)
    out, _ = in_cluster.communicate(timeout=PATIENCE)
    assert in_cluster.returncode == 2, out
    assert re.search(r"\d passed", out)
    assert not re.search(r"\d failed", out)
    assert "left on the cluster" not in out
    assert world.theirs() == before
    assert len(world.writes()) > since + 100
    assert world.stray_writes(since) == []
    assert world.forbidden() == []
    assert world.webhook.asked > 10


def test_a_killed_run_is_deleted(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    before, since = world.theirs(), len(world.writes())
    command = [sys.executable, "-m", "tests.support.existing_run", str(world.kubeconfig), new_run_id()]
    run = subprocess.Popen(command, cwd=paths.suite_root(), stdout=subprocess.PIPE, text=True, env=UNHURRIED)
    assert run.stdout is not None
    assert run.stdout.readline() == "set\n"
    assert cli.run_command(["cleanup", "--kubeconfig", str(world.kubeconfig)]) == 0
    (run_id,) = cleanup.find_runs(world.api, existing_cluster_objects())
    assert capsys.readouterr().out == f"run {run_id} is not deleted: it is process {run.pid} here\n"
    with pytest.raises(UsageError, match="is not deleted"):
        cli.run_command(["cleanup", "--run", run_id, "--kubeconfig", str(world.kubeconfig)])
    kill_everything(run)
    assert cli.run_command(["cleanup", "--kubeconfig", str(world.kubeconfig), "--older-than", "1h"]) == 0
    assert capsys.readouterr().out == f"run {run_id} is not deleted: it is younger than --older-than\n"
    assert cli.run_command(["cleanup", "--kubeconfig", str(world.kubeconfig)]) == 0
    assert capsys.readouterr().out == f"run {run_id}: 7 objects deleted\n"
    assert world.theirs() == before
    assert world.stray_writes(since) == []
    assert cli.run_command(["cleanup", "--kubeconfig", str(world.kubeconfig)]) == 0
    assert capsys.readouterr().out == "no objects of any run found\n"


def test_the_run_ends_when_another_tenants_pod_is_preempted(world: World) -> None:
    """Here no scheduler preempted it; a run cannot know that, and ends at once."""
    doomed = {"name": "doomed", "namespace": "team-b"}
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})
    world.api.ensure({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**doomed, "name": "default"}})
    spec = {"schedulerName": "none", "containers": [{"name": "main", "image": "theirs"}]}
    world.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": {**doomed, "finalizers": ["a.b/c"]}, "spec": spec})
    environment = Environment(RunOptions(kubeconfig=world.kubeconfig, run_id=new_run_id()))
    environment.start()
    try:
        scenario = create_scenario(environment)
        scenario.recording.set_up(eventually(unschedulable("late")))
        assert [one["metadata"]["name"] for one in scenario.api.list(NODE)["items"]] == ["gpu-1", "muster-probe"]
        _bind_bystander(world, environment, scenario)
        mark = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "why not"}
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # without it the mark counts as stale
        change = {"status": {"conditions": [{**mark, "lastTransitionTime": now}]}}
        world.api.patch(POD, "doomed", change, namespace="team-b", subresource="status")
        world.api.delete(POD, "doomed", "team-b", grace=0)
        preempted = r"team-b/doomed, was preempted \(why not\) while .*late of this run was pending"
        with pytest.raises(HarnessError, match=preempted):
            scenario.recording.set_up(eventually(unschedulable("early")))  # which never comes
        assert "team-b/doomed" in environment.alarm
    finally:
        environment.stop()
        world.api.patch(POD, "doomed", {"metadata": {"finalizers": None}}, namespace="team-b")
    assert environment.left == []
    assert cleanup.find_runs(world.api, existing_cluster_objects()) == {}


def test_a_missing_scheduler_is_detected_at_the_start(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "PROBE", 3.0)
    environment = Environment(RunOptions(scheduler="volcano:preempt", kubeconfig=world.kubeconfig, run_id=new_run_id()))
    with pytest.raises(HarnessError, match="no scheduler binds pods with schedulerName 'volcano' there"):
        environment.start()
    assert cleanup.find_runs(world.api, existing_cluster_objects()) == {}


def test_an_object_that_cannot_be_deleted_is_listed_with_the_reason(world: World) -> None:
    run = new_run_id()
    metadata = {"name": f"muster-{run}", "labels": {RUN_LABEL: run}}
    world.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    stuck = {"name": "stuck", "namespace": f"muster-{run}", "finalizers": ["tenants.example/why-not"]}
    world.api.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": stuck})
    told = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda left: "tenants.example/why-not" not in left[0]),
        stop=tenacity.stop_after_delay(PATIENCE),
    )
    (left,) = told(cleanup.delete_run, world.api, run, existing_cluster_objects(), within=1)
    assert left.startswith(f"namespace muster-{run} (")
    world.api.patch(CONFIG_MAP, "stuck", {"metadata": {"finalizers": None}}, namespace=f"muster-{run}")
    assert cleanup.delete_run(world.api, run, existing_cluster_objects(), within=PATIENCE) == []


def test_doctor_reports_the_missing_permission(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--kubeconfig", str(world.kubeconfig)]
    assert cli.run_command(["doctor", *where]) == 0
    well = capsys.readouterr().out
    assert "permission  nodes: get, list, watch, create, patch, delete" in well
    assert "permission  pods in the run's namespaces: create, patch, delete, deletecollection\n" in well
    assert well.endswith("a run there can start at once\n")
    scenario = world.api._json("GET", f"{_ROLE}-scenario")["rules"]
    _change_rules(world, f"{_ROLE}-scenario", [rule for rule in scenario if "pods/status" not in rule["resources"]])
    assert cli.run_command(["doctor", *where]) == 1
    _change_rules(world, f"{_ROLE}-scenario", scenario)
    assert "permission  pods/status in the run's namespaces: MISSING patch\n" in capsys.readouterr().out
    rules = world.api._json("GET", _ROLE)["rules"]
    lesser = [rule | {"verbs": [verb for verb in rule["verbs"] if verb != "create"] or ["get"]} for rule in rules]
    _grant(world, lesser)
    try:
        assert cli.run_command(["doctor", *where]) == 1
        with pytest.raises(UsageError, match="permissions are missing \\(create namespaces, create nodes"):
            cli.run_command(["run", *where, "--only", "PRE-01"])
    finally:
        _grant(world, rules)
    assert "permission  nodes: get, list, watch, patch, delete; MISSING create" in capsys.readouterr().out


def _bind_bystander(world: World, environment: Environment, scenario: ScenarioContext) -> None:
    """Another tenant's pod is bound to a node of the scenario, like one of a DaemonSet, and deleted."""
    spec = {"nodeName": f"gpu-1-{environment._run_namespace}", "containers": [{"name": "main", "image": "theirs"}]}
    metadata = {"name": "bystander", "namespace": "team-b"}
    world.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    with pytest.raises(NotStaged, match="team-b/bystander, uses capacity of node gpu-1"):
        scenario.recording.set_up(eventually(unschedulable("early")))  # which never comes
    world.api.delete(POD, "bystander", "team-b", grace=0)
    assert environment._policy is not None
    for attempt in tenacity.Retrying(wait=tenacity.wait_fixed(0.05), stop=tenacity.stop_after_delay(PATIENCE)):
        with attempt:
            environment._policy.check_nodes(scenario.recording.history, "")


def _is_in_second_round(pod: dict[str, Any]) -> bool:
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
    known(rbac.is_allowed, Connection(world.kubeconfig).api, rbac.Permission("", "", "nodes", "create"))
