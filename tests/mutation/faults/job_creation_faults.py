"""Faults of an operator in what it creates for a job: pods, services, PodGroups, and validation errors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scheduler.operator import creations, mpi_job, pod_group, reconcile, replica_manifests, replica_names
from scheduler.operator.actions import Action, CreatePod, CreateService
from scheduler.operator.api_objects import OPERATOR_NAME, Job, Json
from scheduler.operator.controller import Controller
from scheduler.operator.executor import Executor, Result
from scheduler.operator.job_cache import JobKey
from scheduler.operator.job_kind import JobKind
from scheduler.operator.job_spec import JobSpec, ReplicaSpec
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.pod_group import Dialect
from tests.mutation.aims import Aim
from tests.mutation.faults.registry import Patch, operator_fault

_CURRENT_PREFIX = "training.kubeflow.org/"


@operator_fault('JOB-01: job "train" consists of "train-master-0", "train-worker-0", "train-worker-1"')
def replica_names_are_abbreviated(patch: Patch) -> None:
    """Replicas are named by the first letter of their role."""
    original = replica_names.replica_name
    patch.function(original, lambda job, _spec, role, index: f"{job.metadata.name}-{role[0].lower()}-{index}")


@operator_fault("JOB-01: the pods have these labels:")
def operator_label_is_missing(patch: Patch) -> None:
    """Replicas do not have the label operator-name."""
    _without_labels(patch, lambda label: label == OPERATOR_NAME)


@operator_fault("JOB-07: the pods have these labels:", "JOB-11: the pods have these labels:")
def legacy_labels_are_missing(patch: Patch) -> None:
    """Replicas have no labels of earlier operators."""
    _without_labels(patch, lambda label: not label.startswith(_CURRENT_PREFIX))


@operator_fault('JOB-01: the pods of job "train" have these environment variables:')
def worker_ranks_start_at_zero(patch: Patch) -> None:
    """The first worker has the master's rank."""
    _with_variable(patch, "RANK", lambda _replicas, index: str(index))


@operator_fault('JOB-01: the pods of job "train" have these environment variables:')
def world_size_counts_one_role(patch: Patch) -> None:
    """WORLD_SIZE is the number of replicas of the role, not of the job."""
    _with_variable(patch, "WORLD_SIZE", lambda replicas, _index: str(replicas.count))


@operator_fault('JOB-01: the pods of job "train" have these environment variables:')
def master_address_is_localhost(patch: Patch) -> None:
    """MASTER_ADDR of every replica is localhost."""
    _with_variable(patch, "MASTER_ADDR", lambda _replicas, _index: "localhost")


@operator_fault(
    'JOB-01: job "train" consists of "train-master-0", "train-worker-0", "train-worker-1"',
    'JOB-04: job "train" consists of "train-master-0", "train-worker-0"',
    'JOB-08: job "first" consists of "first-master-0", "first-worker-0"',
    'JOB-10: job "steady" consists of',
)
def no_services(patch: Patch) -> None:
    """Replicas have no headless services."""
    original = creations.create_missing

    def without_services(*arguments: Any) -> list[Action]:
        return [action for action in original(*arguments) if not isinstance(action, CreateService)]

    patch.function(original, without_services)


@operator_fault('JOB-17: the service of each replica of job "train" was created before its pod')
def services_are_created_after_pods(patch: Patch) -> None:
    """Services are created when all pods of the job exist."""
    original = creations.create_missing

    def pods_first(*arguments: Any) -> list[Action]:
        actions = original(*arguments)
        pods = [action for action in actions if isinstance(action, CreatePod)]
        return [action for action in actions if not (pods and isinstance(action, CreateService))]

    patch.function(original, pods_first)


@operator_fault('JOB-18: job "elsewhere" has no conditions, and no objects were created for it')
def managed_by_is_ignored(patch: Patch) -> None:
    """Jobs of other controllers are reconciled as well."""
    patch.function(reconcile.is_managed_elsewhere, lambda _job: False)


@operator_fault('JOB-18: job "here" is Running')
def every_managed_by_is_another_controller(patch: Patch) -> None:
    """A job with any managedBy is left alone, also one that names this operator."""
    patch.attribute(JobKind, "managers", ())


@operator_fault('JOB-06: the PodGroup of gang "whole" has minMember 3 and queue "research"')
def scheduling_policy_is_ignored(patch: Patch) -> None:
    """schedulingPolicy is not read: no PodGroup is created."""
    patch.function(pod_group.dialect_of, lambda _spec, _profile: None)


