"""Wrong writes about training jobs: their status, their objects, and the definition of their kind."""

from __future__ import annotations

from typing import Any

import msgspec

from muster.assertions.gangs import podgroup_versions
from muster.assertions.job_queries import job_records, job_states, latest_status, owned_objects
from muster.cluster.resources import DEFINITION, SERVICE, TRAINING_JOBS, resource_of
from muster.environment import ScenarioContext
from muster.recording.questions import Question
from tests.mutation.injection.registry import UNDO, recorded, wrong_write

_PYTORCH_JOBS = "pytorchjobs.kubeflow.org"
_ANOTHER_PHASE = "Unknown"


@wrong_write
def job_is_restarting(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A job gets the condition Restarting, in whatever state it is; an end state is lost."""
    return _set_state(scenario, names[0], "Restarting")


@wrong_write
def job_has_another_end(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A job is marked as failed, one that has failed as succeeded."""
    failed = job_states(scenario.recording.history, names[0])[-1:] == ["Failed"]
    return _set_state(scenario, names[0], "Succeeded" if failed else "Failed")


@wrong_write
def job_has_succeeded(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A job is marked as succeeded, whatever its pods did."""
    return _set_state(scenario, names[0], "Succeeded")


@wrong_write
def completion_time_is_removed(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """The completionTime of a finished job is removed."""
    _change_status(scenario, names[0], {"completionTime": None})
    return recorded("no completionTime", lambda now: not latest_status(now, names[0]).get("completionTime"))


@wrong_write
def service_is_deleted(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """The headless service of a replica is deleted, and another one has its name."""
    job = names[0]
    service = min(owned_objects(scenario.recording.history, job, "Service"))
    scenario.api.delete(SERVICE, service, scenario.namespace)
    ports = [{"port": 1}]
    metadata = {"name": service, "namespace": scenario.namespace}
    scenario.api.create({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": ports}})
    return recorded(f"service {service} gone", lambda now: service not in owned_objects(now, job, "Service"))


@wrong_write
def podgroup_has_another_phase(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A PodGroup gets a phase that it must not have."""
    history, gang = scenario.recording.history, names[0]
    group = podgroup_versions(history, gang)[-1]
    kinds = history.conventions.group_kinds
    raw = next(msgspec.json.decode(one.raw) for kind in kinds for one in history.custom_objects(kind, gang))
    scenario.api.patch(
        resource_of(raw),
        group.metadata.name,
        {"status": {"phase": _ANOTHER_PHASE}},
        namespace=group.metadata.namespace,
    )
    return recorded(
        "the phase", lambda now: any(one.status.get("phase") == _ANOTHER_PHASE for one in podgroup_versions(now, gang))
    )


@wrong_write
def definition_allows_no_workers(scenario: ScenarioContext, _names: tuple[str, ...]) -> Question:
    """The CustomResourceDefinition does not limit the number of workers."""
    before, after = (scenario.api.get(DEFINITION, _PYTORCH_JOBS)["spec"]["versions"] for _ in range(2))
    _without_minimum(after)
    UNDO.append(lambda: _define(scenario, before))
    _define(scenario, after)
    return recorded("the definition", lambda _: _accepts_no_workers(scenario))


def _set_state(scenario: ScenarioContext, job: str, state: str) -> Question:
    before = len(job_states(scenario.recording.history, job))
    condition = {"type": state, "status": "True", "reason": "Injected", "message": "injected fault"}
    _change_status(scenario, job, {"conditions": [condition]})
    return recorded(f"{job} {state}", lambda now: len(job_states(now, job)) > before)


def _define(scenario: ScenarioContext, versions: Any) -> None:
    scenario.api.patch(DEFINITION, _PYTORCH_JOBS, {"spec": {"versions": versions}})


def _accepts_no_workers(scenario: ScenarioContext) -> bool:
    return not scenario.jobs.rejection("pytorchjob", {"spec.pytorchReplicaSpecs.Worker.replicas": 0})


def _without_minimum(schema: Any) -> None:
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        _without_minimum(part)
    if isinstance(schema, dict):
        schema.pop("minimum", None)


def _change_status(scenario: ScenarioContext, job: str, change: dict[str, Any]) -> None:
    newest = job_records(scenario.recording.history, job)[-1].object.metadata
    kind = next(one for one in TRAINING_JOBS if _exists(scenario, one, newest.name))
    scenario.api.patch(kind, newest.name, {"status": change}, namespace=newest.namespace, subresource="status")


def _exists(scenario: ScenarioContext, kind: Any, name: str) -> bool:
    return any(one["metadata"]["name"] == name for one in scenario.api.list(kind, scenario.namespace)["items"])
