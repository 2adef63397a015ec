"""Preconditions that a scenario creates or checks in the cluster: an exhausted PodDisruptionBudget, admission of GPUs.

Trap: a budget counts as exhausted from its creation on, because its status starts at zero. A scenario that does not
wait for the disruption controller would pass by accident.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import DISRUPTION_BUDGET, POD
from muster.errors import HarnessError, NotStaged
from muster.recording.quantities import GPU
from muster.schedulers.requests import PodRequest

if TYPE_CHECKING:
    from muster.environment.scenario import ScenarioContext

_LABEL = {"muster.dev/protected": "yes"}
_NAME = "no-disruptions"


def create_exhausted_budget(api: Api, namespace: str, pods: tuple[str, ...]) -> None:
    """Create a budget that allows no disruption of these running pods, and wait until it is counted."""
    for pod in pods:
        api.patch(POD, pod, {"metadata": {"labels": _LABEL}}, namespace=namespace)
    api.create(_budget_manifest(len(pods), namespace))
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(lambda budget: is_exhausted(budget, len(pods))),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        attempts(api.get, DISRUPTION_BUDGET, _NAME, namespace)
    except tenacity.RetryError:
        raise HarnessError(
            f"the disruption controller did not count {', '.join(pods)} within {timeouts.SETTING_UP:.0f} s:"
            " look at the controller-manager's log"
        ) from None


def is_exhausted(budget: dict[str, Any], pods: int) -> bool:
    """Whether the controller has counted, found all pods healthy, and allows no disruption."""
    status = budget.get("status", {})
    counted = status.get("observedGeneration") == budget["metadata"].get("generation")
    return bool(counted and status.get("currentHealthy") == pods and status.get("disruptionsAllowed") == 0)


def _budget_manifest(pods: int, namespace: str) -> dict[str, Any]:
    """All pods with the label must stay; a percentage or maxUnavailable would need a controller that owns them."""
    return {
        "apiVersion": DISRUPTION_BUDGET.api_version,
        "kind": DISRUPTION_BUDGET.kind,
        "metadata": {"name": _NAME, "namespace": namespace},
        "spec": {"minAvailable": pods, "selector": {"matchLabels": _LABEL}},
    }


def require_added_toleration(scenario: ScenarioContext) -> None:
    """NotStaged unless admission adds the toleration of the GPU taint (plugin ExtendedResourceToleration)."""
    pod = scenario.scheduler.dialect.pod_manifest(PodRequest("dry-run", 1), scenario.namespace)
    created = scenario.api.dry_run(pod)
    if not any(one.get("key") == GPU for one in created["spec"].get("tolerations", [])):
        raise NotStaged("the admission plugin ExtendedResourceToleration is off on this cluster")


def require_resource_claims(scenario: ScenarioContext) -> None:
    """NotStaged unless the API server keeps spec.resourceClaims: one without the feature gate drops the field."""
    request = PodRequest("dry-run", resource_claim="dry-run")
    created = scenario.api.dry_run(scenario.scheduler.dialect.pod_manifest(request, scenario.namespace))
    if not created["spec"].get("resourceClaims"):
        raise NotStaged("the feature gate DynamicResourceAllocation is off on this cluster")
