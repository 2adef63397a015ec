"""What a place to run must offer, whoever made it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

from muster.cluster.connections import Connection


class Cluster(Protocol):
    """An embedded plane, or somebody's cluster. `capabilities` say what can be staged there."""

    capabilities: frozenset[str]
    keep: bool  # whether `stop` leaves what can be looked at

    @property
    def directory(self) -> Path:
        """Where processes beside it work, and leave their logs."""

    def start(self) -> Connection:
        """Reachable, and ready for pods; on any trouble nothing is left behind."""

    def stop(self) -> None:
        """Nothing of ours is left, unless it is to be kept."""

    def check(self) -> None:
        """Raise when something that it needs has died."""

    def client_kubeconfig(self, user: Literal["admin", "scheduler"]) -> Path:
        """For processes beside it."""

    def logs(self) -> dict[str, Path]:
        """By the name of the process."""
