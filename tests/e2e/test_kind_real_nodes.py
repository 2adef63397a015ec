"""Kubelets and containers of a kind cluster: what ends a container ends its job, and what does not fit is rejected."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from muster.assertions.jobs import job_is
from muster.assertions.pods import ended, runs
from muster.cluster.kind import KindCluster
from muster.cluster.kind.docker_cli import Engine
from muster.cluster.resources import POD
from muster.environment import DEFAULT_NAMESPACE, Environment, ScenarioContext
from muster.environment.node_plan import StepText
from muster.recording.questions import all_of, eventually
from muster.run_options import RunOptions
from muster.schedulers.requests import NodeRequest
from muster.suite import paths
from muster.suite.behaviours import Behaviour, read_features
from tests.support.real_kind_nodes import image_or_skip, run_there

JOB = "pytorch-priority-medium"
PODS = (f"{JOB}-master-0", f"{JOB}-worker-0", f"{JOB}-worker-1")
OVERCOMMITS = "tests.support.one_gpu_too_many"
DID_NOT_FIT = r"urgent was bound to .* although it did not fit \(1 nvidia.com/gpu too many\)"


@pytest.fixture(scope="module")
def image() -> str:
    return image_or_skip()


@pytest.fixture(scope="module")
def walkthrough() -> Behaviour:
    return read_features(paths.suite_root() / "features").by_id()["DOC-1"]


@pytest.fixture
def scenario(image: str, walkthrough: Behaviour) -> Iterator[ScenarioContext]:
    """The nodes and the medium job of DOC-1, which runs."""
    environment = Environment(RunOptions(cluster="kind", kind_image=image, reuse=True, node_type="real"))
    environment.start()
    try:
        steps = [StepText(step.text, step.table) for step in walkthrough.steps]
        scenario = environment.scenario("DOC-1", namespace=DEFAULT_NAMESPACE, steps=steps)
        assert isinstance(environment.cluster, KindCluster)
        assert environment.cluster.logs() == {}, "neither KWOK nor the workload simulator may run"
        assert scenario.nodes.plan
        scenario.add_nodes(NodeRequest(worker, 4) for worker in scenario.nodes.plan.real.values())
        scenario.jobs.create_objects("priority-classes")
        scenario.jobs.ensure_operator()
        command = next(text for step in walkthrough.steps if JOB in (text := step.text_block or ""))
        scenario.client().run(command).require_success(command)
        scenario.recording.must(job_is(JOB, "Running"))
        scenario.recording.must(all_of(f"{', '.join(PODS)} running", [eventually(runs(pod)) for pod in PODS]))
        yield scenario
        environment.cleanup(scenario)
    finally:
        environment.stop()


def kill_container(scenario: ScenarioContext, name: str) -> None:
    """By hand, in its node: SIGKILL to the process. The API server learns of it from the kubelet."""
    pod = scenario.api.get(POD, name, DEFAULT_NAMESPACE)
    container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    kill = f"ctr --namespace k8s.io tasks kill --signal SIGKILL {container}"
    Engine(print).run_in_node(pod["spec"]["nodeName"], kill)


def test_a_job_fails_when_one_of_its_containers_is_killed(scenario: ScenarioContext) -> None:
    kill_container(scenario, PODS[1])
    scenario.recording.must(job_is(JOB, "Failed"))
    scenario.recording.must(all_of(f"{', '.join(PODS)} ended", [eventually(ended(pod)) for pod in PODS]))
    found = {name: scenario.api.get(POD, name, DEFAULT_NAMESPACE) for name in PODS}
    codes = {name: exit_code(pod) for name, pod in found.items()}
    assert codes == {PODS[0]: 1, PODS[1]: 137, PODS[2]: 1}
    logs = scenario.nodes.logs(scenario.recording.history)
    assert len(re.findall("peer lost: ", logs)) == 2, logs
    shown = scenario.client().run(f"muster get {JOB}").require_success("muster get")
    assert "STATUS: FAILED" in shown


def exit_code(pod: dict[str, Any]) -> int:
    code: int = pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
    return code


@pytest.mark.parametrize(
    ("nodes", "seen"),
    [
        ("real", rf"{DID_NOT_FIT}; the kubelet of .* rejected urgent: UnexpectedAdmissionError"),
        ("simulated", f"wanted   the invariants hold at every moment\nseen     {DID_NOT_FIT}"),
    ],
)
def test_a_scheduler_that_overcommits_a_node_by_one_gpu_fails(
    image: str, tmp_path: Path, nodes: str, seen: str
) -> None:
    """By what the kubelet says where there is one, else by the invariant."""
    options = ("--scheduler", "reference", "--only", "PRE-01", "--node-type", nodes)
    (found,) = run_there(image, tmp_path / "results", *options, MUSTER_REFERENCE=OVERCOMMITS)
    assert found["nodes"].startswith(nodes)
    assert found["verdict"] == "failed"
    assert re.search(seen, found["message"], re.DOTALL), found["message"]
