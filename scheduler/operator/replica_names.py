"""Names, labels and owner reference of a replica, as the training-operator and its predecessors set them.

There are two families of labels, because clients list by either: `training.kubeflow.org/*`, and the older ones without
a prefix or with underscores. Arena selects by `app` and `release`; those two never overwrite a template's own labels.
"""

from __future__ import annotations

import hashlib
import re

from scheduler.operator.api_objects import INDEX, JOB_NAME, OPERATOR_NAME, ROLE, Job, Json, labels_of
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_spec import InvalidSpec, JobSpec

_LABEL_LENGTH = 63
_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # as in generateName: no vowels
_SUFFIX_LENGTH = 5


def replica_name(job: Job, spec: JobSpec, role: str, index: int) -> str:
    if role == "Launcher":
        return f"{job.metadata.name}-launcher{'-' + suffix(job) if spec.single_template else ''}"
    return f"{job.metadata.name}-{role.lower()}-{index}"


def suffix(job: Job) -> str:
    """Derived from the uid: a job gets the same suffix again, so that no replica is created twice."""
    digest = hashlib.sha256(job.metadata.uid.encode()).digest()
    return "".join(_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:_SUFFIX_LENGTH])


def check_names(job: Job, spec: JobSpec) -> None:
    """Every replica's name must be a valid label value and host name."""
    if not _DNS_LABEL.fullmatch(job.metadata.name):
        raise InvalidSpec("metadata.name", f"{job.metadata.name!r} is not a host name: a-z, 0-9 and -, a letter first")
    longest = max(len(replica_name(job, spec, one.role, one.count - 1)) for one in spec.replicas)
    if longest > _LABEL_LENGTH:
        raise InvalidSpec("metadata.name", f"replica names of {longest} characters exceed the limit of {_LABEL_LENGTH}")


def selector(job: Job, role: str) -> dict[str, str]:
    """The labels that select all replicas of a role."""
    return {
        OPERATOR_NAME: KINDS[job.kind].operator_name(job.spec),
        JOB_NAME: job.metadata.name,
        ROLE: role.lower(),
    }


def replica_labels(job: Job, role: str, index: int, *, chief: bool) -> dict[str, str]:
    """Chief: the replica whose end is the job's."""
    role = role.lower()
    labels = {**selector(job, role), INDEX: str(index), "job-name": job.metadata.name}
    return labels | KINDS[job.kind].labels(job.metadata.name, role, index, chief=chief)


def client_labels(job: Job) -> dict[str, str]:
    """The labels that Arena lists by: the job's own, else those that Arena would have set."""
    own = labels_of(job.metadata)
    labels = {"app": job.kind.lower(), "release": job.metadata.name}
    return labels | {name: own[name] for name in ("app", "release", "chart") if name in own}


def owner_reference(job: Job) -> Json:
    return {
        "apiVersion": job.api_version,
        "kind": job.kind,
        "name": job.metadata.name,
        "uid": job.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
