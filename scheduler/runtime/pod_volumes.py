"""What the claims of a pod mean for its scheduling: a problem, requirements of its node, or claims to be bound first.

The rules and the words are those of kube-scheduler's plugins VolumeBinding, VolumeZone and VolumeRestrictions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from scheduler.core.pod_constraints import NODE_NAME, ExclusiveClaim, PodConstraints, SelectorRequirement, VolumeUsers
from scheduler.core.scheduling_types import Key, Pod
from scheduler.core.volume_requirements import NO_VOLUME, VOLUME_AFFINITY, VOLUME_ZONE, VolumeRequirement
from scheduler.runtime.api_types import ApiPod
from scheduler.runtime.pod_requirements import intern
from scheduler.runtime.volume_cache import VolumeCache
from scheduler.runtime.volume_types import Claim, StorageClass, Volume

_FOR_ONE_POD = "ReadWriteOncePod"


class VolumeProblem(Exception):
    """No node helps: the pod stays pending with this reason until a claim, a volume or a class changes."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A claim that a pod mounts."""

    key: Key
    is_ephemeral: bool  # the claim is made for this pod, by a controller


def mounts(found: ApiPod) -> list[Mount]:
    """In the order of the pod's volumes, each claim once."""
    meta, claims = found.metadata, dict[Key, Mount]()
    for volume in found.spec.volumes or ():
        name, is_ephemeral = "", False
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
        elif volume.ephemeral is not None:
            name, is_ephemeral = f"{meta.name}-{volume.name}", True
        if name:
            key = meta.namespace, name
            claims.setdefault(key, Mount(key, is_ephemeral))
    return list(claims.values())


def with_volumes(pod: Pod, found: ApiPod, cache: VolumeCache) -> Pod:
    """The pod with what its claims mean; of a bound pod only what other pods must not use beside it."""
    mounted = mounts(found)
    if not mounted:
        return pod
    pod = _with_exclusive_claims(pod, mounted, cache)
    if pod.node:
        return pod
    try:
        claims = [_usable_claim(mount, found, cache) for mount in mounted]
        unbound = [claim for claim in claims if not _is_bound(claim, cache)]
        requirements = [*_of_bound(claims, cache), *_of_unbound(unbound, cache)]
    except VolumeProblem as problem:
        return replace(pod, problem=pod.problem or str(problem))
    limited = frozenset(VolumeUsers(one) for one in requirements if one.limits)
    constraints = pod.requirements.constraints
    if limited:
        constraints = replace(constraints or PodConstraints(), volumes=limited)
    volumes = tuple(dict.fromkeys(requirements))
    placed = intern(replace(pod.requirements, volumes=volumes, constraints=constraints))
    return replace(pod, requirements=placed, unbound_claims=bool(unbound))


def _with_exclusive_claims(pod: Pod, mounted: list[Mount], cache: VolumeCache) -> Pod:
    """An ephemeral claim is the pod's own anyway."""
    claims = (cache.claims.get(mount.key) for mount in mounted if not mount.is_ephemeral)
    exclusive = frozenset(ExclusiveClaim(*one.key) for one in claims if one and _FOR_ONE_POD in one.shape.access_modes)
    if not exclusive:
        return pod
    constraints = replace(pod.requirements.constraints or PodConstraints(), claims=exclusive)
    return replace(pod, requirements=intern(replace(pod.requirements, constraints=constraints)))


def claims_to_bind(found: ApiPod, cache: VolumeCache) -> list[Claim]:
    """The pod's unbound claims for which nothing has been written yet."""
    claims = (cache.claims.get(mount.key) for mount in mounts(found))
    return [claim for claim in claims if claim and not claim.volume and _is_undecided(claim, cache)]


def _usable_claim(mount: Mount, found: ApiPod, cache: VolumeCache) -> Claim:
    name, claim = mount.key[1], cache.claims.get(mount.key)
    if claim is None and mount.is_ephemeral:
        raise VolumeProblem(f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"')
    if claim is None:
        raise VolumeProblem(f'persistentvolumeclaim "{name}" not found')
    if claim.is_lost:
        raise VolumeProblem(f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.volume}"')
    if claim.is_terminating:
        raise VolumeProblem(f'persistentvolumeclaim "{name}" is being deleted')
    if mount.is_ephemeral and claim.owner != found.metadata.uid:
        owned, pod = "/".join(claim.key), "/".join(found.metadata.key)
        raise VolumeProblem(f"PVC {owned} was not created for pod {pod} (pod is not owner)")
    return claim


def _is_bound(claim: Claim, cache: VolumeCache) -> bool:
    """A volume that was provisioned a moment ago may be seen later than its claim: the pod keeps its place."""
    return claim.is_bound and not (claim.selected_node and cache.volumes.get(claim.volume) is None)


def _of_bound(claims: list[Claim], cache: VolumeCache) -> Iterator[VolumeRequirement]:
    for claim in claims:
        if not _is_bound(claim, cache):
            continue
        volume = cache.volumes.get(claim.volume)
        if volume is None:
            raise VolumeProblem(f'persistentvolume "{claim.volume}" not found')
        yield from _affinity(volume, VOLUME_AFFINITY)
        yield from (VolumeRequirement(VOLUME_ZONE, terms) for terms in volume.zones)


def _of_unbound(claims: list[Claim], cache: VolumeCache) -> Iterator[VolumeRequirement]:
    undecided: dict[StorageClass, list[Claim]] = {}
    for claim in claims:
        storage_class = _class_of(claim, cache)
        if claim.selected_node:
            yield VolumeRequirement(NO_VOLUME, ((SelectorRequirement(NODE_NAME, "In", (claim.selected_node,)),),))
        elif reserved := cache.reserved_for(claim):
            yield from _affinity(reserved, NO_VOLUME)
        elif cache.backoff.is_waiting(claim.key):
            raise VolumeProblem(f'provisioning failed for PVC "{claim.key[1]}"')
        else:
            undecided.setdefault(storage_class, []).append(claim)
    for storage_class, its_claims in undecided.items():
        if requirement := cache.free(storage_class.name).requirement(its_claims, storage_class):
            yield requirement


def _class_of(claim: Claim, cache: VolumeCache) -> StorageClass:
    """A claim is bound after the decision only if its class says so, and if it is not meant for a certain volume.

    A class that does not exist says nothing: as for kube-scheduler, the claim is to be bound before the decision.
    """
    storage_class = cache.classes.get(claim.storage_class)
    prebound = claim.volume and not claim.is_bound
    if storage_class is None or not storage_class.waits_for_consumer or prebound:
        raise VolumeProblem("pod has unbound immediate PersistentVolumeClaims")
    return storage_class


def _is_undecided(claim: Claim, cache: VolumeCache) -> bool:
    return not claim.selected_node and cache.reserved_for(claim) is None


def _affinity(volume: Volume, reason: str) -> Iterator[VolumeRequirement]:
    if volume.terms is not None:
        yield VolumeRequirement(reason, volume.terms)
