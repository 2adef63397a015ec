"""Training jobs of a scene: created from the documents' manifests or by commands, and cleared away with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from muster import suite
from muster.chronicle.preemptions import BY_SCHEDULER
from muster.cluster.api import STRATEGIC_PATCH, ApiRefused
from muster.cluster.resources import (
    CONFIG_MAP,
    DEPLOYMENT,
    KOORDINATOR_GROUP,
    MPI_JOB,
    POD,
    PYTORCH_JOB,
    REPLICA_SET,
    SERVICE,
    VOLCANO_GROUP,
    VOLCANO_QUEUE,
    Resource,
    resource_of,
)
from muster.errors import HarnessError, NotStaged, NotSupported
from muster.subject.operators import DOCUMENTS, Operator

if TYPE_CHECKING:
    from muster.stage.scene import Scene

OWN_KINDS = (VOLCANO_GROUP, VOLCANO_QUEUE, KOORDINATOR_GROUP)  # only some schedulers read them
_GANG = "pod-group.scheduling.sigs.k8s.io"
HOME = "default"  # the namespace that the documents work in
_UNKNOWN = 404  # what the API server says to a kind that it does not know
_SHELVES = ("documents", "jobs")  # of manifests/
_ROLES = "pytorchReplicaSpecs"
_SUBMITTED = "release"  # a label on everything that a submission creates
_SUBMITTED_BY_ARENA = "createdBy=arena"  # on its record, which would go with the job, but too late for the next scene


class Jobs:
    """`scene.jobs`: what an operator makes pods of."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._created: list[dict[str, Any]] = []
        self._used = False
        self._profile = DOCUMENTS
        self._kinds: dict[str, Resource] = {}
        self.answer = ""  # to the last command that was typed

    def expect(self, *, profile: str = "") -> Operator:
        """Jobs are going to be spoken of: the operator must be there, with this profile until the scene is over."""
        self._profile = profile or self._profile
        operator = self._scene.need_operator(self._profile)
        self._used = True
        return operator

    def apply(self, file: str) -> None:
        """What `kubectl create -f` would create, as it stands."""
        manifests = documents(file)
        for manifest in manifests:
            kind = resource_of(manifest)
            if kind in OWN_KINDS and kind not in self._scene.subject.dialect.reads:
                raise NotSupported(f"{self._scene.subject.name} does not read {kind.kind} of {kind.api_version}")
            asks_for = manifest.get("spec", {}).get("schedulerName")
            if asks_for and not self._scene.subject.dialect.answers_to(asks_for):
                raise NotSupported(f"{manifest['metadata']['name']} asks for {asks_for}, which is not judged here")
        for manifest in manifests:
            self._created.append(manifest)
            try:
                self._scene.create({**manifest, "metadata": {**manifest["metadata"], **self._place(manifest)}})
            except ApiRefused as refusal:
                if refusal.status == _UNKNOWN and resource_of(manifest) in OWN_KINDS:
                    raise NotStaged(f"the cluster does not serve {resource_of(manifest).plural}") from None
                raise
        for gang in {one["metadata"].get("labels", {}).get(_GANG, "") for one in manifests} - {""}:
            self._scene.groups.adopt(gang, [one["metadata"]["name"] for one in manifests if one["kind"] == "Pod"])

    def create(self, file: str, called: str, *, without: str = "", changed: dict[str, Any] | None = None) -> None:
        """The job of a manifest. Where that leaves its name to the API, the scenario goes on to call it as it likes."""
        (manifest,) = documents(file)
        self.expect().must_carry_out(manifest["kind"])
        if without:
            _take_out(manifest, without)
        for path, value in (changed or {}).items():
            _put_in(manifest, path, value)
        metadata = manifest.setdefault("metadata", {"name": called})
        metadata["namespace"] = self._scene.namespace
        made = self._scene.api.create(manifest)["metadata"]["name"]
        self._kinds[made] = resource_of(manifest)
        self._scene.chronicle.history.known_as[called] = made
        self._scene.groups.adopt(called, _pods(made, manifest))
        self._scene.touch()

    def change(self, job: str, spec: dict[str, Any]) -> None:
        """What `kubectl patch` would change of it."""
        self._scene.api.patch(self._kinds[job], job, {"spec": spec}, namespace=self._scene.namespace)
        self._scene.touch()

    def delete(self, job: str) -> None:
        self._scene.api.delete(self._kinds[job], job, self._scene.namespace)
        self._scene.touch()

    def crash(self, pod: str, code: int) -> None:
        """Its processes end with this code; what becomes of the pod then is the operator's affair."""
        mark = {"metadata": {"annotations": {"muster.dev/exit-code": str(code)}}}
        self._scene.api.patch(POD, pod, mark, namespace=self._scene.namespace)
        self._scene.touch()

    def preempt(self, pod: str) -> None:
        """As any scheduler does it, a mark and the deletion: here it is the operator that is judged, not the choice."""
        told = {"type": "DisruptionTarget", "status": "True", "reason": BY_SCHEDULER, "message": "a rehearsal"}
        api, namespace = self._scene.api, self._scene.namespace
        patch = {"status": {"conditions": [told]}}
        api.patch(POD, pod, patch, namespace=namespace, subresource="status", content_type=STRATEGIC_PATCH)
        api.delete(POD, pod, namespace)
        self._scene.touch()

    def refusal(self, file: str, changed: dict[str, Any]) -> str:
        """What the API server says to such a job; empty when it takes it."""
        self.expect()
        (manifest,) = documents(file)
        for path, value in changed.items():
            _put_in(manifest, path, value)
        manifest["metadata"]["namespace"] = self._scene.namespace
        try:
            self._scene.api.rehearse(manifest)
        except ApiRefused as refused:
            return refused.message
        return ""

    def stop(self) -> None:
        """Whatever makes pods goes before them: it would make new ones."""
        if self._used:
            for kind in (PYTORCH_JOB, MPI_JOB, DEPLOYMENT, REPLICA_SET):
                self._scene.api.delete_all(kind, self._scene.namespace)

    def strike(self) -> None:
        """What was created for the scene is deleted by name, what a submission created by its label."""
        while self._created:
            manifest = self._created.pop()
            kind = resource_of(manifest)
            namespace = self._scene.namespace if kind.namespaced else None
            self._scene.api.delete(kind, manifest["metadata"]["name"], namespace)
        if self._used:
            for kind in (SERVICE, CONFIG_MAP):
                self._scene.api.delete_all(kind, self._scene.namespace, labelSelector=_SUBMITTED)
            self._scene.api.delete_all(CONFIG_MAP, self._scene.namespace, labelSelector=_SUBMITTED_BY_ARENA)

    def _place(self, manifest: dict[str, Any]) -> dict[str, str]:
        return {"namespace": self._scene.namespace} if resource_of(manifest).namespaced else {}


def documents(file: str) -> list[dict[str, Any]]:
    """The manifests of one of the documents' files, or of those beside them."""
    known = {path.stem: path for shelf in _SHELVES for path in (suite.manifests() / shelf).glob("*.yaml")}
    path = known.get(file)
    if path is None:
        where = " or ".join(f"manifests/{shelf}" for shelf in _SHELVES)
        raise HarnessError(f"there is no manifest {file!r} in {where}: choose from {', '.join(sorted(known))}")
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def _pods(job: str, manifest: dict[str, Any]) -> list[str]:
    """Of an MPI job the workers only: its launcher comes when all of them are ready."""
    spec = manifest["spec"]
    roles = spec.get(_ROLES, {"Worker": spec})
    return [f"{job}-{role.lower()}-{number}" for role in roles for number in range(int(roles[role].get("replicas", 1)))]


def _take_out(manifest: dict[str, Any], path: str) -> None:
    *way, last = path.split(".")
    for step in way:
        manifest = manifest[step]
    del manifest[last]


def _put_in(manifest: dict[str, Any], path: str, value: Any) -> None:
    *way, last = path.split(".")
    for step in way:
        manifest = manifest.setdefault(step, {})
    manifest[last] = value
