"""An error during a scenario names its cause, and the next scenario has a working cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from muster.assertions.pods import runs
from muster.assertions.preemption import no_pod_preempted
from muster.cluster.local import LocalCluster
from muster.environment import Environment, ScenarioContext
from muster.errors import ConformanceFailure, HarnessError
from muster.recording.questions import eventually
from muster.run_options import RunOptions
from muster.schedulers.requests import NodeRequest, PodRequest

pytestmark = pytest.mark.plane


@pytest.fixture(scope="module")
def environment() -> Iterator[Environment]:
    environment = Environment(RunOptions(scheduler="kube-scheduler"))
    environment.start()
    yield environment
    environment.stop()


@pytest.mark.parametrize("component", ["etcd", "kube-apiserver", "kube-controller-manager", "kwok"])
def test_a_killed_component_is_reported(environment: Environment, component: str) -> None:
    scenario = environment.scenario("PRE-01")
    scenario.add_nodes([NodeRequest("gpu-1", gpus=1)])
    assert isinstance(environment.cluster, LocalCluster)
    environment.cluster.processes[component].kill()
    with pytest.raises(HarnessError, match=f"{component}.*SIGKILL"):
        play(scenario, "first")
    scenario = environment.scenario("PRE-01")
    scenario.add_nodes([NodeRequest("gpu-1", gpus=1)])
    play(scenario, "second")
    environment.cleanup(scenario)


def play(scenario: ScenarioContext, pod: str) -> None:
    scenario.submit(PodRequest(pod, 1, 10))
    scenario.recording.must(eventually(runs(pod)))
    scenario.recording.close()


def test_a_killed_scheduler_is_reported(environment: Environment) -> None:
    scenario = environment.scenario("PRE-01")
    environment.scheduler.kill()
    with pytest.raises(HarnessError, match="the scheduler kube-scheduler was ended by SIGKILL"):
        scenario.recording.must(eventually(runs("anything")))
    environment.cleanup(environment.scenario("PRE-01"))


def test_a_scheduler_that_stops_serving_has_failed(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = environment.scenario("PRE-01")
    environment.scheduler.pause()
    with monkeypatch.context() as impatient:  # not where a probe pod is to be bound
        impatient.setattr("muster.timeouts.PROBE", 0.5)
        with pytest.raises(ConformanceFailure, match="did not bind the probe pod within"):
            scenario.recording.stays(no_pod_preempted())
    environment.cleanup(scenario)  # resumes it
    environment.cleanup(environment.scenario("PRE-01"))


def crash(environment: Environment) -> None:
    process = environment.scheduler.processes[0]
    assert process.pid
    os.kill(process.pid, signal.SIGABRT)
    assert process.wait(10)


def test_a_scheduler_that_crashed_once_is_restarted_and_has_no_verdict(environment: Environment) -> None:
    scenario = environment.scenario("PRE-01")
    scenario.add_nodes([NodeRequest("gpu-1", gpus=1)])
    crash(environment)
    play(scenario, "first")
    with pytest.raises(HarnessError, match="no verdict, because the scheduler crashed once"):
        environment.cleanup(scenario)
    environment.cleanup(environment.scenario("PRE-01"))


def test_a_scheduler_that_crashed_twice_has_failed(environment: Environment) -> None:
    scenario = environment.scenario("PRE-01")
    scenario.add_nodes([NodeRequest("gpu-1", gpus=1)])
    crash(environment)
    play(scenario, "first")
    crash(environment)
    with pytest.raises(ConformanceFailure, match="it crashed twice"):
        scenario.recording.must(eventually(runs("first")))
    environment.scheduler.start()
    environment.cleanup(scenario)
    environment.cleanup(environment.scenario("PRE-01"))


def test_a_failed_assertion_has_a_failure_report(environment: Environment) -> None:
    scenario = environment.scenario("PRE-01")
    scenario.add_nodes([NodeRequest("gpu-1", gpus=1)])
    scenario.submit(PodRequest("large", 2, 10))
    with pytest.raises(ConformanceFailure) as violated:
        scenario.recording.must(eventually(runs("large")), within=0.5)
    report = str(violated.value)
    assert "nearest  large is pending (requests 2 GPU at priority 10): 0/2 nodes are available" in report
    assert "muster run --scheduler kube-scheduler --only PRE-01 --keep" in report
    environment.cleanup(scenario)


def test_scenarios_leave_nothing_behind(environment: Environment) -> None:
    scenario = environment.scenario("PRE-01")
    scenario.add_nodes([NodeRequest("gpu-1", gpus=1)])
    scenario.run_pods([PodRequest("one", 1, 10)])
    assert sorted(environment.leaks()) == ["node gpu-1", f"pod {scenario.namespace}/one"]
    environment.cleanup(scenario)
    assert environment.leaks() == []
