"""A kind of training job: everything in which a PyTorchJob and an MPIJob differ. A new kind is one subclass."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from scheduler.operator.api_objects import Json
from scheduler.operator.job_spec import InvalidSpec, JobSpec, read_object
from scheduler.operator.replicas import RoleReplicas

Roles = Mapping[str, RoleReplicas]


class JobKind(ABC):
    """One kind of training job of kubeflow.org."""

    kind: ClassVar[str]
    plural: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]
    replica_specs: ClassVar[str]  # the field of the spec that holds a replica spec per role
    has_rendezvous: ClassVar[bool] = False  # replicas find each other by environment variables and headless services
    managers: ClassVar[tuple[str, ...]] = ("kubeflow.org/training-operator",)  # of managedBy: this operator

    # In which jobs are watched and written: the first that is served, in which the API server shows those of all.
    api_versions: ClassVar[tuple[str, ...]] = ("kubeflow.org/v1",)

    def path(self, api_version: str) -> str:
        return f"/apis/{api_version}/{self.plural}"

    @abstractmethod
    def read(self, spec: Json) -> JobSpec:
        """Validate a spec, or raise InvalidSpec."""

    @abstractmethod
    def is_running(self, spec: JobSpec, roles: Roles) -> bool:
        """Whether the job as a whole is Running."""

    @abstractmethod
    def has_succeeded(self, roles: Roles) -> bool:
        """Whether the job as a whole has Succeeded."""

    @abstractmethod
    def labels(self, job: str, role: str, index: int, *, chief: bool) -> dict[str, str]:
        """Labels of a replica beside those of all kinds, those of earlier operators included."""

    def operator_name(self, spec: object) -> str:
        """The value of the label operator-name, by the raw spec: versions of a kind may differ."""
        return f"{self.kind.lower()}-controller"

    def legacy_status(self, roles: Roles) -> Json:
        """Status fields of a single-template job, beside the conditions."""
        return {}

    def _check_roles(self, spec: Json) -> Json:
        found = read_object(spec, self.replica_specs, "spec")
        unknown = sorted(set(found) - set(self.roles))
        if unknown:
            known = ", ".join(self.roles)
            raise InvalidSpec(f"spec.{self.replica_specs}.{unknown[0]}", f"is not a role of {self.kind}: {known}")
        return found
