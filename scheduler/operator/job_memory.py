"""What the operator remembers of a job: one annotation of it, which is written before the status.

The status is no place for it: the CRDs of Kubeflow's training-operator prune every field that they do not list. What
is lost is counted twice or never: a crash that is forgotten does not count towards backoffLimit.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from scheduler.operator.api_objects import Job, Pod

ANNOTATION = "operator.muster.dev/memory"
_UID_DIGITS = 12  # the last part of a uid; 10,000 whole ones are more than the API server accepts as annotations


class Memory(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Of one job."""

    restarts: int = 0  # crashed pods that the operator has replaced
    given_up: tuple[str, ...] = ()  # ends of the uids of pods that the operator itself deletes; they are not lost
    limit_exceeded: bool = False  # the job has failed by its deadline or its backoffLimit

    @property
    def annotation(self) -> str:
        return msgspec.json.encode(self).decode()


def memory_of(job: Job) -> Memory:
    """Empty for an invalid annotation, because users can edit it."""
    try:
        return msgspec.json.decode((job.metadata.annotations or {}).get(ANNOTATION, "{}"), type=Memory)
    except msgspec.MsgspecError:
        return Memory()


def uid_end(pod: Pod) -> str:
    return pod.metadata.uid[-_UID_DIGITS:]


def give_up(memory: Memory, pods: Iterable[Pod]) -> Memory:
    """Record pods that the operator itself deletes: they do not count as lost."""
    known = {*memory.given_up, *map(uid_end, pods)}
    return msgspec.structs.replace(memory, given_up=tuple(sorted(known)))


def prune(memory: Memory, pods: Iterable[Pod]) -> Memory:
    """Drop the uids of pods that no longer exist."""
    left = set(map(uid_end, pods)).intersection(memory.given_up)
    return msgspec.structs.replace(memory, given_up=tuple(sorted(left)))


def needs_write(before: Memory, after: Memory) -> bool:
    """Dropping the uids of deleted pods is no reason to write; it waits for the next change."""
    added = set(after.given_up).difference(before.given_up)
    return bool(added) or (before.restarts, before.limit_exceeded) != (after.restarts, after.limit_exceeded)