@operator_fault('JOB-29: job "loose" never had a PodGroup')
def every_job_has_a_pod_group(patch: Patch) -> None:
    """A job without a schedulingPolicy gets a PodGroup as well."""
    original = pod_group.dialect_of
    patch.function(original, lambda spec, profile: original(spec, replace(profile, gang_all_jobs=True)))


@operator_fault(
    'JOB-06: the PodGroup of gang "partial" has minMember 2 and queue "research"',
    'JOB-12: job "invalid" has a Failed condition that names "schedulingPolicy.minAvailable"',
    'JOB-27: at least 2 pods of the gang "partial" run',
)
def min_available_is_ignored(patch: Patch) -> None:
    """minMember is the number of replicas, and a larger minAvailable is no error."""
    patch.function(pod_group.min_member, lambda _job, spec: spec.total)


@operator_fault('JOB-27: the PodGroup of job "whole" has minMember 3')
def only_jobs_with_a_policy_are_gangs(patch: Patch) -> None:
    """Under gang scheduling a job without a schedulingPolicy gets no PodGroup."""
    original = pod_group.dialect_of
    patch.function(original, lambda spec, profile: original(spec, replace(profile, gang_all_jobs=False)))


@operator_fault(Aim("JOB-27", 'the PodGroup of job "whole" has minMember 3', seen="'minMember': 1"))
def default_gangs_need_one_member(patch: Patch) -> None:
    """The PodGroup of a job without a schedulingPolicy has minMember 1."""
    original = pod_group.min_member

    def one_without_policy(job: Job, spec: JobSpec) -> int:
        return original(job, spec) if spec.run_policy.scheduling else 1

    patch.function(original, one_without_policy)


@operator_fault('JOB-27: no pod of the gang "whole" is bound')
def pods_of_default_gangs_are_no_members(patch: Patch) -> None:
    """A job without a schedulingPolicy gets a PodGroup, but its pods do not belong to it, and do not wait for it."""
    join, admitted = pod_group.join_group, pod_group.is_admitted

    def only_declared(dialect: Dialect, job: Job, spec: JobSpec, *more: Any) -> None:
        if spec.run_policy.scheduling:
            join(dialect, job, spec, *more)

    patch.function(join, only_declared)
    patch.function(admitted, lambda dialect, group: group is not None)


@operator_fault(
    Aim("JOB-28", 'of the pods of job "train" none but "train-master-0", "train-worker-1"', seen="train-worker-5")
)
def pods_are_created_all_at_once(patch: Patch) -> None:
    """All pods of a job are one batch."""

    async def one_batch(executor: Executor, job: Job, manifests: Sequence[Json]) -> list[Result]:
        return await asyncio.gather(*(executor._create(job, one) for one in manifests), return_exceptions=True)

    patch.attribute(Executor, "_create_in_batches", one_batch)


@operator_fault(
    Aim("JOB-28", 'of the pods of job "train" none but "train-master-0", "train-worker-1"', seen="train-worker-5")
)
def creation_continues_after_an_error(patch: Patch) -> None:
    """Pods are created one after the other, also after one that was refused."""

    async def one_by_one(executor: Executor, job: Job, manifests: Sequence[Json]) -> list[Result]:
        found = [await asyncio.gather(executor._create(job, one), return_exceptions=True) for one in manifests]
        return [result for (result,) in found]

    patch.attribute(Executor, "_create_in_batches", one_by_one)


@operator_fault('JOB-06: the PodGroup of gang "whole" has minMember 3 and queue "research"')
def pod_group_queue_is_default(patch: Patch) -> None:
    """The PodGroup is in the queue default, not in the job's."""
    _with_group_field(patch, "queue", "default")


@operator_fault('JOB-06: the PodGroup of gang "whole" requests 3 GPUs at priority 50')
def pod_group_has_no_priority(patch: Patch) -> None:
    """The PodGroup does not have the job's priorityClassName."""
    _with_group_field(patch, "priorityClassName", "")


@operator_fault('JOB-06: the PodGroup of gang "whole" requests 3 GPUs at priority 50')
def pod_group_has_no_min_resources(patch: Patch) -> None:
    """The PodGroup has empty minResources."""
    _with_group_field(patch, "minResources", {})


