"""From apiVersion and kind to the path of the API, without asking the server: discovery costs a dozen requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muster.errors import HarnessError


@dataclass(frozen=True)
class Resource:
    """One resource of the API: what a kind is called in paths, and whether it lives in a namespace."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        root = f"/api/{self.api_version}" if "/" not in self.api_version else f"/apis/{self.api_version}"
        parts = [root]
        if namespace and self.namespaced:
            parts.append(f"namespaces/{namespace}")
        parts.append(self.plural)
        parts.extend(part for part in (name, subresource) if part)
        return "/".join(parts)


POD = Resource("v1", "Pod", "pods")
NODE = Resource("v1", "Node", "nodes", namespaced=False)
EVENT = Resource("v1", "Event", "events")
NAMESPACE = Resource("v1", "Namespace", "namespaces", namespaced=False)
SERVICE_ACCOUNT = Resource("v1", "ServiceAccount", "serviceaccounts")
PRIORITY_CLASS = Resource("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", namespaced=False)
CONFIG_MAP = Resource("v1", "ConfigMap", "configmaps")
SERVICE = Resource("v1", "Service", "services")
DEPLOYMENT = Resource("apps/v1", "Deployment", "deployments")
REPLICA_SET = Resource("apps/v1", "ReplicaSet", "replicasets")
DISRUPTION_BUDGET = Resource("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
LEASE = Resource("coordination.k8s.io/v1", "Lease", "leases")
ROLE_BINDING = Resource("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings")
RESOURCE_QUOTA = Resource("v1", "ResourceQuota", "resourcequotas")
LIMIT_RANGE = Resource("v1", "LimitRange", "limitranges")
ACCESS_REVIEW = Resource(
    "authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)
SELF_REVIEW = Resource("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False)
DEFINITION = Resource(
    "apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", namespaced=False
)
VOLCANO_GROUP = Resource("scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups")
VOLCANO_QUEUE = Resource("scheduling.volcano.sh/v1beta1", "Queue", "queues", namespaced=False)
VOLCANO_COMMAND = Resource("bus.volcano.sh/v1alpha1", "Command", "commands")
PYTORCH_JOB = Resource("kubeflow.org/v1", "PyTorchJob", "pytorchjobs")
MPI_JOB = Resource("kubeflow.org/v1", "MPIJob", "mpijobs")
KOORDINATOR_GROUP = Resource("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", "podgroups")
NATIVE_GROUP = Resource("scheduling.k8s.io/v1beta1", "PodGroup", "podgroups")
PLUGINS_GROUP = Resource("scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups")
SECRET = Resource("v1", "Secret", "secrets")
KUEUE_WORKLOAD = Resource("kueue.x-k8s.io/v1beta2", "Workload", "workloads")
KUEUE_CLUSTER_QUEUE = Resource("kueue.x-k8s.io/v1beta2", "ClusterQueue", "clusterqueues", namespaced=False)
KUEUE_LOCAL_QUEUE = Resource("kueue.x-k8s.io/v1beta2", "LocalQueue", "localqueues")
KUEUE_FLAVOR = Resource("kueue.x-k8s.io/v1beta2", "ResourceFlavor", "resourceflavors", namespaced=False)
KUEUE_TOPOLOGY = Resource("kueue.x-k8s.io/v1beta2", "Topology", "topologies", namespaced=False)
KAI_GROUP = Resource("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups")
KAI_QUEUE = Resource("scheduling.run.ai/v2", "Queue", "queues", namespaced=False)
KOORDINATOR_DEVICE = Resource("scheduling.koordinator.sh/v1alpha1", "Device", "devices", namespaced=False)

_KNOWN = {(one.api_version, one.kind): one for one in list(globals().values()) if isinstance(one, Resource)}


def resource_of(manifest: Mapping[str, Any]) -> Resource:
    """The resource that a manifest belongs to."""
    key = (manifest.get("apiVersion", ""), manifest.get("kind", ""))
    try:
        return _KNOWN[key]
    except KeyError:
        raise HarnessError(f"no path is known for {key[0]} {key[1]}: add it to muster/cluster/resources.py") from None
