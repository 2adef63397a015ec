"""A real Kubernetes in a container of this machine, made by kind: kubelet, static pods, kubeadm's settings and all."""

from muster.cluster.kind.cluster import KindCluster

__all__ = ["KindCluster"]
