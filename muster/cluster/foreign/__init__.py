"""Somebody's cluster: reached by a kubeconfig, fenced, watched over, and left as it was."""

from muster.cluster.foreign.cluster import ForeignCluster

__all__ = ["ForeignCluster"]
