"""Training jobs of a scenario: created from manifests or by commands, and deleted with the scenario."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from muster.cluster.api import ApiRefused
from muster.cluster.resources import (
    CONFIG_MAP,
    DEPLOYMENT,
    REPLICA_SET,
    SECRET,
    SERVICE,
    TRAINING_JOBS,
    Resource,
    resource_of,
)
from muster.environment.suite_manifests import has_field, job_pods, load_manifests, remove_field, set_field
from muster.errors import NotStaged, NotSupported
from muster.operators.base import Operator, OperatorSettings
from muster.schedulers import gang_and_queue_kinds, group_name_keys, walkthrough_page

if TYPE_CHECKING:
    from muster.environment.scenario import ScenarioContext

_SUBMITTED = "release"  # a label of all objects of `muster submit`
_SUBMITTED_BY_ARENA = "createdBy=arena"  # of its ConfigMap, which is deleted too late for the next scenario otherwise


class TrainingJobs:
    """`scenario.jobs`: jobs, and the operator that reconciles them."""

    def __init__(self, scenario: ScenarioContext) -> None:
        self._scenario = scenario
        self._created: list[dict[str, Any]] = []
        self._used = False
        self._settings = OperatorSettings()
        self._kinds: dict[str, Resource] = {}
        self.last_output = ""  # of the last command

    def ensure_operator(self, **changed: str) -> Operator:
        """Start the operator if it is not running; changed settings stay in force until the scenario ends."""
        self._settings = replace(self._settings, **changed)
        operator = self._scenario.ensure_operator(self._settings)
        self._used = True
        return operator

    def create_objects(self, file: str) -> None:
        """Create all objects of a manifest unchanged, as `kubectl create -f` does."""
        manifests = load_manifests(file)
        for manifest in manifests:
            self._check_support(manifest)
        for manifest in manifests:
            self._created.append(manifest)
            try:
                self._scenario.create_object(self._with_namespace(manifest))
            except ApiRefused as refusal:
                if refusal.status == HTTPStatus.NOT_FOUND and resource_of(manifest) in gang_and_queue_kinds():
                    raise NotStaged(f"the cluster does not serve {resource_of(manifest).plural}") from None
                raise
        labels = [manifest["metadata"].get("labels", {}) for manifest in manifests]
        pods = [one["metadata"]["name"] for one in manifests if one["kind"] == "Pod"]
        for gang in {each[key] for each in labels for key in group_name_keys() if key in each}:
            self._scenario.groups.set_members(gang, pods)

    def create_job(self, file: str, name: str, *, without: str = "", changed: dict[str, Any] | None = None) -> None:
        """Create the job of a manifest. If the API server generates its name, `name` is an alias in the scenario."""
        (manifest,) = load_manifests(file)
        self.ensure_operator().check_job_kind(manifest["kind"], manifest["apiVersion"].rpartition("/")[2])
        if without:
            remove_field(manifest, without)
        for path, value in (changed or {}).items():
            set_field(manifest, path, value)
        metadata = manifest.setdefault("metadata", {"name": name})
        metadata["namespace"] = self._scenario.namespace
        answer = self._create_served(manifest)
        operator = self.ensure_operator()
        for path in changed or {}:
            if not has_field(answer, path):
                problem = f"the CRD of the operator {operator.name} has no field {path}"
                raise NotSupported(f"{problem} ({operator.documentation})")
        created = answer["metadata"]["name"]
        self._kinds[created] = resource_of(manifest)
        self._scenario.recording.history.aliases[name] = created
        self._scenario.groups.set_members(name, job_pods(created, manifest))
        self._scenario.note_activity()

    def _create_served(self, manifest: dict[str, Any]) -> dict[str, Any]:
        """An existing cluster may serve the kind, but not in this version."""
        try:
            return self._scenario.api.create(manifest)
        except ApiRefused as refusal:
            if refusal.status != HTTPStatus.NOT_FOUND:
                raise
            raise NotStaged(f"the cluster does not serve {manifest['kind']} of {manifest['apiVersion']}") from None

    def data_of_secret(self, name: str) -> list[str]:
        """The keys of a Secret's data, not their values; none if it does not exist. Secrets are not recorded."""
        try:
            found = self._scenario.api.get(SECRET, name, self._scenario.namespace)
        except ApiRefused as refusal:
            if refusal.status != HTTPStatus.NOT_FOUND:
                raise
            return []
        return sorted(found.get("data", {}))

    def patch_spec(self, job: str, spec: dict[str, Any]) -> None:
        self.ensure_operator()
        self._scenario.api.patch(self._kinds[job], job, {"spec": spec}, namespace=self._scenario.namespace)
        self._scenario.note_activity()

    def delete(self, job: str) -> None:
        self._scenario.api.delete(self._kinds[job], job, self._scenario.namespace)
        self._scenario.note_activity()

    def rejection(self, file: str, changed: dict[str, Any], *, name: str = "") -> str:
        """The error with which validation rejects the changed job in a dry-run; empty if it is accepted.

        By the schema or by an admission webhook; any other refusal, such as of a kind that is not served, is an error.
        """
        self.ensure_operator()
        (manifest,) = load_manifests(file)
        for path, value in changed.items():
            set_field(manifest, path, value)
        manifest.setdefault("metadata", {"name": name})["namespace"] = self._scenario.namespace
        try:
            self._scenario.api.dry_run(manifest)
        except ApiRefused as refusal:
            if refusal.status != HTTPStatus.UNPROCESSABLE_ENTITY and not refusal.denied_by_webhook:
                raise
            return refusal.message
        return ""

    def delete_controllers(self) -> None:
        """Delete jobs, Deployments and ReplicaSets before their pods, which they would create again."""
        if self._used:
            for kind in (*TRAINING_JOBS, DEPLOYMENT, REPLICA_SET):
                self._scenario.api.delete_all(kind, self._scenario.namespace)

    def cleanup(self) -> None:
        """Delete objects of manifests by name, and those of submissions by label."""
        while self._created:
            manifest = self._created.pop()
            kind = resource_of(manifest)
            namespace = self._scenario.namespace if kind.namespaced else None
            self._scenario.api.delete(kind, manifest["metadata"]["name"], namespace)
        if self._used:
            for kind in (SERVICE, CONFIG_MAP):
                self._scenario.api.delete_all(kind, self._scenario.namespace, labelSelector=_SUBMITTED)
            self._scenario.api.delete_all(CONFIG_MAP, self._scenario.namespace, labelSelector=_SUBMITTED_BY_ARENA)

    def _check_support(self, manifest: dict[str, Any]) -> None:
        scheduler, kind = self._scenario.scheduler, resource_of(manifest)
        if kind in gang_and_queue_kinds() and kind not in scheduler.dialect.kinds_read:
            owner = walkthrough_page(kind=kind)
            raise NotSupported(f"{scheduler.name} does not read {kind.kind} of {kind.api_version} ({owner})")
        name = manifest.get("spec", {}).get("schedulerName")
        if name and not scheduler.dialect.accepts_scheduler_name(name):
            pod = manifest["metadata"]["name"]
            raise NotSupported(
                f"{pod} has schedulerName {name}, which is not the scheduler under test ({walkthrough_page(name=name)})"
            )

    def _with_namespace(self, manifest: dict[str, Any]) -> dict[str, Any]:
        if not resource_of(manifest).namespaced:
            return manifest
        return {**manifest, "metadata": {**manifest["metadata"], "namespace": self._scenario.namespace}}
