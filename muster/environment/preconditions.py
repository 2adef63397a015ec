"""Disruption budgets. Trap: a budget counts as exhausted from its creation on, before anybody has counted.

Its status starts at zero, so a scenario that does not wait for the disruption controller would be right by accident.
"""

from __future__ import annotations

from typing import Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import DISRUPTION_BUDGET, POD
from muster.errors import HarnessError

_LABEL = {"muster.dev/protected": "yes"}
_NAME = "nobody-may-go"


def exhausted_budget(api: Api, namespace: str, pods: tuple[str, ...]) -> None:
    """A budget that can spare none of these running pods, counted by the disruption controller."""
    for pod in pods:
        api.patch(POD, pod, {"metadata": {"labels": _LABEL}}, namespace=namespace)
    api.create(_manifest(len(pods), namespace))
    counted = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(lambda budget: is_exhausted(budget, len(pods))),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        counted(api.get, DISRUPTION_BUDGET, _NAME, namespace)
    except tenacity.RetryError:
        raise HarnessError(
            f"the disruption controller did not count {', '.join(pods)} within {timeouts.SETTING_UP:.0f} s:"
            " look at the controller-manager's log"
        ) from None


def is_exhausted(budget: dict[str, Any], pods: int) -> bool:
    """Counted, all pods found healthy, and none to spare."""
    status = budget.get("status", {})
    counted = status.get("observedGeneration") == budget["metadata"].get("generation")
    return bool(counted and status.get("currentHealthy") == pods and status.get("disruptionsAllowed") == 0)


def _manifest(pods: int, namespace: str) -> dict[str, Any]:
    """All pods with the label must stay; a share or a maximum would need a controller that owns them."""
    return {
        "apiVersion": DISRUPTION_BUDGET.api_version,
        "kind": DISRUPTION_BUDGET.kind,
        "metadata": {"name": _NAME, "namespace": namespace},
        "spec": {"minAvailable": pods, "selector": {"matchLabels": _LABEL}},
    }
