"""The nodes of a scenario on real workers: a kubelet starts and ends the containers, and no simulator plays them.

A worker has the GPUs, labels and taints of the scenario's node while it is used, and is cordoned otherwise. A container
ends, with an exit code, at a request that the API server passes on to it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol

from muster import timeouts
from muster.assertions.invariants import no_node_overcommitted
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import NODE, POD
from muster.environment.cluster_objects import taint_manifest
from muster.environment.container_logs import ContainerLogs
from muster.environment.kubelet_checks import KubeletLeases, check_containers, check_nodes
from muster.environment.node_plan import NodePlan
from muster.environment.simulated_nodes import Manifest, SimulatedNodes
from muster.errors import ConformanceFailure, HarnessError
from muster.recording.history import History
from muster.recording.quantities import GPU, amounts
from muster.recording.questions import Answer, Outcome, Question
from muster.schedulers.requests import NodeRequest, PodRequest

_CONTROL_PORT = 8099  # of the program `training`, in ci/toolchain
_REJECTED = ("OutOf", "UnexpectedAdmissionError")  # reasons of pods that a kubelet does not admit
_KILLED = 137
_CORDONED = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
_OWN_LABELS = ("kubernetes.io/hostname",)  # that a kubelet sets itself


class GpuCounts(Protocol):
    """A cluster that sets the number of GPUs of its workers."""

    def set_gpus(self, counts: Mapping[str, int]) -> None:
        """Return when the device plugins have the numbers; the kubelets report them a moment later."""


class RealNodes(SimulatedNodes):
    """`scenario.nodes` where the plan has mapped every node that takes pods to a worker."""

    grace = 1
    look_at = "docker logs {}"  # shows why a node is not ready

    def __init__(self, api: Api, labels: dict[str, str], plan: NodePlan, cluster: GpuCounts | None) -> None:
        super().__init__(api, labels, plan)
        self._mapping, self._cluster = plan, cluster
        self._used: list[NodeRequest] = []
        self._logs = ContainerLogs(api)
        self._leases = KubeletLeases(api)

    def __len__(self) -> int:
        return len(self._created) + len(self._used)

    def next_name(self) -> str:
        return self._mapping.real[super().next_name()]

    def add(self, request: NodeRequest) -> None:
        if request.name not in self._mapping.real.values():
            super().add(request)
            return
        assert self._cluster
        self._cluster.set_gpus({request.name: request.gpus})
        self._used.append(request)
        taints = [taint_manifest(taint) for taint in request.taints]
        labels = {**self._labels, **request.labels}
        # A merge patch replaces all taints: that of a cordoned node stays until the node is opened.
        change = {"metadata": {"labels": labels}, "spec": {"taints": [*taints, _CORDONED]}}
        self._api.patch(NODE, request.name, change)

    def open(self, requests: list[NodeRequest]) -> None:
        """Not before: a scheduler would use the GPUs that the worker had in another scenario."""
        for request in [one for one in self._used if one in requests]:
            taints = [taint_manifest(taint) for taint in request.taints]
            self._api.patch(NODE, request.name, {"spec": {"taints": taints or None, "unschedulable": None}})

    def ready(self, requests: list[NodeRequest]) -> Question:
        """Ready, and with the GPUs of the scenario: a kubelet that knows none would accept every pod."""
        simulated, gpus = super().ready(requests), {request.name: request.gpus for request in requests}

        def ask(history: History) -> Answer:
            answer = simulated.ask(history)
            if answer.outcome is not Outcome.TRUE:
                return answer
            for request in self._used:
                node = history.nodes[request.name].latest
                found = amounts(node.status.allocatable).get(GPU, 0) // 1000
                if request.name in gpus and found != request.gpus:
                    return Answer(Outcome.PENDING, f"{request.name} reports {found} of {request.gpus} GPUs")
            return answer

        return Question(simulated.wanted, ask)

    def check(self, history: History) -> None:
        """A node that does not work is the cluster's fault; a pod that its kubelet rejects may be the scheduler's."""
        with history.changed:
            check_nodes(history, self._workers, self.look_at)
            check_containers(history, self._workers)
            check_rejections(history)
            self._logs.follow(history, [pod for pod in history.pods if pod.node in self._workers])

    def prove_live(self) -> None:
        """Raise unless every kubelet answers: one that is silent would make the scheduler look slow."""
        self._leases.await_renewal(self._workers, self.look_at)

    def adapt(self, manifest: Manifest, request: PodRequest) -> Manifest:
        """A container that ends is not started again; one with a long grace period ignores SIGTERM."""
        manifest["spec"].setdefault("restartPolicy", "Never")
        if request.long_grace_period:
            for container in manifest["spec"]["containers"]:
                container.setdefault("env", []).append({"name": "MUSTER_ON_SIGTERM", "value": "ignore"})
        return manifest

    def end(self, namespace: str, pod: str, code: int) -> None:
        """By the container itself. One with restartPolicy Always would start again: its owner deletes the pod."""
        try:
            found = self._api.get(POD, pod, namespace)
        except ApiRefused as refusal:
            if refusal.status == 404:
                return
            raise
        if found["status"]["phase"] in ("Succeeded", "Failed"):
            return
        if found["spec"]["restartPolicy"] == "Always":
            self._api.delete(POD, pod, namespace, grace=self.grace)
            return
        self._exit(namespace, pod, code)

    def end_grace_period(self, namespace: str, pod: str) -> None:
        """The container ends as if it was killed. A grace period that is shortened would do, but a kubelet does not
        always notice that: one of two pods was still running after five minutes."""
        self._exit(namespace, pod, _KILLED)

    def _exit(self, namespace: str, pod: str, code: int) -> None:
        """Without an answer the container may have ended all the same: the caller waits until the pod has."""
        path = POD.path(namespace, f"{pod}:{_CONTROL_PORT}", "proxy/exit")
        with suppress(HarnessError, ApiRefused):
            self._api.post(path, {}, code=str(code))

    def logs(self, history: History) -> str:
        """The first line of a container names its GPUs."""
        return self._logs.text()

    @property
    def _workers(self) -> set[str]:
        return {request.name for request in self._used}

    def delete_pods(self, history: History, namespace: str) -> None:
        """And wait until the kubelets have ended them: what they hold is not free for the next scenario before."""
        with history.changed:
            terminating = [pod for pod in history.pods if pod.running and pod.deleting and not (pod.gone or pod.ended)]
        for pod in terminating:
            self._exit(pod.namespace, pod.name, _KILLED)
        super().delete_pods(history, namespace)
        deadline = time.monotonic() + timeouts.SETTING_UP
        with history.changed:
            while left := [pod.name for pod in history.pods if pod.bound and not pod.gone]:
                if time.monotonic() > deadline:
                    raise HarnessError(f"the kubelets have not ended {', '.join(left)}: see `docker logs` of the nodes")
                history.changed.wait(timeouts.HEALTH_CHECK)

    def remove(self) -> None:
        """Cordon the workers, and take labels and taints of the scenario from them."""
        super().remove()
        for request in self._used:
            labels: dict[str, Any] = {
                label: None for label in (*self._labels, *request.labels) if label not in _OWN_LABELS
            }
            change = {"metadata": {"labels": labels}, "spec": {"unschedulable": True, "taints": None}}
            self._api.patch(NODE, request.name, change)


def check_rejections(history: History) -> None:
    """A kubelet rejects a pod that does not fit: a failure if the recorded bindings say so, too, else an error."""
    for pod in history.pods:
        status = pod.latest.status
        if status.phase != "Failed" or not status.reason.startswith(_REJECTED):
            continue
        said = f"the kubelet of {pod.node} rejected {pod.name}: {status.reason}: {status.message}"
        if excess := no_node_overcommitted(history):
            seen = "; ".join([*excess, said])
            raise ConformanceFailure(f"wanted   no node with more pods bound to it than fit\nseen     {seen}")
        raise HarnessError(f"{said}, although everything that is bound there fits according to the recording")
