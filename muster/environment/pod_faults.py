"""Faults that a scenario injects into running pods, to test how an operator handles them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cluster.api import STRATEGIC_PATCH
from muster.cluster.resources import POD
from muster.recording.conventions import BY_SCHEDULER

if TYPE_CHECKING:
    from muster.environment.scenario import ScenarioContext


class PodFaults:
    """`scenario.faults`: crash or preempt a pod."""

    def __init__(self, scenario: ScenarioContext) -> None:
        self._scenario = scenario

    def crash(self, pod: str, code: int) -> None:
        """The containers of the pod end with this exit code."""
        self._scenario.remove_on_purpose(pod)
        self._scenario.nodes.end(self._scenario.namespace, pod, code)
        self._scenario.note_activity()

    def preempt(self, pod: str) -> None:
        """Condition and deletion, as by any scheduler: here the operator is tested, not the choice of victims."""
        self._scenario.remove_on_purpose(pod)
        condition = {"type": "DisruptionTarget", "status": "True", "reason": BY_SCHEDULER, "message": "injected"}
        api, namespace = self._scenario.api, self._scenario.namespace
        patch = {"status": {"conditions": [condition]}}
        api.patch(POD, pod, patch, namespace=namespace, subresource="status", content_type=STRATEGIC_PATCH)
        api.delete(POD, pod, namespace)
        self._scenario.note_activity()
