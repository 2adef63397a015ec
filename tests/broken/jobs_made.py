"""Faults of an operator in what it makes of a job: pods, services, groups, and what it says when it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler.operator import environment, groups, mpi, names, reconciling, specs
from scheduler.operator.changes import Change, CreatePod, CreateService
from scheduler.operator.groups import Dialect
from scheduler.operator.names import PREFIX
from scheduler.operator.objects import Job, Json
from scheduler.operator.shell import Operator
from scheduler.operator.specs import Gang, Replicas, RunPolicy, Spec
from scheduler.operator.world import JobKey
from tests.broken.faults import Patch, operator_fault

_NEWEST = (f"{PREFIX}/",)


@operator_fault("JOB-01")
def names_are_short(patch: Patch) -> None:
    """Replicas are named by the first letter of their role."""
    patch.function(names.replica_name, lambda job, _spec, role, index: f"{job.metadata.name}-{role[0].lower()}-{index}")


@operator_fault("JOB-01")
def the_operator_is_not_named(patch: Patch) -> None:
    """Replicas do not carry the label that says who made them."""
    _without_labels(patch, lambda label: label == f"{PREFIX}/operator-name")


@operator_fault("JOB-11")
def only_the_newest_labels(patch: Patch) -> None:
    """Replicas carry no label of the operators before."""
    _without_labels(patch, lambda label: not label.startswith(_NEWEST))


@operator_fault("JOB-01")
def ranks_start_anew(patch: Patch) -> None:
    """The first worker has the master's rank."""
    _with_variable(patch, "RANK", lambda _replicas, index: str(index))


@operator_fault("JOB-01")
def the_world_is_the_role(patch: Patch) -> None:
    """A replica is told how many there are of its role, not of the job."""
    _with_variable(patch, "WORLD_SIZE", lambda replicas, _index: str(replicas.count))


@operator_fault("JOB-01")
def everybody_is_the_master(patch: Patch) -> None:
    """Every replica is sent to itself to find the others."""
    _with_variable(patch, "MASTER_ADDR", lambda _replicas, _index: "localhost")


@operator_fault("JOB-01")
def no_services(patch: Patch) -> None:
    """Replicas have no name in the DNS."""
    missing = reconciling._missing

    def pods_alone(*about: Any) -> list[Change]:
        return [one for one in missing(*about) if not isinstance(one, CreateService)]

    patch.attribute(reconciling, "_missing", pods_alone)


@operator_fault("JOB-06")
def gangs_have_no_group(patch: Patch) -> None:
    """The scheduling policy of a job is not read."""
    patch.function(groups.dialect_of, lambda _spec, _profile: None)


@operator_fault("JOB-06")
def everybody_is_a_gang(patch: Patch) -> None:
    """A job without a scheduling policy gets a group as well."""
    read = specs.run_policy

    def always_together(spec: Json, *, clean: str) -> RunPolicy:
        run = read(spec, clean=clean)
        return replace(run, gang=run.gang or Gang())

    patch.function(read, always_together)


@operator_fault("JOB-06", "JOB-12")
def the_minimum_is_everybody(patch: Patch) -> None:
    """minAvailable is not read, not even when it is more than there are replicas."""
    patch.function(groups.minimum, lambda _job, spec: spec.total)


@operator_fault("JOB-06")
def groups_are_in_no_queue(patch: Patch) -> None:
    """A group does not name the queue that the job names."""
    _with_group_field(patch, "queue", "default")


@operator_fault("JOB-06")
def groups_have_no_priority(patch: Patch) -> None:
    """A group does not name the priority class that the job names."""
    _with_group_field(patch, "priorityClassName", "")


@operator_fault("JOB-06")
def groups_ask_for_nothing(patch: Patch) -> None:
    """A group does not say what its members ask for."""
    _with_group_field(patch, "minResources", {})


@operator_fault("JOB-07")
def launches_at_once(patch: Patch) -> None:
    """The launcher of an MPI job does not wait for its workers."""
    patch.function(mpi.may_launch, lambda _roles: True)


@operator_fault("JOB-07")
def the_launcher_asks_for_gpus(patch: Patch) -> None:
    """The launcher of an MPI job asks for what a worker asks for."""
    patch.function(mpi._without_resources, lambda both: both)


@operator_fault("JOB-08")
def nobody_finds_the_owner(patch: Patch) -> None:
    """What is made names an owner of a version that does not exist, and nobody clears it away."""
    owner = names.owner

    async def look_away(_operator: Operator, _key: JobKey) -> None:
        return

    patch.function(owner, lambda job: {**owner(job), "apiVersion": "kubeflow.org/v1beta1"})
    patch.attribute(Operator, "_clear_away", look_away)


@operator_fault("JOB-08")
def others_go_too(patch: Patch) -> None:
    """With a job go the pods of all jobs in its namespace."""
    clear = Operator._clear_away

    async def clear_all(operator: Operator, key: JobKey) -> None:
        await clear(operator, key)
        others = [one for one in operator._world.jobs if one.namespace == key.namespace]
        for pod in [pod for one in others for pod in operator._world.pods(one)]:
            await operator.effects.remove_left_over("Pod", pod.metadata)

    patch.attribute(Operator, "_clear_away", clear_all)


@operator_fault("JOB-09", "JOB-12")
def mistakes_are_kept_quiet(patch: Patch) -> None:
    """A job that cannot be carried out is left lying, without a word."""
    patch.function(reconciling.invalid, lambda _job, _mistake, _now: [])


@operator_fault("JOB-09", "JOB-12")
def mistakes_are_not_named(patch: Patch) -> None:
    """A job that cannot be carried out is told so, and not why."""
    invalid = reconciling.invalid
    patch.function(invalid, lambda job, _mistake, now: invalid(job, "something is wrong with it", now))


@operator_fault("JOB-09", "JOB-12")
def begins_before_it_has_read(patch: Patch) -> None:
    """The master of a job is made although its worker cannot be."""
    invalid = reconciling.invalid

    def begin(job: Job, mistake: str, now: float) -> list[Change]:
        template = job.spec["pytorchReplicaSpecs"]["Master"]["template"]
        metadata = {
            "name": f"{job.metadata.name}-master-0",
            "namespace": job.metadata.namespace,
            "labels": names.selector(job, "Master"),
            "ownerReferences": [names.owner(job)],
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        return [*invalid(job, mistake, now), CreatePod(pod)]

    patch.function(invalid, begin)


def _without_labels(patch: Patch, unwanted: Any) -> None:
    labels = names.replica_labels

    def fewer(job: Job, replicas: Replicas, index: int, *, chief: bool) -> dict[str, str]:
        every = labels(job, replicas, index, chief=chief)
        return {label: value for label, value in every.items() if not unwanted(label)}

    patch.function(labels, fewer)


def _with_variable(patch: Patch, variable: str, value: Any) -> None:
    rendezvous = environment.rendezvous

    def changed(job: Job, spec: Spec, replicas: Replicas, index: int) -> dict[str, str]:
        return {**rendezvous(job, spec, replicas, index), variable: value(replicas, index)}

    patch.function(rendezvous, changed)


def _with_group_field(patch: Patch, field: str, value: object) -> None:
    manifest = groups.manifest

    def changed(dialect: Dialect, job: Job, spec: Spec) -> Json:
        made = manifest(dialect, job, spec)
        return {**made, "spec": {**made["spec"], field: value}}

    patch.function(manifest, changed)
