"""The scope of one run on an existing cluster: its objects carry the run's id, and its pods stay on the run's nodes.

Cluster-scoped names get a suffix. To show an object as the scenario wrote it, taking the suffix out of the bytes is
enough, wherever a scheduler has quoted the name. RunScope is pure: manifests and paths in, manifests and paths out.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import urllib3

from muster.cluster.api import Api, load_client
from muster.cluster.kubeconfig_files import Kubeconfig
from muster.cluster.node_pool import HOSTNAME, NodePool
from muster.cluster.resources import NODE, PRIORITY_CLASS, Resource
from muster.errors import HarnessError

RUN_LABEL = "muster.dev/run"
DEFAULT_NAMESPACE = "default"  # used by the walk-throughs; a run on an existing cluster has its own in its place
_ALPHABET = "bcdfghjkmnpqrstvwxz2456789"  # no vowels: no readable text by accident
_ID = re.compile(rf"[{_ALPHABET}]{{6}}[0-9a-z]")
_SHARED_NAMES = frozenset({"", "default", "root", "system-cluster-critical", "system-node-critical"})  # never renamed
# Fields and labels whose value is the name of a renamed object.
_NAME_FIELDS = ("priorityClassName", "priorityClass", "queue")
_NODE_NAME_FIELDS = ("nodeName", HOSTNAME)
_REVIEWS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")  # questions that are asked by POST
_READING = frozenset({"GET", "HEAD"})
_SCOPE_FILE = ".run-scope"  # beside a kubeconfig: every Muster command that uses that kubeconfig stays in the scope

Manifest = dict[str, Any]


def new_run_id() -> str:
    """Six random letters and a digit for the worker: all ids have one length, so that none is a prefix of another."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(6)) + "0"


def worker_run_id(run: str, number: int) -> str:
    """The id of one worker's part of a run."""
    if not 0 <= number < 35:
        raise HarnessError(f"--workers {number + 1}: at most 35 workers can share an existing cluster")
    return run[:6] + "123456789abcdefghijklmnopqrstuvwxyz"[number]


def belongs_to_run(one: str, other: str) -> bool:
    """Whether both ids belong to one run: a run with workers has an id for each of them."""
    return one[:6] == other[:6]


def is_run_id(text: str) -> bool:
    return bool(_ID.fullmatch(text))


@dataclass(frozen=True)
class SchedulerObjects:
    """The objects of schedulers' own APIs that a run may create, and the labels and annotations that name them."""

    kinds: tuple[Resource, ...] = ()
    queue_name_keys: tuple[str, ...] = ()
    namespaced_name_keys: tuple[str, ...] = ()  # their values are JSON lists of namespace/name

    @property
    def cluster_scoped(self) -> tuple[Resource, ...]:
        return tuple(kind for kind in self.kinds if not kind.namespaced)


