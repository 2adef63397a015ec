"""`muster up` as a process of its own, with zones, and what a case does on it: submit, wait until quiet, check."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.black_box.checkers import Placement, violations
from bench.black_box.rest import Manifest, PodWatch, Refused, Rest

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ZONES = 5
GPUS = 8  # of each node
GPU = "nvidia.com/gpu"
LIMIT = 60.0  # seconds for what is to be bound, and 0.1 more for each pod
_PROBES = 2
_GROUPS = "/apis/scheduling.volcano.sh/v1beta1/namespaces/{}/podgroups"


class Violation(Exception):
    """The scheduler did not do what the case expects."""


@contextmanager
def muster_up(nodes: int, scheduler: str) -> Iterator[Rest]:
    command = [str(Path(sys.executable).parent / "muster"), "up", "--nodes", str(nodes), "--gpus", str(GPUS)]
    command += ["--scheduler", scheduler, "--operator", "none"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True, start_new_session=True)
    try:
        assert process.stdout is not None
        line = next((line for line in process.stdout if "KUBECONFIG=" in line), "")
        if not line:
            raise SystemExit(f"muster up ended with {process.wait()}")
        rest = Rest(Path(line.strip().partition("KUBECONFIG=")[2]))
        names = [node["metadata"]["name"] for node in rest.request("GET", "/api/v1/nodes")["items"]]
        zone = {name: f"zone-{number % ZONES}" for number, name in enumerate(sorted(names))}
        rest.all(lambda name: patch_node(rest, name, labels={ZONE: zone[name]}), names)
        yield rest
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait()


def patch_node(rest: Rest, name: str, *, labels: Mapping[str, Any] | None = None, taints: Any = ()) -> None:
    body: Manifest = {"metadata": {"labels": dict(labels or {})}}
    if taints != ():
        body["spec"] = {"taints": taints}
    rest.request("PATCH", f"/api/v1/nodes/{name}", body)


def pod(name: str, *, group: str = "", requests: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A pod that requests little; its label `app` is what the selectors of the cases select."""
    needs = dict(requests or {"cpu": "100m"})
    limits = {resource: amount for resource, amount in needs.items() if "/" in resource}
    box = {"name": "main", "image": "none", "resources": {"requests": needs, "limits": limits}}
    box |= spec.pop("container", {})
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    metadata: Manifest = {"name": name, "labels": {"app": "case"} | spec.pop("labels", {}), "annotations": annotations}
    seconds = {"terminationGracePeriodSeconds": 0}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [box], **seconds, **spec}}


