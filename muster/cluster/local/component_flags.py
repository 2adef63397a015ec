"""The flags of the control plane's components, each with its reason where the name does not say it.

The components run in the cluster's private directory and use relative paths: nothing depends on the length of TMPDIR (a
Unix socket's path has at most 108 bytes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# etcd accepts "host:port" only, and uses it as a file name in its directory: a Unix socket in a 0700 directory, which
# no other user of the machine can connect to, and no port that could be in use.
_ETCD_CLIENTS = "unix://etcd:1"
_ETCD_PEERS = "unix://etcd:2"

# Only those that scenarios rely on: every further controller costs memory, and watches at the API server.
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
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",  # without these two a volume or claim that was in use is never deleted
    "persistentvolumeclaim-protection-controller",
    "ephemeral-volume-controller",
)


def etcd() -> list[str]:
    return [
        "--name=muster",
        "--data-dir=etcd",
        f"--listen-client-urls={_ETCD_CLIENTS}",
        f"--advertise-client-urls={_ETCD_CLIENTS}",
        f"--listen-peer-urls={_ETCD_PEERS}",
        f"--initial-advertise-peer-urls={_ETCD_PEERS}",
        f"--initial-cluster=muster={_ETCD_PEERS}",
        "--unsafe-no-fsync=true",  # the data is deleted with the cluster: no need to wait for the disk
        "--enable-grpc-gateway=false",  # no client uses JSON
        "--log-level=warn",
    ]


def kube_apiserver(port: int, feature_gates: Mapping[str, bool], runtime_config: Sequence[str]) -> list[str]:
    return [
        f"--etcd-servers={_ETCD_CLIENTS}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--advertise-address=127.0.0.1",  # a machine without a default route has no address to detect
        "--endpoint-reconciler-type=none",  # a loopback address is refused as an endpoint
        "--tls-cert-file=certificates/kube-apiserver.crt",
        "--tls-private-key-file=certificates/kube-apiserver.key",
        "--client-ca-file=certificates/ca.crt",
        f"--service-account-issuer=https://127.0.0.1:{port}/",
        "--service-account-key-file=certificates/service-accounts.key",
        "--service-account-signing-key-file=certificates/service-accounts.key",
        "--authorization-mode=RBAC",
        "--enable-admission-plugins=ExtendedResourceToleration",  # pods that request GPUs tolerate their taint
        "--service-cluster-ip-range=10.0.0.0/24",
        "--allow-privileged=true",  # the walk-throughs' manifests need it
        "--enable-priority-and-fairness=false",  # one user on one machine: queueing requests only distorts times
        "--max-requests-inflight=0",
        "--max-mutating-requests-inflight=0",
        "--delete-collection-workers=8",  # a scenario's clean-up deletes whole collections
        "--shutdown-delay-duration=0s",
        "--profiling=false",
        *_gates(feature_gates),
        *([f"--runtime-config={','.join(runtime_config)}"] if runtime_config else []),
    ]


def kube_controller_manager(feature_gates: Mapping[str, bool], controllers: Sequence[str] = ()) -> list[str]:
    """`controllers` run beside CONTROLLERS: those that exist only with a feature gate."""
    return [
        "--kubeconfig=kube-controller-manager.kubeconfig",
        "--use-service-account-credentials=true",  # its built-in role only allows creating these
        "--leader-elect=false",  # one instance, and a restart would wait 15 s for the old lease
        "--service-account-private-key-file=certificates/service-accounts.key",
        "--root-ca-file=certificates/ca.crt",
        "--secure-port=0",  # its health shows when the default service account is created
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        f"--controllers={','.join([*CONTROLLERS, *controllers])}",
        # Nodes have no kubelet: a missing heartbeat means nothing. A node is down when its Ready condition says so.
        "--node-monitor-grace-period=24h",
        "--node-startup-grace-period=24h",
        "--node-monitor-period=1s",  # the delay before a node that is down gets its NoExecute taint
        "--node-eviction-rate=10",  # taints per second: by default a second node that is down gets its taint 10 s later
        "--concurrent-namespace-syncs=20",  # namespaces of finished scenarios are deleted in the background
        "--profiling=false",
        *_gates(feature_gates),
    ]


def _gates(feature_gates: Mapping[str, bool]) -> list[str]:
    if not feature_gates:
        return []
    return ["--feature-gates=" + ",".join(f"{gate}={str(on).lower()}" for gate, on in feature_gates.items())]
