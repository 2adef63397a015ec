"""The embedded control plane: etcd, kube-apiserver, kube-controller-manager, KWOK and the simulator on this machine."""

from muster.cluster.local.controlplane import LocalCluster

__all__ = ["LocalCluster"]
