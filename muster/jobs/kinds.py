"""The kinds of training jobs, and in which version a cluster serves them.

One definition may serve a kind in several versions. They differ in shape: `v1` has a template per role, the older
`v1alpha1` of MPIJob a single one. Both show the same objects, so only the preferred version is ever asked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import Resource
from muster.errors import HarnessError

GROUP = "kubeflow.org"


@dataclass(frozen=True)
class Kind:
    """One kind of job: what people and label values call it, and the versions that we speak, best first."""

    word: str
    trainer: str
    kind: str
    container: str
    chief: str
    versions: tuple[str, ...]

    @property
    def plural(self) -> str:
        return f"{self.trainer}s"

    def resource(self, version: str) -> Resource:
        return Resource(f"{GROUP}/{version}", self.kind, self.plural)


PYTORCH = Kind("pytorch", "pytorchjob", "PyTorchJob", "pytorch", "master", ("v1",))
MPI = Kind("mpi", "mpijob", "MPIJob", "mpi", "launcher", ("v1alpha1", "v1"))  # the old one first, as Arena does
KINDS = (PYTORCH, MPI)


@dataclass(frozen=True)
class Served:
    """A kind in the version that the cluster serves and we prefer."""

    kind: Kind
    resource: Resource

    @property
    def version(self) -> str:
        return self.resource.api_version.partition("/")[2]


def discover(api: Api) -> list[Served]:
    """The kinds that the cluster knows, PyTorchJob first; maybe none."""
    plurals = {version: _plurals(api, version) for version in sorted({v for kind in KINDS for v in kind.versions})}
    return [
        Served(kind, kind.resource(version))
        for kind in KINDS
        for version in [next((v for v in kind.versions if kind.plural in plurals[v]), None)]
        if version
    ]


def must_serve(found: Sequence[Served], *kinds: Kind) -> list[Served]:
    """Those of `kinds` that were found; one is enough."""
    mine = [one for one in found if one.kind in kinds]
    if not mine:
        names = " nor ".join(f"{kind.kind} ({GROUP}/{' or '.join(kind.versions)})" for kind in kinds)
        raise HarnessError(
            f"the cluster does not serve {names}: install the operator of training jobs and its definitions"
        )
    return mine


def _plurals(api: Api, version: str) -> set[str]:
    try:
        answer = json.loads(api.read(f"/apis/{GROUP}/{version}"))
    except ApiRefused as refusal:
        if refusal.status == HTTPStatus.NOT_FOUND:
            return set()
        raise
    return {resource["name"] for resource in answer["resources"]}
