"""From apiVersion and kind to the path of the API, without asking the server: discovery costs a dozen requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from muster.cluster.job_kinds import GROUP, JOB_KINDS, VERSION, JobKind
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
SECRET = Resource("v1", "Secret", "secrets")
_ADMISSION = "admissionregistration.k8s.io/v1"
ADMISSION_POLICY = Resource(_ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies", namespaced=False)
ADMISSION_POLICY_BINDING = Resource(
    _ADMISSION, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", namespaced=False
)
MUTATION_POLICY = Resource(_ADMISSION, "MutatingAdmissionPolicy", "mutatingadmissionpolicies", namespaced=False)
MUTATION_POLICY_BINDING = Resource(
    _ADMISSION, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", namespaced=False
)
WEBHOOK_CONFIGURATION = Resource(
    _ADMISSION, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", namespaced=False
)

MUTATING_WEBHOOK_CONFIGURATION = Resource(
    _ADMISSION, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", namespaced=False
)


def job_resource(kind: JobKind, version: str = VERSION) -> Resource:
    return Resource(f"{GROUP}/{version}", kind.kind, kind.plural)


TRAINING_JOBS = tuple(job_resource(kind) for kind in JOB_KINDS)
_OTHER_JOBS = tuple(job_resource(kind, version) for kind in JOB_KINDS for version in kind.other_versions)
_CONSTANTS = [one for one in list(globals().values()) if isinstance(one, Resource)]
_KNOWN = {(one.api_version, one.kind): one for one in (*_CONSTANTS, *TRAINING_JOBS, *_OTHER_JOBS)}


def custom_resource(api_version: str, kind: str, plural: str, *, namespaced: bool = True) -> Resource:
    """A resource that is defined elsewhere, for example by a scheduler; from now on `resource_of` finds it."""
    resource = Resource(api_version, kind, plural, namespaced)
    return _KNOWN.setdefault((api_version, kind), resource)


def resource_of(manifest: Mapping[str, Any]) -> Resource:
    """The resource that a manifest belongs to."""
    key = (manifest.get("apiVersion", ""), manifest.get("kind", ""))
    try:
        return _KNOWN[key]
    except KeyError:
        raise HarnessError(f"the resource of {key[0]} {key[1]} is unknown: define it with custom_resource()") from None
