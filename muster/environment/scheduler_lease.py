"""Whether a scheduler that runs in an existing cluster is alive: it renews the Lease by which it leads.

Without a process of its own to look at, Muster takes a scheduler that stops binding for one that was stopped there: an
error. If the process that served before goes on to renew its Lease, it was not stopped and has not crashed (a process
that is started again has another identity), so that it has stopped serving by itself.
"""

from __future__ import annotations

from typing import Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import LEASE

_POLL = 0.5  # seconds; kube-scheduler renews every 2 s


class SchedulerLease:
    """One Lease, by `namespace/name`; of an empty name nothing is known."""

    def __init__(self, api: Api, lease: str) -> None:
        self._api, self._lease = api, lease
        self._holder = ""

    def note_holder(self) -> None:
        """The scheduler has just bound a pod: this is the process that must still be alive later."""
        self._holder = str(self._read().get("holderIdentity", ""))

    def proof_of_life(self) -> str:
        """That the same process renews it from now on, as a text; empty if it does not, or nothing is known."""
        if not self._holder:
            return ""
        before = self._read().get("renewTime")
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda spec: spec.get("renewTime") == before),
            wait=tenacity.wait_fixed(_POLL),
            stop=tenacity.stop_after_delay(timeouts.LEASE_RENEWAL),
            retry_error_callback=lambda _: {},
        )
        renewed = attempts(self._read)
        if not before or renewed.get("holderIdentity") != self._holder:
            return ""
        return f"its process is alive: {self._holder} goes on to renew the Lease {self._lease}"

    def _read(self) -> dict[str, Any]:
        namespace, _, name = self._lease.partition("/")
        if not name:
            return {}
        try:
            spec: dict[str, Any] = self._api.get(LEASE, name, namespace).get("spec", {})
        except ApiRefused:  # it has none: leader election is off, or the cluster hides it
            return {}
        return spec
