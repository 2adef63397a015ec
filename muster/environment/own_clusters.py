"""Clusters that Muster creates, by the value of --cluster, and the scheduler under test on them.

No other process uses them: manifests are unchanged, and every scheduler can be started. A kind cluster has a
kube-scheduler of its own, which is what `--scheduler kube-scheduler` means there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from muster.cluster.container import ContainerCluster
from muster.cluster.interface import Cluster
from muster.cluster.k3s import K3sCluster
from muster.cluster.kind import KindCluster
from muster.cluster.local import LocalCluster
from muster.environment.in_cluster_scheduler import InClusterScheduler
from muster.errors import UsageError
from muster.operators import choose_operator
from muster.run_options import RunOptions
from muster.schedulers import ProcessContext, Scheduler, choose
from muster.schedulers.kube_scheduler import KubeScheduler


def cluster_description(options: RunOptions) -> str:
    """The cluster, for the reader of a report."""
    return "local (embedded)" if options.cluster == "local" else f"{options.cluster} {options.kind_image}".strip()


def local_cluster(scheduler: str, print_line: Callable[[str], None], *, keep: bool = False) -> LocalCluster:
    """With what this scheduler needs of a control plane; not started yet."""
    chosen, _ = choose(scheduler)
    return LocalCluster(
        feature_gates=chosen.feature_gates,
        runtime_config=chosen.runtime_config,
        controllers=chosen.controllers,
        keep=keep,
        print_line=print_line,
    )


def own_cluster(options: RunOptions, print_line: Callable[[str], None]) -> Cluster:
    """Not started yet."""
    chosen, _ = choose(options.scheduler)
    keep = options.keep
    if options.cluster == "local":
        return local_cluster(options.scheduler, print_line, keep=keep)
    if chosen.feature_gates:
        raise UsageError(f"{options.scheduler} needs feature gates that only a local cluster sets: use --cluster local")
    if choose_operator(options.operator).needs_local_cluster:
        raise UsageError(
            f"{options.operator} has an admission webhook that only a local cluster reaches: use --cluster local"
        )
    if options.cluster == "kind":
        own = comes_with_kind(options.scheduler)
        return KindCluster(
            image=options.kind_image,
            reuse=options.reuse,
            own_scheduler=own,
            real_nodes={"real": True, "simulated": False}.get(options.node_type),
            keep=keep,
            print_line=print_line,
        )
    cluster_class = {"container": ContainerCluster, "k3s": K3sCluster}[options.cluster]
    return cluster_class(keep=keep, print_line=print_line)


def report_kept_files(cluster: Cluster, print_line: Callable[[str], None]) -> None:
    """Say where the files of a stopped local cluster are; other clusters do so themselves."""
    if isinstance(cluster, LocalCluster) and cluster.keep and cluster.logs():
        print_line(f"kept: the files of the cluster, with all logs; when you are done: rm -r {cluster.directory}")


def own_scheduler(cluster: Cluster, scheduler: str, files: Mapping[str, Path]) -> Scheduler:
    """The scheduler under test on a cluster of Muster's own."""
    chosen, configuration = choose(scheduler)
    context = ProcessContext.on(cluster, files)
    if isinstance(cluster, KindCluster) and comes_with_kind(scheduler):
        return KindStaticPodScheduler(cluster, chosen, configuration, context)
    return chosen(configuration, context)


def comes_with_kind(scheduler: str) -> bool:
    """Whether a kind cluster has this scheduler already: kube-scheduler in its default configuration."""
    return choose(scheduler) == (KubeScheduler, "default")


class KindStaticPodScheduler(InClusterScheduler):
    """The kube-scheduler of a kind cluster, a static pod with Muster's settings. It can be paused and killed."""

    def __init__(
        self, cluster: KindCluster, chosen: type[Scheduler], configuration: str, context: ProcessContext
    ) -> None:
        super().__init__(chosen, configuration, context)
        self._cluster = cluster
        self.longest_backoff = self._chosen.longest_backoff  # Muster's settings, not those of an existing cluster

    def settings(self) -> dict[str, str]:
        return self._chosen.settings() | {"scheduler": f"{self.name} of the kind cluster itself"}

    def pause(self) -> None:
        self._cluster.signal_scheduler("STOP")

    def resume(self) -> None:
        self._cluster.signal_scheduler("CONT")

    def kill(self) -> None:
        """The kubelet restarts it."""
        self._cluster.signal_scheduler("KILL")
