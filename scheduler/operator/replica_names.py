"""What a replica is called and how it is marked, in the words of today's operators and of those before them.

Two families of labels, because clients list by either: `training.kubeflow.org/*`, and the older ones without a prefix
or with underscores. `app` and `release` are what Arena selects by; a template's own labels are never overwritten by
those two.
"""

from __future__ import annotations

import hashlib
import re

from scheduler.operator.objects import INDEX, ROLE, Job, Json, labels_of
from scheduler.operator.specs import Invalid, Replicas, Spec

PREFIX = "training.kubeflow.org"
PYTORCH, MPI = "PyTorchJob", "MPIJob"
API_VERSION = "kubeflow.org/v1"
_LABEL_LENGTH = 63
_DNS_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # as the API server's own suffixes: no vowels, no words
_SUFFIX_LENGTH = 5


def replica_name(job: Job, spec: Spec, role: str, index: int) -> str:
    if role == "Launcher":
        return f"{job.metadata.name}-launcher{'-' + suffix(job) if spec.single_template else ''}"
    return f"{job.metadata.name}-{role.lower()}-{index}"


def suffix(job: Job) -> str:
    """Looks random and is not: the same job gets the same one again, so that nothing is ever created twice."""
    digest = hashlib.sha256(job.metadata.uid.encode()).digest()
    return "".join(_SUFFIX_LETTERS[byte % len(_SUFFIX_LETTERS)] for byte in digest[:_SUFFIX_LENGTH])


def check_names(job: Job, spec: Spec) -> None:
    """Every replica's name must do as a label and as a host name."""
    if not _DNS_LABEL.fullmatch(job.metadata.name):
        raise Invalid("metadata.name", f"{job.metadata.name!r} is no host name (a-z, 0-9 and -, a letter first)")
    longest = max(len(replica_name(job, spec, one.role, one.count - 1)) for one in spec.replicas)
    if longest > _LABEL_LENGTH:
        raise Invalid("metadata.name", f"the names of replicas would have {longest} characters of {_LABEL_LENGTH}")


def selector(job: Job, role: str) -> dict[str, str]:
    """What finds all replicas of a role."""
    return {
        f"{PREFIX}/operator-name": f"{job.kind.lower()}-controller",
        f"{PREFIX}/job-name": job.metadata.name,
        ROLE: role.lower(),
    }


def replica_labels(job: Job, replicas: Replicas, index: int, *, chief: bool) -> dict[str, str]:
    """Chief: the replica whose end is the job's."""
    role = replicas.role.lower()
    labels = {**selector(job, role), INDEX: str(index), "job-name": job.metadata.name}
    if job.kind == MPI:
        labels |= {
            f"{PREFIX}/job-role": role,
            "group_name": "kubeflow.org",
            "mpi_job_name": job.metadata.name,
            "mpi_role_type": role,
        }
        return labels
    labels |= {
        "group-name": "kubeflow.org",
        "controller-name": "pytorch-operator",
        "pytorch-job-name": job.metadata.name,
        "pytorch-replica-type": role,
        "pytorch-replica-index": str(index),
    }
    if chief:
        labels |= {f"{PREFIX}/job-role": "master", "job-role": "master"}
    return labels


def client_labels(job: Job) -> dict[str, str]:
    """What Arena lists by: as the job itself carries it, else as Arena would have written it."""
    carried = labels_of(job.metadata)
    labels = {"app": job.kind.lower(), "release": job.metadata.name}
    return labels | {name: carried[name] for name in ("app", "release", "chart") if name in carried}


def owner(job: Job) -> Json:
    return {
        "apiVersion": API_VERSION,
        "kind": job.kind,
        "name": job.metadata.name,
        "uid": job.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