@dataclass(frozen=True)
class RunScope:
    """Renames, labels and confines the objects of one run.

    `scheduler` is set where Muster runs the scheduler itself: pods without a schedulerName get it, and every
    schedulerName is renamed. Where it is empty, pods keep the schedulerName that they request.

    `pool` are real nodes that the owner gives to the run: they keep their names, and are only read.
    """

    run: str
    scheduler: str = ""
    objects: SchedulerObjects = field(default_factory=SchedulerObjects)
    pool: NodePool | None = None

    @property
    def _renamed(self) -> tuple[Resource, ...]:
        return (NODE, PRIORITY_CLASS, *self.objects.cluster_scoped)

    def _has_run_prefix(self, *, kind: str = "", plural: str = "") -> bool:
        return any(kind == each.kind or plural == each.plural for each in self._renamed)

    @property
    def token(self) -> str:
        """Part of the text of every object of the run, and of no other."""
        return f"muster-{self.run}"

    @property
    def suffix(self) -> str:
        return f"-{self.token}"

    @property
    def default_namespace(self) -> str:
        """Takes the place of the namespace `default`."""
        return f"{self.token}-default"

    def name(self, name: str) -> str:
        """A cluster-scoped name as it is on the cluster."""
        return name if name in _SHARED_NAMES or name.endswith(self.suffix) else name + self.suffix

    def node_name(self, name: str) -> str:
        """The same of a node: a real one keeps its own."""
        return name if self.pool and name in self.pool.nodes else self.name(name)

    def holds_node(self, name: str) -> bool:
        """Whether pods of the run may be bound to this node, by its name on the cluster."""
        return name.endswith(self.suffix) or bool(self.pool and name in self.pool.nodes)

    def namespace(self, name: str) -> str:
        return self.default_namespace if name == DEFAULT_NAMESPACE else name

    def owns_namespace(self, name: str) -> bool:
        return name == self.token or name.startswith(f"{self.token}-")

    def restore_names(self, raw: bytes) -> bytes:
        """An object as read, with the names that the scenario knows."""
        restored = raw.replace(self.suffix.encode(), b"")
        return restored.replace(self.default_namespace.encode(), DEFAULT_NAMESPACE.encode())

    def path(self, method: str, path: str) -> str:
        """The path with the names as they are on the cluster; a write outside the scope is refused."""
        parts = path.split("/")
        start = 3 if parts[1] == "api" else 4  # /api/v1/… and /apis/group/version/…
        kind, name, *_ = [*parts[start:], "", ""]
        if kind == "namespaces" and name:
            parts[start + 1] = self.namespace(name)
        elif name and self._has_run_prefix(plural=kind):
            parts[start + 1] = self.node_name(name) if kind == NODE.plural else self.name(name)
        scoped = "/".join(parts)
        if method not in _READING and not self._owns(method, scoped, kind, parts[start + 1 :]):
            raise HarnessError(f"run {self.run} must not {method} {scoped}: the run did not create it")
        return scoped

    def _owns(self, method: str, path: str, kind: str, rest: list[str]) -> bool:
        if path.startswith(_REVIEWS):
            return True
        if kind == "namespaces":
            return self.owns_namespace(rest[0]) if rest else method == "POST"
        if not self._has_run_prefix(plural=kind):
            return False  # every other cluster-scoped object belongs to another tenant
        return rest[0].endswith(self.suffix) if rest else method == "POST"

    def selector(self, path: str) -> str:
        """Limits lists of pods and nodes in all namespaces to those of the run; real nodes do not have its label."""
        limited = ("/api/v1/pods",) if self.pool else ("/api/v1/pods", "/api/v1/nodes")
        return f"{RUN_LABEL}={self.run}" if path in limited else ""

    def shows(self, raw: bytes) -> bool:
        """Whether an object, as read, is one that the run may see."""
        return self.token.encode() in raw or bool(self.pool and self.pool.shows(raw))

    def uses_node(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node is one of the current scenario."""
        return labels.get(RUN_LABEL) == self.run or bool(self.pool and name in self.pool.used)

    def manifest(self, manifest: Mapping[str, Any]) -> Manifest:
        """A manifest as it is sent: renamed, labelled, and confined to the run's nodes."""
        sent: Manifest = self._rename("", dict(manifest))
        metadata = sent.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), RUN_LABEL: self.run}
        kind = sent.get("kind")
        if self._has_run_prefix(kind=str(kind)):
            metadata["name"] = self.name(metadata["name"])
        if kind == "Node":
            spec = sent.setdefault("spec", {})
            spec["taints"] = self._taints(spec.get("taints"))
        if kind == "Namespace" and not self.owns_namespace(metadata["name"]):
            raise HarnessError(f"the scope of run {self.run} does not allow the namespace {metadata['name']}")
        return sent

    def patch(self, path: str, patch: Mapping[str, Any]) -> Manifest:
        """A patch as it is sent; a node keeps the run's taint whatever its other taints become."""
        sent: Manifest = self._rename("", dict(patch))
        if path.startswith("/api/v1/nodes/") and "taints" in (sent.get("spec") or {}):
            sent["spec"]["taints"] = self._taints(sent["spec"]["taints"])
        return sent

    def _taints(self, taints: list[Manifest] | None) -> list[Manifest]:
        return [*(taints or []), {"key": RUN_LABEL, "value": self.run, "effect": "NoSchedule"}]

    def _rename(self, key: str, value: Any) -> Any:
        """Rename all through a value; pod specs in it are confined and pod templates labelled."""
        if isinstance(value, str):
            return self._rename_text(key, value)
        if isinstance(value, list):
            return [self._rename(key, one) for one in value]
        if not isinstance(value, dict):
            return value
        found = {name: self._rename(name, one) for name, one in value.items()}
        if "containers" in found:
            self._confine(found)
        if isinstance(found.get("template"), dict):
            metadata = found["template"].setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), RUN_LABEL: self.run}
        if key in ("target", "ownerReferences") and self._has_run_prefix(kind=str(found.get("kind"))):
            rename = self.node_name if found.get("kind") == NODE.kind else self.name
            found["name"] = rename(found["name"])
        return found

    def _rename_text(self, key: str, value: str) -> str:
        if key in _NAME_FIELDS or key in self.objects.queue_name_keys:
            return self.name(value)
        if key in _NODE_NAME_FIELDS:
            return self.node_name(value)
        if key == "namespace":
            return self.namespace(value)
        if key in self.objects.namespaced_name_keys:
            return value.replace(f'"{DEFAULT_NAMESPACE}/', f'"{self.default_namespace}/')
        return value

    def _confine(self, pod_spec: Manifest) -> None:
        """Select and tolerate the run's nodes."""
        if self.pool and self.pool.is_for(pod_spec):
            self.pool.confine(pod_spec)
        else:
            pod_spec["nodeSelector"] = {**(pod_spec.get("nodeSelector") or {}), RUN_LABEL: self.run}
            toleration = {"key": RUN_LABEL, "operator": "Equal", "value": self.run, "effect": "NoSchedule"}
            pod_spec["tolerations"] = [*(pod_spec.get("tolerations") or []), toleration]
        if self.scheduler:
            pod_spec["schedulerName"] = self.name(pod_spec.get("schedulerName") or self.scheduler)


