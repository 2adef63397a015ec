"""Schedulers that run inside a kind cluster: its own kube-scheduler, and what is installed there.

Both are paused and killed by signals inside the control plane's node. A kubelet restarts what was killed.
"""

from __future__ import annotations

from collections.abc import Mapping

from muster.cluster.kind import KindCluster
from muster.environment.in_cluster_scheduler import InClusterScheduler
from muster.errors import NotStaged
from muster.schedulers import ProcessContext, Scheduler


class _KindScheduler(InClusterScheduler):
    def __init__(
        self, cluster: KindCluster, chosen: type[Scheduler], configuration: str, context: ProcessContext
    ) -> None:
        super().__init__(chosen, configuration, context)
        self._cluster = cluster

    def pause(self) -> None:
        self._cluster.signal_scheduler("STOP")

    def resume(self) -> None:
        self._cluster.signal_scheduler("CONT")

    def kill(self) -> None:
        self._cluster.signal_scheduler("KILL")


class KindStaticPodScheduler(_KindScheduler):
    """The kube-scheduler of a kind cluster, a static pod with Muster's settings."""

    def __init__(
        self, cluster: KindCluster, chosen: type[Scheduler], configuration: str, context: ProcessContext
    ) -> None:
        super().__init__(cluster, chosen, configuration, context)
        self.longest_backoff = self._chosen.longest_backoff  # Muster's settings, not those of an existing cluster

    def settings(self) -> dict[str, str]:
        return self._chosen.settings() | {"scheduler": f"{self.name} of the kind cluster itself"}


class InstalledScheduler(_KindScheduler):
    """A scheduler that Muster has installed from its manifests, with the back-off of its usual installation."""

    def settings(self) -> dict[str, str]:
        installed = self._cluster.installation
        where = f"installed in the kind cluster by {installed.title}" if installed else ""
        return super().settings() | {"scheduler": f"{self.dialect.scheduler_name}, {where}"}

    def configure(self, policy: Mapping[str, str]) -> None:
        if policy:
            raise NotStaged(f"Muster does not change the settings of {self.name} where its manifests have them")
