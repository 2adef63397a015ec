"""Is a run alive? Its namespace names the process that made it, and a Lease beside it is renewed while that lives.

On the machine of the run the process itself is the answer, at once; from elsewhere it is the Lease. A run that has
stopped beating for a minute counts as dead, so that what it left behind can be swept.
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

from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import LEASE
from muster.errors import MusterError

HOLDER = "muster.dev/holder"
_LEASE = "heartbeat"
_EVERY = 15.0  # seconds
_DEAD_AFTER = 60.0
_DEAD = ("Z", "X", "x")  # states of a process


def holder() -> str:
    """This process, in words that mean it and no other: machine, process id, and when that began."""
    return f"{_machine()}-{os.getpid()}-{_began(os.getpid())}"


def sign_of_life(api: Api, namespace: dict[str, Any]) -> str:
    """What tells that the run whose first namespace this is goes on; empty when nothing does."""
    metadata = namespace["metadata"]
    machine, _, process = (metadata.get("annotations") or {}).get(HOLDER, "").partition("-")
    if machine == _machine():
        pid, _, began = process.partition("-")
        return f"it is process {pid} here" if pid.isdecimal() and _began(int(pid)) == began else ""
    try:
        beat: str = api.get(LEASE, _LEASE, metadata["name"])["spec"]["renewTime"]
    except ApiRefused as refusal:
        if refusal.status == 403:  # not for us to see: that says nothing, and what lives must not be swept
            return "its heartbeat may not be read: have an administrator apply what `muster rbac` prints"
        if refusal.status != 404:
            raise
        beat = metadata["creationTimestamp"]  # no beat yet: it may just have begun
    silent = (api.now() - datetime.datetime.fromisoformat(beat)).total_seconds()
    return f"it was heard of {max(silent, 0):.0f} s ago" if silent < _DEAD_AFTER else ""


class Heartbeat(threading.Thread):
    """Renews the Lease of a run until stopped; `besides` is done with every beat."""

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
        while not self._stopping.wait(_EVERY):
            try:
                self._besides()
                self._api.patch(LEASE, _LEASE, {"spec": self._spec()}, namespace=self._namespace)
            except (MusterError, OSError):
                continue  # the next beat may get through; if none does, the run is in trouble anyway

    def stop(self) -> None:
        self._stopping.set()

    def _spec(self) -> dict[str, Any]:
        now = self._api.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {"holderIdentity": holder(), "leaseDurationSeconds": int(_DEAD_AFTER), "renewTime": now}


def _machine() -> str:
    """The same in all processes that see each other's ids, and in no others."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    seen = [socket.gethostname(), boot.read_text() if boot.exists() else ""]
    seen += [os.readlink("/proc/self/ns/pid")] if Path("/proc/self/ns/pid").exists() else []
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()[:12]


def _began(pid: int) -> str:
    """When a process started, in ticks; empty when there is none, or only what its parent has not buried yet."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state in _DEAD else fields[18]