class ScopedApi(Api):
    """One run's view of an existing cluster: callers say `gpu-1`, the cluster has `gpu-1-muster-k7m2qx0`.

    Trap: the bytes of a watch do not pass through this class, so the recorder calls `visible` with each object.
    """

    versions_compare = False

    def __init__(self, client: Any, scope: RunScope) -> None:
        super().__init__(client)
        self.scope = scope

    def visible(self, raw: bytes) -> bytes | None:
        return self.scope.restore_names(raw) if self.scope.shows(raw) else None

    def list(self, resource: Resource, namespace: str | None = None, **query: str) -> dict[str, Any]:
        """Of nodes only those of the scenario: real ones are not found by a label of the run."""
        response = super().list(resource, namespace, **query)
        if resource is NODE and self.scope.pool:
            described = [(node, node["metadata"]) for node in response["items"]]
            response["items"] = [
                node for node, one in described if self.scope.uses_node(one["name"], one.get("labels") or {})
            ]
        return response

    def read(self, path: str, **query: str) -> bytes:
        """Unchanged: the caller decodes it, and calls `visible` with each object."""
        return super()._bytes("GET", path, query=query)

    def _bytes(self, method: str, path: str, **options: Any) -> bytes:
        return self.scope.restore_names(super()._bytes(method, path, **options))

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None,
        content_type: str,
        timeout: float,
    ) -> urllib3.BaseHTTPResponse:
        scope = self.scope
        if method == "GET" and (selector := scope.selector(path)):
            asked = query.get("labelSelector")
            query = {**query, "labelSelector": f"{asked},{selector}" if asked else selector}
        scoped = scope.path(method, path)
        if body is not None and not scoped.startswith(_REVIEWS):
            body = scope.manifest(body) if method == "POST" else scope.patch(path, body)
        return super()._send(method, scoped, query, body, content_type, timeout)


def write_run_scope(kubeconfig: Path, scope: RunScope) -> None:
    """From now on every connection by this kubeconfig is limited to the scope."""
    kubeconfig.with_name(kubeconfig.name + _SCOPE_FILE).write_bytes(msgspec.json.encode(scope))


def read_run_scope(kubeconfig: Path) -> RunScope | None:
    file = kubeconfig.with_name(kubeconfig.name + _SCOPE_FILE)
    return msgspec.json.decode(file.read_bytes(), type=RunScope) if file.is_file() else None


def open_api(kubeconfig: Path | Kubeconfig, context: str | None = None, scope: RunScope | None = None) -> Api:
    """Connect; limited to a run scope, if one is given or stored beside the file that has the context."""
    scope = scope or read_run_scope(Kubeconfig.of(kubeconfig).context_file(context))
    return ScopedApi(load_client(kubeconfig, context), scope) if scope else Api.connect(kubeconfig, context)
