"""What a job lacks: its PodGroup, services, ConfigMap and pods; and the services that it has too many of.

Nothing but the PodGroup is created before the gang scheduler has admitted it. The other objects come with the pods,
and the executor creates them first: the name of a replica resolves as soon as its pod has an address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler.operator import mpi_exec_pods, mpi_ssh_pods, pod_group, replica_manifests
from scheduler.operator.actions import (
    Action,
    CreateConfigMap,
    CreatePod,
    CreatePodGroup,
    CreateService,
    EnsureObject,
    UpdateConfigMap,
    UpdatePodGroup,
)
from scheduler.operator.api_objects import INDEX, ConfigMap, Job, PodGroup, Service, labels_of
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_spec import JobSpec
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.mpi_config_map import config_manifest, config_name, needs_update
from scheduler.operator.mpi_spec import MpiSpec
from scheduler.operator.replica_names import replica_name
from scheduler.operator.replicas import RoleReplicas


def create_missing(
    job: Job,
    spec: JobSpec,
    roles: dict[str, RoleReplicas],
    services: Sequence[Service],
    group: PodGroup | None,
    configs: Sequence[ConfigMap],
    profile: Profile,
) -> list[Action]:
    actions: list[Action] = []
    dialect = pod_group.dialect_of(spec, profile)
    if dialect:
        manifest = pod_group.group_manifest(dialect, job, spec, profile)
        if group is None:
            actions.append(CreatePodGroup(manifest))
        elif change := pod_group.spec_change(group, manifest):
            actions.append(UpdatePodGroup(group, change))
    if dialect and not pod_group.is_admitted(dialect, group):
        return actions
    if KINDS[job.kind].has_rendezvous:
        named = {service.metadata.name for service in services}
        actions += [
            CreateService(replica_manifests.service_manifest(job, spec, role.spec, index))
            for role in roles.values()
            for index in range(role.spec.count)
            if replica_name(job, spec, role.role, index) not in named
        ]
    pods = [
        CreatePod(replica_manifests.pod_manifest(job, spec, role.spec, index, profile))
        for role in roles.values()
        if may_create(spec, role.role, roles)
        for index in role.missing
    ]
    if spec.mpi is not None:
        actions += create_mpi_objects(job, spec, spec.mpi, roles, services, configs)
        actions += ensure_access(job, spec, spec.mpi, profile) if pods else []
    return [*actions, *pods]


def may_create(spec: JobSpec, role: str, roles: dict[str, RoleReplicas]) -> bool:
    """A launcher may have to wait until all workers are ready."""
    return role != spec.waiting_launcher or roles["Worker"].all_ready


def create_mpi_objects(
    job: Job,
    spec: JobSpec,
    mpi: MpiSpec,
    roles: Mapping[str, RoleReplicas],
    services: Sequence[Service],
    configs: Sequence[ConfigMap],
) -> list[Action]:
    """The ConfigMap follows the workers that run."""
    actions: list[Action] = []
    manifest = config_manifest(job, spec, mpi, roles)
    found = next((one for one in configs if one.metadata.name == config_name(job)), None)
    if found is None:
        actions.append(CreateConfigMap(manifest))
    elif needs_update(found, manifest):
        actions.append(UpdateConfigMap(found, manifest["data"]))
    if mpi.uses_ssh and job.metadata.name not in {service.metadata.name for service in services}:
        actions.append(CreateService(mpi_ssh_pods.service_manifest(job, mpi)))
    return actions


def ensure_access(job: Job, spec: JobSpec, mpi: MpiSpec, profile: Profile) -> list[Action]:
    """What pods need to reach each other, and is not watched: it is created before pods are, unless it exists."""
    if mpi.uses_ssh:
        return [EnsureObject(mpi_ssh_pods.secret_manifest(job))]
    manifests = mpi_exec_pods.access_manifests(job, spec) if profile.kubectl_image else []
    return [EnsureObject(one) for one in manifests]


def surplus_services(job: Job, spec: JobSpec, services: Sequence[Service]) -> list[Service]:
    """The services of replicas that the spec does not request any more; a job may own other services as well."""
    named = {replica_name(job, spec, role.role, index) for role in spec.replicas for index in range(role.count)}
    of_replicas = [service for service in services if INDEX in labels_of(service.metadata)]
    return [service for service in of_replicas if service.metadata.name not in named]
