"""Existing clusters: reached by a kubeconfig, limited to a run scope, and cleaned up after the run."""

from muster.cluster.existing.existing_cluster import ExistingCluster

__all__ = ["ExistingCluster"]