@operator_fault('JOB-07: job "horovod" has no launcher yet', 'JOB-22: job "later" has no launcher yet')
def launcher_does_not_wait(patch: Patch) -> None:
    """The launcher of an MPIJob is created before its workers are ready."""
    patch.function(creations.may_create, lambda _spec, _role, _roles: True)


@operator_fault('JOB-07: job "horovod" got a launcher without GPUs after its workers were ready')
def launcher_requests_gpus(patch: Patch) -> None:
    """The launcher of an MPIJob requests the resources of a worker."""
    patch.function(mpi_job.launcher_template, lambda template: template)


@operator_fault('JOB-05: no object of job "short-ttl" is left', 'JOB-08: no object of job "first" is left')
def orphans_are_not_deleted(patch: Patch) -> None:
    """Owner references have an API version that is not served, and the operator does not delete orphans."""
    owner_reference = replica_names.owner_reference

    async def do_nothing(_controller: Controller, _key: JobKey) -> None:
        return

    patch.function(owner_reference, lambda job: {**owner_reference(job), "apiVersion": "kubeflow.org/v1beta1"})
    patch.attribute(Controller, "_delete_orphans", do_nothing)


@operator_fault('JOB-08: job "second" consists of "second-master-0", "second-worker-0"')
def deletion_deletes_pods_of_other_jobs(patch: Patch) -> None:
    """When a job is deleted, the pods of all jobs in its namespace are."""
    original = Controller._delete_orphans

    async def delete_all(controller: Controller, key: JobKey) -> None:
        await original(controller, key)
        others = [other for other in controller.cache.jobs if other.namespace == key.namespace]
        for pod in [pod for other in others for pod in controller.cache.pods(other)]:
            await controller.executor.delete_orphan("Pod", pod.metadata)

    patch.attribute(Controller, "_delete_orphans", delete_all)


@operator_fault(
    'JOB-09: a Warning event on job "invalid" contains',
    'JOB-12: job "invalid" has a Failed condition that names',
)
def invalid_jobs_are_ignored(patch: Patch) -> None:
    """An invalid job gets no status."""
    patch.function(reconcile.fail_validation, lambda _job, _error, _now: [])


@operator_fault(
    'JOB-09: a Warning event on job "invalid" contains',
    'JOB-12: job "invalid" has a Failed condition that names',
)
def validation_error_names_no_field(patch: Patch) -> None:
    """The condition of an invalid job does not name the invalid field."""
    fail_validation = reconcile.fail_validation
    patch.function(fail_validation, lambda job, _error, now: fail_validation(job, "the spec is invalid", now))


@operator_fault(Aim("JOB-09", 'a Warning event on job "invalid" contains', seen="owned Pod"))
def pods_of_invalid_jobs_are_created(patch: Patch) -> None:
    """The master of a job is created although its worker is invalid."""
    fail_validation = reconcile.fail_validation

    def create_master(job: Job, error: str, now: float) -> list[Action]:
        template = job.spec["pytorchReplicaSpecs"]["Master"]["template"]
        metadata = {
            "name": f"{job.metadata.name}-master-0",
            "namespace": job.metadata.namespace,
            "labels": replica_names.selector(job, "Master"),
            "ownerReferences": [replica_names.owner_reference(job)],
        }
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
        return [*fail_validation(job, error, now), CreatePod(pod)]

    patch.function(fail_validation, create_master)


def _without_labels(patch: Patch, unwanted: Any) -> None:
    original = replica_names.replica_labels

    def fewer(job: Job, role: str, index: int, *, chief: bool) -> dict[str, str]:
        labels = original(job, role, index, chief=chief)
        return {label: value for label, value in labels.items() if not unwanted(label)}

    patch.function(original, fewer)


def _with_variable(patch: Patch, variable: str, value: Any) -> None:
    original = replica_manifests.rendezvous_variables

    def changed(job: Job, spec: JobSpec, replicas: ReplicaSpec, index: int) -> dict[str, str]:
        return {**original(job, spec, replicas, index), variable: value(replicas, index)}

    patch.function(original, changed)


def _with_group_field(patch: Patch, field: str, value: object) -> None:
    original = pod_group.group_manifest

    def changed(dialect: Dialect, job: Job, spec: JobSpec, profile: Profile) -> Json:
        manifest = original(dialect, job, spec, profile)
        return {**manifest, "spec": {**manifest["spec"], field: value}}

    patch.function(original, changed)
