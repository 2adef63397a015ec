"""The command lines of the control plane, as data. A flag whose reason is not its name has it beside it.

All four run in the cluster's private directory and use relative paths: nothing depends on the length of TMPDIR (a Unix
socket's path ends at 108 bytes).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# etcd takes "host:port" only, and reads it as a file name in its directory: a socket in a 0700 directory, which no
# other user of the machine can talk to, and no port that could be in use.
_ETCD_CLIENTS = "unix://etcd:1"
_ETCD_PEERS = "unix://etcd:2"

# What scenarios rely on, and no more: every further controller costs memory, and watches at the API server.
CONTROLLERS = (
    "namespace-controller",
    "garbage-collector-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "node-lifecycle-controller",
    "taint-eviction-controller",
    "disruption-controller",
    "pod-garbage-collector-controller",
    "job-controller",
    "replicaset-controller",
    "deployment-controller",
    "statefulset-controller",
    "resourcequota-controller",
    "ttl-after-finished-controller",
)
GANG_CONTROLLER = "podgroup-protection-controller"  # exists only where the gate GenericWorkload is on
GANG_GATE = "GenericWorkload"


def etcd() -> list[str]:
    return [
        "--name=muster",
        "--data-dir=etcd",
        f"--listen-client-urls={_ETCD_CLIENTS}",
        f"--advertise-client-urls={_ETCD_CLIENTS}",
        f"--listen-peer-urls={_ETCD_PEERS}",
        f"--initial-advertise-peer-urls={_ETCD_PEERS}",
        f"--initial-cluster=muster={_ETCD_PEERS}",
        "--unsafe-no-fsync=true",  # the data dies with the cluster: waiting for the disk buys nothing
        "--enable-grpc-gateway=false",  # nobody speaks JSON to it
        "--log-level=warn",
    ]


def kube_apiserver(port: int, feature_gates: Mapping[str, bool], runtime_config: Sequence[str]) -> list[str]:
    return [
        f"--etcd-servers={_ETCD_CLIENTS}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--advertise-address=127.0.0.1",  # a machine without a default route has no address to guess
        "--endpoint-reconciler-type=none",  # and a loopback address is refused as an endpoint
        "--tls-cert-file=certificates/kube-apiserver.crt",
        "--tls-private-key-file=certificates/kube-apiserver.key",
        "--client-ca-file=certificates/ca.crt",
        f"--service-account-issuer=https://127.0.0.1:{port}/",
        "--service-account-key-file=certificates/service-accounts.key",
        "--service-account-signing-key-file=certificates/service-accounts.key",
        "--authorization-mode=RBAC",
        "--enable-admission-plugins=ExtendedResourceToleration",  # pods that ask for GPUs tolerate a taint of that name
        "--service-cluster-ip-range=10.0.0.0/24",
        "--allow-privileged=true",  # documents' manifests ask for it
        "--enable-priority-and-fairness=false",  # one user on one machine: queueing requests only distorts times
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--delete-collection-workers=8",  # a scenario's clean-up deletes whole collections
        "--shutdown-delay-duration=0s",
        "--profiling=false",
        *_gates(feature_gates),
        *([f"--runtime-config={','.join(runtime_config)}"] if runtime_config else []),
    ]


def kube_controller_manager(feature_gates: Mapping[str, bool]) -> list[str]:
    gangs = [GANG_CONTROLLER] if feature_gates.get(GANG_GATE) else []
    return [
        "--kubeconfig=kube-controller-manager.kubeconfig",
        "--use-service-account-credentials=true",  # its built-in role covers no more than handing out these
        "--leader-elect=false",  # alone, and a restart would wait 15 s for the old lease
        "--service-account-private-key-file=certificates/service-accounts.key",
        "--root-ca-file=certificates/ca.crt",
        "--secure-port=0",  # its work is the proof of its health: the default service account appears
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        f"--controllers={','.join([*CONTROLLERS, *gangs])}",
        # Nodes are objects without a kubelet: silence is no sign of trouble. A node is down when its condition says so.
        "--node-monitor-grace-period=24h",
        "--node-startup-grace-period=24h",
        "--node-monitor-period=1s",  # how soon a node that is down gets its NoExecute taint
        "--node-eviction-rate=10",  # taints per second: by default the second node that is down waits 10 s for its own
        "--concurrent-namespace-syncs=20",  # namespaces of finished scenarios go in the background
        "--profiling=false",
        *_gates(feature_gates),
    ]


def kwok(
    port: int, stages: Path, *, kubeconfig: str = "kwok.kubeconfig", only: str = "", lease_seconds: int = 0
) -> list[str]:
    """`only` is a selector of labels, for a cluster whose other nodes are real."""
    return [
        f"--kubeconfig={kubeconfig}",
        f"--config={stages}",
        f"--manage-nodes-with-label-selector={only}" if only else "--manage-all-nodes=true",
        # No leases where nobody looks for them: with them KWOK ignores a pod until it has seen its own lease on the
        # pod's node, which costs a new node its first moments and a restarted KWOK its first 40 s. Our
        # controller-manager does not miss them (above).
        f"--node-lease-duration-seconds={lease_seconds}",
        "--cidr=10.64.0.0/10",  # of the pods
        "--node-ip=172.16.0.1",  # the host of a pod whose node has no address yet
        f"--server-address=127.0.0.1:{port}",
    ]


def player(kubeconfig: str = "player.kubeconfig", *, only: str = "") -> list[str]:
    only_these = [f"--only={only}"] if only else []
    return [sys.executable, "-P", "-m", "muster.player", f"--kubeconfig={kubeconfig}", *only_these]


def _gates(feature_gates: Mapping[str, bool]) -> list[str]:
    if not feature_gates:
        return []
    return ["--feature-gates=" + ",".join(f"{gate}={str(on).lower()}" for gate, on in feature_gates.items())]
