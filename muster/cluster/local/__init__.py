"""A real control plane on this machine: etcd, kube-apiserver, kube-controller-manager, KWOK and the player."""

from muster.cluster.local.plane import LocalCluster

__all__ = ["LocalCluster"]
