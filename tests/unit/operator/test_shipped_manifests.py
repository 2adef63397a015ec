"""The shipped Deployments together: what the operator creates, the scheduler admits, starts and completes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from muster import __version__
from scheduler.client import ADDED
from scheduler.core.actions import Bind, SetGroupPhase
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.operator.__main__ import parse, profile_of
from scheduler.operator.lost_replicas import Profile
from scheduler.runtime.api_types import ApiPod, CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.config import policy_of
from tests.support.reconcile_harness import JobSimulation, Object, mpi, mpi_v2beta1, pytorch
from tests.support.scheduler_requests import observe_node

_MANIFESTS = Path(__file__).parents[3] / "manifests"


def _documents(component: str) -> list[Any]:
    return list(yaml.safe_load_all((_MANIFESTS / component / "deployment.yaml").read_text()))


def _shipped_policy() -> Policy:
    config = next(one for one in _documents("scheduler") if one["kind"] == "ConfigMap")
    return policy_of(yaml.safe_load(config["data"]["config.yaml"]), "shipped")


def _shipped_profile() -> Profile:
    deployment = next(one for one in _documents("operator") if one["kind"] == "Deployment")
    return profile_of(parse(deployment["spec"]["template"]["spec"]["containers"][0]["args"]))


@pytest.mark.parametrize("component", ["scheduler", "operator"])
def test_a_deployment_has_the_image_of_this_version_and_is_critical(component: str) -> None:
    deployment = next(one for one in _documents(component) if one["kind"] == "Deployment")
    spec = deployment["spec"]["template"]["spec"]
    assert spec["containers"][0]["image"] == f"muster-scheduler:{__version__}"
    assert spec["priorityClassName"] == "system-cluster-critical"


def test_the_operator_may_exec_and_grant_only_with_the_optional_file() -> None:
    def granted(name: str) -> set[str]:
        documents = yaml.safe_load_all((_MANIFESTS / "operator" / f"{name}.yaml").read_text())
        rules = [rule for one in documents if one["kind"] == "ClusterRole" for rule in one["rules"]]
        return {resource for rule in rules for resource in rule["resources"]}

    optional = {"serviceaccounts", "roles", "rolebindings", "pods/exec"}
    assert granted("rbac").isdisjoint(optional)
    assert granted("rbac-mpi-kubectl-delivery") == optional


def _observed(simulation: JobSimulation) -> Cache:
    """What a scheduler that starts now sees: pods are listed before PodGroups at the worst."""
    cache = Cache(lambda: None)
    observe_node(cache, "n", cpu="8", **{"nvidia.com/gpu": "8"})
    queue = {"metadata": {"name": "default", "uid": "q", "resourceVersion": "1"}, "status": {"state": "Open"}}
    cache.observe_queue(ADDED, msgspec.convert(queue, CustomResource))
    for pod in simulation.pods.values():
        cache.observe_pod(ADDED, msgspec.json.decode(msgspec.json.encode(pod), type=ApiPod))
    if simulation.group is not None:
        group = msgspec.json.decode(msgspec.json.encode(simulation.group), type=CustomResource)
        cache.podgroups.observe("volcano", ADDED, group)
    return cache


def _planned_phase(simulation: JobSimulation, policy: Policy) -> str:
    actions = plan(_observed(simulation).cluster, policy)
    return next((one.phase for one in actions if isinstance(one, SetGroupPhase)), "")


@pytest.mark.parametrize(
    ("kind", "spec"), [("PyTorchJob", pytorch()), ("MPIJob", mpi()), ("MPIJob", mpi_v2beta1())], ids=str
)
def test_a_job_is_admitted_started_and_completed(kind: str, spec: Object) -> None:
    policy, simulation = _shipped_policy(), JobSimulation(spec, kind=kind, profile=_shipped_profile())
    simulation.settle()
    assert simulation.group is not None
    assert not simulation.pods
    assert _planned_phase(simulation, policy) == "Inqueue"
    simulation.set_group_phase("Inqueue")
    bound = {one.pod.key[1] for one in plan(_observed(simulation).cluster, policy) if isinstance(one, Bind)}
    assert bound == set(simulation.pods) != set()
    simulation.set_group_phase("Running")
    for pod in simulation.pods.values():
        pod["spec"]["nodeName"], pod["status"]["phase"] = "n", "Succeeded"
    assert _planned_phase(simulation, policy) == "Completed"


def test_a_group_without_members_is_left_to_the_scheduler_that_it_names() -> None:
    simulation = JobSimulation(pytorch(), profile=_shipped_profile()).settle()
    assert _planned_phase(simulation, Policy(frozenset({"volcano"}))) == ""
    spec = pytorch()
    for role in spec["pytorchReplicaSpecs"].values():
        role["template"]["spec"]["schedulerName"] = "volcano"
    simulation = JobSimulation(spec, profile=_shipped_profile()).settle()
    assert _planned_phase(simulation, _shipped_policy()) == ""
    assert _planned_phase(simulation, Policy(frozenset({"volcano"}))) == "Inqueue"
