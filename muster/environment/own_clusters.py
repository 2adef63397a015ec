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
from muster.cluster.kind.installation import Installation
from muster.cluster.local import LocalCluster
from muster.environment.in_cluster_scheduler import InstalledScheduler, KindStaticPodScheduler
from muster.errors import UsageError
from muster.operators import choose_operator
from muster.run_options import RunOptions
from muster.schedulers import ProcessContext, Scheduler, choose
from muster.schedulers.custom import CustomScheduler
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
    installation = installation_of(options)
    if options.cluster == "local":
        return local_cluster(options.scheduler, print_line, keep=keep)
    if chosen.feature_gates:
        raise UsageError(f"{options.scheduler} needs feature gates that only a local cluster sets: use --cluster local")
    installed_operator = installation is not None and installation.operator
    if choose_operator(options.operator).needs_local_cluster and not installed_operator:
        raise UsageError(
            f"{options.operator} has an admission webhook that only a local cluster reaches: use --cluster local, or"
            " install it in a kind cluster with --installation"
        )
    if options.cluster == "kind":
        own = comes_with_kind(options.scheduler) and not installs_scheduler(installation)
        return KindCluster(
            image=options.kind_image,
            reuse=options.reuse,
            own_scheduler=own or (installs_scheduler(installation) and chosen.leaves_nodes_to_kube_scheduler),
            installation=installation,
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
    if isinstance(cluster, KindCluster) and installs_scheduler(cluster.installation):
        return InstalledScheduler(cluster, chosen, configuration, context)
    if isinstance(cluster, KindCluster) and comes_with_kind(scheduler):
        return KindStaticPodScheduler(cluster, chosen, configuration, context)
    return chosen(configuration, context)


def scheduler_assets(options: RunOptions) -> tuple[str, ...]:
    """The binaries of the scheduler under test; of one that is installed only what renders its manifests."""
    chosen, _ = choose(options.scheduler)
    installation = installation_of(options)
    beside = () if installs_scheduler(installation) else chosen.assets
    return (*beside, *installation.assets) if installation else beside


def operator_assets(options: RunOptions) -> tuple[str, ...]:
    """The binaries of the operator, unless it is installed in the cluster."""
    installation = installation_of(options)
    return () if installation and installation.operator else choose_operator(options.operator).assets


def installs_scheduler(installation: Installation | None) -> bool:
    """Whether the scheduler under test comes with it."""
    return installation is not None and installation.has_scheduler


def installation_of(options: RunOptions) -> Installation | None:
    """What is installed in the cluster instead of running beside it: by --installation, or by the description."""
    if options.installation is not None:
        return Installation.read(str(options.installation))
    chosen, configuration = choose(options.scheduler)
    return CustomScheduler.installation(configuration, options.cluster) if chosen is CustomScheduler else None


def comes_with_kind(scheduler: str) -> bool:
    """Whether a kind cluster has this scheduler already: kube-scheduler in its default configuration."""
    return choose(scheduler) == (KubeScheduler, "default")
