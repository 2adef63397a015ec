"""kind clusters: a cluster of one run, or one that is reused from run to run."""

from muster.cluster.kind.kind_cluster import KindCluster

__all__ = ["KindCluster"]
