"""The fence of one run on a cluster that is not ours: what we create gets the run's id, and stays on the run's nodes.

Names of the whole cluster get a suffix, so that what is read back can be shown as the scenario wrote it: taking the
suffix out of the bytes is enough, wherever a scheduler has quoted a name. Pure: manifests and paths in, the same out.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muster.errors import HarnessError

RUN_LABEL = "muster.dev/run"
HOME = "default"  # the namespace that the documents work in; the run has its own in its place
_ALPHABET = "bcdfghjkmnpqrstvwxz2456789"  # no vowels: no words by accident
_ID = re.compile(rf"[{_ALPHABET}]{{6}}[0-9a-z]")
_RENAMED_KINDS = frozenset({"Node", "PriorityClass", "Queue", "Device"})
_RENAMED_PATHS = frozenset({"nodes", "priorityclasses", "queues", "devices"})
_KEPT = frozenset({"", "default", "root", "system-cluster-critical", "system-node-critical"})  # everybody's
# Fields, labels and annotations whose value is the name of something that was renamed.
_NAMING = frozenset(
    {
        "priorityClassName",
        "priorityClass",
        "queue",
        "nodeName",
        "kubernetes.io/hostname",
        "scheduling.volcano.sh/queue-name",
        "volcano.sh/queue-name",
    }
)
_GANGS_TOGETHER = "gang.scheduling.koordinator.sh/groups"
QUESTIONS = ("/apis/authorization.k8s.io/", "/apis/authentication.k8s.io/")  # questions that are asked by POST
_READING = frozenset({"GET", "HEAD"})

Manifest = dict[str, Any]


def new_run() -> str:
    """Six letters by chance and a digit for the worker: of one length, so that no id is the beginning of another."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(6)) + "0"


def run_of_worker(run: str, number: int) -> str:
    """The id of one worker's part of a run."""
    if not 0 <= number < 35:
        raise HarnessError(f"on a cluster that is not ours at most 35 workers are possible, not {number + 1}")
    return run[:6] + "123456789abcdefghijklmnopqrstuvwxyz"[number]


def same_run(one: str, other: str) -> bool:
    """Whether they are the same, or parts of the same: a run with workers has an id for each of them."""
    return one[:6] == other[:6]


def is_run(text: str) -> bool:
    return bool(_ID.fullmatch(text))


@dataclass(frozen=True)
class Fence:
    """`scheduler` places the pods that ask for nobody, where we brought it; then it answers to all names, renamed.

    Where it is empty, pods keep the name that they ask for: somebody there answers to it.
    """

    run: str
    scheduler: str = ""

    @property
    def token(self) -> str:
        """In the text of every object of the run, and of no other."""
        return f"muster-{self.run}"

    @property
    def suffix(self) -> str:
        return f"-{self.token}"

    @property
    def home(self) -> str:
        return f"{self.token}-home"

    def name(self, name: str) -> str:
        """A name of the whole cluster as it is there."""
        return name if name in _KEPT or name.endswith(self.suffix) else name + self.suffix

    def namespace(self, name: str) -> str:
        return self.home if name == HOME else name

    def owns_namespace(self, name: str) -> bool:
        return name == self.token or name.startswith(f"{self.token}-")

    def shown(self, raw: bytes) -> bytes:
        """What was read, with the names that the scenario knows."""
        return raw.replace(self.suffix.encode(), b"").replace(self.home.encode(), HOME.encode())

    def path(self, method: str, path: str) -> str:
        """The path with the names as they are there; a write that would leave the fence is refused."""
        parts = path.split("/")
        start = 3 if parts[1] == "api" else 4  # /api/v1/… and /apis/group/version/…
        kind, name, *_ = [*parts[start:], "", ""]
        if kind == "namespaces" and name:
            parts[start + 1] = self.namespace(name)
        elif kind in _RENAMED_PATHS and name:
            parts[start + 1] = self.name(name)
        fenced = "/".join(parts)
        if method not in _READING and not self._is_inside(method, fenced, kind, parts[start + 1 :]):
            raise HarnessError(f"the fence of run {self.run} stopped {method} {fenced}: it is not the run's own")
        return fenced

    def _is_inside(self, method: str, path: str, kind: str, rest: list[str]) -> bool:
        if path.startswith(QUESTIONS):
            return True
        if kind == "namespaces":
            return self.owns_namespace(rest[0]) if rest else method == "POST"
        if kind not in _RENAMED_PATHS:
            return False  # everything else of the whole cluster is somebody's
        return rest[0].endswith(self.suffix) if rest else method == "POST"

    def selector(self, path: str) -> str:
        """Which of all pods and nodes are meant where no namespace is named: those of the run."""
        return f"{RUN_LABEL}={self.run}" if path in ("/api/v1/pods", "/api/v1/nodes") else ""

    def created(self, manifest: Mapping[str, Any]) -> Manifest:
        """A manifest as it is sent: renamed, labelled, and kept to the run's nodes."""
        sent: Manifest = self._walk("", dict(manifest))
        metadata = sent.setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), RUN_LABEL: self.run}
        kind = sent.get("kind")
        if kind in _RENAMED_KINDS:
            metadata["name"] = self.name(metadata["name"])
        if kind == "Node":
            spec = sent.setdefault("spec", {})
            spec["taints"] = self._taints(spec.get("taints"))
        if kind == "Namespace" and not self.owns_namespace(metadata["name"]):
            raise HarnessError(f"the fence of run {self.run} stopped the namespace {metadata['name']}")
        return sent

    def changed(self, path: str, patch: Mapping[str, Any]) -> Manifest:
        """A patch as it is sent; a node keeps the run's taint whatever else becomes of its taints."""
        sent: Manifest = self._walk("", dict(patch))
        if path.startswith("/api/v1/nodes/") and "taints" in (sent.get("spec") or {}):
            sent["spec"]["taints"] = self._taints(sent["spec"]["taints"])
        return sent

    def _taints(self, taints: list[Manifest] | None) -> list[Manifest]:
        return [*(taints or []), {"key": RUN_LABEL, "value": self.run, "effect": "NoSchedule"}]

    def _walk(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self._named(key, value)
        if isinstance(value, list):
            return [self._walk(key, one) for one in value]
        if not isinstance(value, dict):
            return value
        found = {name: self._walk(name, one) for name, one in value.items()}
        if "containers" in found:
            self._keep_in(found)
        if isinstance(found.get("template"), dict):
            metadata = found["template"].setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), RUN_LABEL: self.run}
        if key in ("target", "ownerReferences") and found.get("kind") in _RENAMED_KINDS:
            found["name"] = self.name(found["name"])
        return found

    def _named(self, key: str, value: str) -> str:
        if key in _NAMING:
            return self.name(value)
        if key == "namespace":
            return self.namespace(value)
        if key == _GANGS_TOGETHER:
            return value.replace(f'"{HOME}/', f'"{self.home}/')
        return value

    def _keep_in(self, pod: Manifest) -> None:
        pod["nodeSelector"] = {**(pod.get("nodeSelector") or {}), RUN_LABEL: self.run}
        ours = {"key": RUN_LABEL, "operator": "Equal", "value": self.run, "effect": "NoSchedule"}
        pod["tolerations"] = [*(pod.get("tolerations") or []), ours]
        if self.scheduler:
            pod["schedulerName"] = self.name(pod.get("schedulerName") or self.scheduler)
