"""The nodes of a scenario and the ends of its pods, on simulated nodes: Node objects, and marks that KWOK acts on."""

from __future__ import annotations

from typing import Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import NODE, POD
from muster.cluster.run_scope import DEFAULT_NAMESPACE
from muster.environment.cluster_objects import node_manifest
from muster.environment.node_plan import NodePlan
from muster.errors import HarnessError
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question
from muster.schedulers.requests import NodeRequest, PodRequest
from muster.simulator.peer_loss import EXIT_CODE

Manifest = dict[str, Any]


class SimulatedNodes:
    """`scenario.nodes`. `plan` says why they are not real; None where they could not be."""

    grace = 0  # seconds that pods have when their scenario is over

    def __init__(self, api: Api, labels: dict[str, str], plan: NodePlan | None = None) -> None:
        self._api, self._labels, self.plan = api, labels, plan
        self._created: list[str] = []

    def __len__(self) -> int:
        return len(self._created)

    def next_name(self) -> str:
        """Of a node that the scenario does not name."""
        return f"gpu-{len(self) + 1}"

    def add(self, request: NodeRequest) -> None:
        self._created.append(request.name)
        self._api.create(node_manifest(request, self._labels))

    def ready(self, requests: list[NodeRequest]) -> Question:
        """All of them are ready."""
        names = [request.name for request in requests]

        def ask(history: History) -> Answer:
            missing = [name for name in names if name not in history.nodes or not history.nodes[name].ready]
            return Answer(Outcome.PENDING, f"not ready: {', '.join(missing)}") if missing else Answer(Outcome.TRUE)

        return Question(f"nodes {', '.join(names)} ready", ask)

    def open(self, requests: list[NodeRequest]) -> None:
        """Let pods be bound to nodes that are ready; to simulated ones they can be from the beginning."""
        return

    def check(self, history: History) -> None:
        """Raise when a node does not work; simulated ones always do."""
        return

    def prove_live(self) -> None:
        """Raise unless the kubelets answer; here there are none."""
        return

    def has_own_objects(self, node: str) -> bool:
        """Whether what a scheduler needs to know of this node is created with it."""
        return True

    def adapt(self, manifest: Manifest, request: PodRequest) -> Manifest:
        """The manifest of a pod as these nodes need it."""
        return manifest

    def end(self, namespace: str, pod: str, code: int) -> None:
        """The containers of a running pod end with this exit code."""
        mark = {"metadata": {"annotations": {EXIT_CODE: str(code)}}}
        self._api.patch(POD, pod, mark, namespace=namespace)

    def end_grace_period(self, namespace: str, pod: str) -> None:
        """A terminating pod ends now."""
        self._api.delete(POD, pod, namespace, grace=0)

    def logs(self, history: History) -> str:
        """What the containers have printed; no process runs on simulated nodes."""
        return ""

    def delete_pods(self, history: History, namespace: str) -> None:
        """Delete all pods of a scenario."""
        self._delete_all(namespace)
        for pod, other in history.other_namespaces.items():
            self._api.delete(POD, pod, other, grace=self.grace)

    def delete_late_pods(self, namespace: str) -> None:
        """Also those that were created again meanwhile: the default namespace is shared, and none is left there."""
        if namespace != DEFAULT_NAMESPACE:
            return
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(0.05),
            stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        )

        def delete_and_list() -> list[Any]:
            self._delete_all(namespace)
            found: list[Any] = self._api.list(POD, namespace)["items"]
            return found

        try:
            attempts(delete_and_list)
        except tenacity.RetryError:
            left = ", ".join(one["metadata"]["name"] for one in self._api.list(POD, namespace)["items"])
            raise HarnessError(f"pods of the scenario are not gone: {left}; try MUSTER_TIMEOUT_SCALE=3") from None

    def _delete_all(self, namespace: str) -> None:
        self._api.delete_all(POD, namespace, gracePeriodSeconds=str(self.grace))

    def remove(self) -> None:
        """Delete the nodes, after their pods."""
        for node in self._created:
            self._api.delete(NODE, node, grace=0)
