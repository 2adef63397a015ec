"""The interface of every kind of cluster, and the connection to its API server."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from muster.cluster.api import Api
    from muster.cluster.kubeconfig_files import Kubeconfig
    from muster.cluster.run_scope import RunScope


@dataclass(frozen=True)
class Connection:
    """A kubeconfig and a context: how to reach an API server. `api` is one connection pool for the whole process."""

    kubeconfig: Path | Kubeconfig
    context: str | None = None
    scope: RunScope | None = None  # limits what a run does on an existing cluster

    @cached_property
    def api(self) -> Api:
        from muster.cluster.run_scope import open_api

        return open_api(self.kubeconfig, self.context, self.scope)


class Cluster(Protocol):
    """A cluster that Muster created, or an existing one. `capabilities` say what a scenario may do to it."""

    capabilities: frozenset[str]
    keep: bool  # whether `stop` leaves the cluster's files for debugging

    @property
    def directory(self) -> Path:
        """The working directory of the processes beside it, with their logs."""

    def start(self) -> Connection:
        """Return when pods can be created; on failure nothing is left behind."""

    def stop(self) -> None:
        """Remove everything that Muster created, unless it is to be kept."""

    def check(self) -> None:
        """Raise when a process that it needs has died."""

    def client_kubeconfig(self, user: Literal["admin", "scheduler"]) -> Path:
        """The kubeconfig of processes beside it."""

    def logs(self) -> dict[str, Path]:
        """Log files by the name of the process."""
