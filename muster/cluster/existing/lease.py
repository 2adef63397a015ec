"""Whether a run is alive: its namespace names its process, and a Lease in it is renewed while that process runs.

On the machine of the run the process itself is checked; from another machine, the Lease. A run whose Lease was not
renewed for a minute counts as dead, so that its leftovers can be deleted.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import LEASE
from muster.errors import MusterError

HOLDER = "muster.dev/holder"
_LEASE = "heartbeat"
_INTERVAL = 15.0  # seconds
_ENDED = ("Z", "X", "x")  # states of a process


def holder() -> str:
    """Identifies this process and no other: machine, process id, and start time."""
    return f"{_machine()}-{os.getpid()}-{_start_time(os.getpid())}"


def alive_because(api: Api, namespace: dict[str, Any]) -> str:
    """Why the run with this first namespace counts as alive; empty when it is dead."""
    metadata = namespace["metadata"]
    machine, _, process = (metadata.get("annotations") or {}).get(HOLDER, "").partition("-")
    if machine == _machine():
        pid, _, started = process.partition("-")
        return f"it is process {pid} here" if pid.isdecimal() and _start_time(int(pid)) == started else ""
    try:
        renewed: str = api.get(LEASE, _LEASE, metadata["name"])["spec"]["renewTime"]
    except ApiRefused as refusal:
        if refusal.status == 403:  # unknown: a run that may be alive must not be deleted
            return "its Lease may not be read: have an administrator apply what `muster rbac` prints"
        if refusal.status != 404:
            raise
        renewed = metadata["creationTimestamp"]  # no Lease yet: the run may just have started
    age = (api.now() - datetime.datetime.fromisoformat(renewed)).total_seconds()
    return f"its Lease was renewed {max(age, 0):.0f} s ago" if age < timeouts.LEASE_EXPIRED else ""


class Heartbeat(threading.Thread):
    """Renews the Lease of a run until stopped; `besides` is called before every renewal."""

    def __init__(self, api: Api, namespace: str, besides: Callable[[], None]) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._api, self._namespace, self._besides = api, namespace, besides
        self._stopping = threading.Event()

    def begin(self) -> None:
        metadata = {"name": _LEASE, "namespace": self._namespace}
        lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": metadata, "spec": self._spec()}
        self._api.ensure(lease)
        self.start()

    def run(self) -> None:
        while not self._stopping.wait(_INTERVAL):
            try:
                self._besides()
                self._api.patch(LEASE, _LEASE, {"spec": self._spec()}, namespace=self._namespace)
            except (MusterError, OSError):
                continue  # the next renewal may succeed; if none does, the run itself fails as well

    def stop(self) -> None:
        self._stopping.set()

    def _spec(self) -> dict[str, Any]:
        now = self._api.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {"holderIdentity": holder(), "leaseDurationSeconds": int(timeouts.LEASE_EXPIRED), "renewTime": now}


def _machine() -> str:
    """The same in all processes that see each other's process ids, and in no others."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    parts = [socket.gethostname(), boot.read_text() if boot.exists() else ""]
    parts += [os.readlink("/proc/self/ns/pid")] if Path("/proc/self/ns/pid").exists() else []
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _start_time(pid: int) -> str:
    """When a process started, in ticks; empty when there is none, or only a zombie."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in _ENDED else fields[18]