@dataclass
class Namespace:
    """One case's namespace. What it changed on nodes is undone at its end."""

    rest: Rest
    name: str
    seconds: float = 0.0  # from the last submission until all that should be was bound
    notes: list[str] = field(default_factory=list)
    _groups: dict[str, int] = field(default_factory=dict)
    _changed_nodes: dict[str, Manifest] = field(default_factory=dict)
    _probes: int = 0

    def __post_init__(self) -> None:
        metadata = {"name": self.name}
        self.rest.request("POST", "/api/v1/namespaces", {"metadata": metadata})
        with suppress(Refused):  # a controller creates it as well
            account = {"metadata": {"name": "default"}}
            self.rest.request("POST", f"/api/v1/namespaces/{self.name}/serviceaccounts", account)
        self._path = f"/api/v1/namespaces/{self.name}/pods"
        self.watch = PodWatch(self.rest, self.name)
        self.nodes: list[Manifest] = self.rest.request("GET", "/api/v1/nodes")["items"]
        self.nodes.sort(key=lambda node: str(node["metadata"]["name"]))
        self.node_names: list[str] = [node["metadata"]["name"] for node in self.nodes]

    def domains(self, key: str) -> list[str]:
        return sorted({node["metadata"]["labels"][key] for node in self.nodes})

    def taint_domain(self, key: str, domain: str) -> None:
        inside = [node for node in self.nodes if node["metadata"]["labels"][key] == domain]
        taint = [{"key": "bench/closed", "value": "", "effect": "NoSchedule"}]
        self.change_nodes([node["metadata"]["name"] for node in inside], taints=taint)

    def change_nodes(self, names: Sequence[str], **change: Any) -> None:
        for name in names:
            gone: Manifest = {"labels": dict.fromkeys(change.get("labels", {}))}
            self._changed_nodes[name] = gone | ({"taints": None} if "taints" in change else {})
        self.rest.all(lambda name: patch_node(self.rest, name, **change), names)

    def submit(self, pods: Sequence[Manifest]) -> None:
        self._submitted = time.monotonic()
        self.rest.create_all(self._path, pods)

    def submit_gang(self, name: str, pods: Sequence[Manifest], minimum: int, **spec: Any) -> None:
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": name}}
        self.rest.request("POST", _GROUPS.format(self.name), group | {"spec": {"minMember": minimum, **spec}})
        self._groups[name] = minimum
        self.submit(pods)

    def quiet(self, bound: int, *, pending: int) -> None:
        """So many are bound, and stay so: probe pods that come later are bound as well, and a pending one says why."""
        limit = LIMIT + 0.1 * (bound + pending)
        self.watch.wait(lambda pods: len(bound_of(pods)) >= bound, limit)
        self.seconds = time.monotonic() - self._submitted
        for _ in range(_PROBES):
            self.probe()
        problems = violations(Placement.of(self.nodes_now(), self.watch.pods()), self._groups)
        seen = len(bound_of(self.watch.pods()))
        if seen != bound:
            problems.insert(0, f"{seen} pods are bound, {bound} should be{self._why()}")
        if problems:
            raise Violation(f"{len(problems)} problems: {'; '.join(problems[:2])}")
        if pending:
            said = self.watch.wait(lambda pods: bool(reasons(pods)), LIMIT)
            self.expect(said, "no pending pod says why it is pending")

    def probe(self) -> float:
        """Create a pod that fits anywhere; the seconds until it is bound."""
        self._probes += 1
        name, created = f"probe-{self._probes}", time.monotonic()
        self.rest.create_all(self._path, [pod(name, labels={"app": "probe"})])
        if not self.watch.wait(lambda pods: name in self.watch.bound_at, LIMIT):
            raise Violation(f"a plain pod is not bound after {LIMIT:.0f} s")
        return self.watch.bound_at[name] - created

    def expect(self, holds: bool, problem: str) -> None:
        if not holds:
            raise Violation(problem)

    def expect_reason(self, text: str) -> None:
        """A pending pod's message has this text. It may come later than the probes."""
        found = self.watch.wait(lambda pods: any(text in reason for reason in reasons(pods)), LIMIT / 4)
        said = sorted(set(reasons(self.watch.pods())))
        self.expect(found, f"no pending pod says {text!r}, but {said[:2]}")

    def clear(self) -> None:
        """No pod and no PodGroup is left in the namespace."""
        self.rest.request("DELETE", self._path, gracePeriodSeconds="0")
        if self._groups:
            self.rest.request("DELETE", _GROUPS.format(self.name))
            self._groups.clear()
        self.expect(self.watch.wait(lambda pods: not pods, LIMIT * 2), "the pods cannot be deleted")
        self.watch.bound_at.clear()
        self.watch.deleted.clear()

    def close(self) -> None:
        self.clear()
        self.watch.close()
        for name, gone in self._changed_nodes.items():
            patch_node(self.rest, name, labels=gone["labels"], taints=gone.get("taints", ()))
        self.rest.request("DELETE", f"/api/v1/namespaces/{self.name}")

    def nodes_now(self) -> list[Manifest]:
        found: list[Manifest] = self.rest.request("GET", "/api/v1/nodes")["items"]
        return found

    def _why(self) -> str:
        said = sorted(set(reasons(self.watch.pods())))
        return f" ({said[0]})" if said else ""


def bound_of(pods: Sequence[Manifest]) -> list[Manifest]:
    """Without probe pods."""
    return [one for one in pods if one["spec"].get("nodeName") and one["metadata"]["labels"]["app"] != "probe"]


def reasons(pods: Sequence[Manifest]) -> list[str]:
    """The messages of pods that are pending because they are unschedulable."""
    return [
        condition.get("message", "")
        for one in pods
        if not one["spec"].get("nodeName")
        for condition in one["status"].get("conditions", [])
        if condition["type"] == "PodScheduled" and condition["status"] == "False" and condition.get("message")
    ]


Run = Callable[[Namespace], None]


@dataclass(frozen=True)
class Case:
    """One row of the table; `gangs` need a scheduler that reads PodGroups."""

    name: str
    run: Run
    gangs: bool = False
