"""Whether kubelets are alive, by their node leases: on kind the control plane itself waits a day before it says so.

Asked before a wait that was in vain counts against the scheduler, and only then: the proof takes as long as a kubelet
needs to renew its lease, 10 s by default.
"""

from __future__ import annotations

from collections.abc import Collection

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import LEASE
from muster.errors import HarnessError

_NAMESPACE = "kube-node-lease"
_PAUSE = 0.5  # seconds between two looks: polled, because this is rare and no watch is open


class KubeletLeases:
    """The leases of nodes, by their names."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def await_renewal(self, nodes: Collection[str], look_at: str) -> None:
        """Return when each of these kubelets has renewed its lease since the call."""
        before = {name: self._renewed(name) for name in nodes}
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(_PAUSE),
            stop=tenacity.stop_after_delay(timeouts.KUBELET_SILENT),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
        )
        silent = attempts(lambda: [name for name, renewed in before.items() if self._renewed(name) == renewed])
        if silent:
            raise HarnessError(
                f"the kubelet of {', '.join(silent)} has not renewed its lease for {timeouts.KUBELET_SILENT:g} s:"
                f" see `{look_at.format(silent[0])}`"
            )

    def _renewed(self, node: str) -> str:
        return str(self._api.get(LEASE, node, _NAMESPACE)["spec"].get("renewTime", ""))
