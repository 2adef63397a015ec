"""Clusters that Muster makes for itself, by the word after --cluster, and who is judged on them.

They are ours alone: manifests run unchanged, and every scheduler can be brought along. A kind cluster comes with one of
its own, which is what `--scheduler kube-scheduler` means there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from muster.cluster.clusters import Cluster
from muster.cluster.container import ContainerCluster
from muster.cluster.k3s import K3sCluster
from muster.cluster.kind import KindCluster
from muster.cluster.local import LocalCluster
from muster.commands import on_our_own
from muster.errors import UsageError
from muster.stage.residents import Resident
from muster.subject import Subject, Workplace, choose
from muster.subject.kube_scheduler import KubeScheduler


@dataclass(frozen=True, kw_only=True)
class Wish:
    """Where to run, as it was asked for."""

    cluster: str = "local"
    image: str = ""  # of kind's node: a reference or an archive
    reuse: bool = False  # the kind cluster of the last run

    def __str__(self) -> str:
        """In the words of the command line."""
        return on_our_own(self.cluster, self.image, reuse=self.reuse)

    @property
    def described(self) -> str:
        """For the reader of a report."""
        return "local (embedded)" if self.cluster == "local" else f"{self.cluster} {self.image}".strip()


def own_cluster(wish: Wish, scheduler: str, *, keep: bool, say: Callable[[str], None]) -> Cluster:
    """Not started yet."""
    chosen, _ = choose(scheduler)
    if wish.cluster == "local":
        gates, served = chosen.feature_gates, chosen.runtime_config
        return LocalCluster(feature_gates=gates, runtime_config=served, keep=keep, say=say)
    if chosen.feature_gates:
        raise UsageError(f"{scheduler} needs feature gates that only a local cluster is given: use --cluster local")
    if wish.cluster == "kind":
        own = comes_with_kind(scheduler)
        return KindCluster(image=wish.image, reuse=wish.reuse, own_scheduler=own, keep=keep, say=say)
    made = {"container": ContainerCluster, "k3s": K3sCluster}[wish.cluster]
    return made(keep=keep, say=say)


def say_what_is_kept(cluster: Cluster, say: Callable[[str], None]) -> None:
    """Of a cluster that was stopped, if it is made of processes: its files. Others say so themselves."""
    if isinstance(cluster, LocalCluster) and cluster.keep and cluster.logs():
        say(f"kept: the files of the cluster, with all logs; when you are done: rm -r {cluster.directory}")


def own_subject(cluster: Cluster, scheduler: str, files: Mapping[str, Path]) -> Subject:
    """Who is judged there."""
    chosen, configuration = choose(scheduler)
    workplace = Workplace.on(cluster, files)
    if isinstance(cluster, KindCluster) and comes_with_kind(scheduler):
        return InTheNode(cluster, chosen, configuration, workplace)
    return chosen(configuration, workplace)


def comes_with_kind(scheduler: str) -> bool:
    """Whether a kind cluster has it already: kube-scheduler, unless with a configuration of the user's."""
    return choose(scheduler) == (KubeScheduler, "default")


class InTheNode(Resident):
    """The scheduler of a kind cluster, a static pod with Muster's settings. It is ours to pause and to kill."""

    def __init__(self, cluster: KindCluster, chosen: type[Subject], configuration: str, workplace: Workplace) -> None:
        super().__init__(chosen, configuration, workplace)
        self._cluster = cluster

    @property
    def longest_backoff(self) -> float:
        return self._there.longest_backoff

    def settings(self) -> dict[str, str]:
        return self._there.settings() | {"scheduler": f"{self.name} of the kind cluster itself"}

    def pause(self) -> None:
        self._cluster.signal_scheduler("STOP")

    def resume(self) -> None:
        self._cluster.signal_scheduler("CONT")

    def kill(self) -> None:
        """The kubelet starts it again."""
        self._cluster.signal_scheduler("KILL")
