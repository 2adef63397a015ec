"""RBAC permissions on an existing cluster: the printed roles, checked with the API server one verb at a time.

Muster binds the role `muster-scenario` in each namespace of a run, unless the user has its permissions everywhere. The
API server learns of a binding by a watch, so it is asked until it knows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import tenacity
import yaml

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import ACCESS_REVIEW, ROLE_BINDING, SELF_REVIEW, Resource
from muster.errors import HarnessError
from muster.suite import paths

SCENARIO_ROLE = "muster-scenario"
_CLUSTER_ROLE = Resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", namespaced=False)
_CONCURRENT_REQUESTS = 8
_ANY = "*"
_SEPARATOR = "\n---\n"  # between the documents of a file


@dataclass(frozen=True)
class Permission:
    """One verb on one resource; those of `muster-scenario` are for the namespaces of a run."""

    role: str
    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"

    @property
    def target(self) -> str:
        """The resource, and where."""
        group = f".{self.group}" if self.group else ""
        where = "the run's namespaces" if self.role == SCENARIO_ROLE else self.namespace
        return f"{self.resource}{group}{f' {self.name}' if self.name else ''}{f' in {where}' if where else ''}"


_DELETE_PODS = Permission(SCENARIO_ROLE, "", "pods", "deletecollection")


def roles_yaml(*, real_nodes: bool = False) -> str:
    """The roles as they are printed for an administrator; on real nodes the scenario role has a few rules more."""
    directory = paths.manifests() / "rbac"
    roles = (directory / "muster.yaml").read_text(encoding="utf-8")
    if not real_nodes:
        return roles
    documents = roles.split(_SEPARATOR)
    more = (directory / "real-nodes.yaml").read_text(encoding="utf-8").rstrip()
    return _SEPARATOR.join(f"{one}\n{more}" if f"name: {SCENARIO_ROLE}\n" in one else one for one in documents)


def required(*, real_nodes: bool = False) -> list[Permission]:
    """Every permission of the printed roles."""
    roles = yaml.safe_load_all(roles_yaml(real_nodes=real_nodes))
    return [permission for role in roles for permission in _permissions(role)]


def served_groups(api: Api) -> frozenset[str]:
    return frozenset(group["name"] for group in json.loads(api.read("/apis")).get("groups", []))


def missing_permissions(api: Api, *, groups: frozenset[str], real_nodes: bool = False) -> list[Permission]:
    """The permissions that the user does not have, of those that are needed where these API groups are served.

    Those of a scenario may be granted cluster-wide, or by the role that a run binds: then the role must grant them.
    """
    needed = _needed(groups, real_nodes=real_nodes)
    denied = _denied(api, [permission for permission in needed if permission.role != SCENARIO_ROLE])
    bound = missing_cluster_wide(api, groups=groups, real_nodes=real_nodes)
    return denied + (_not_granted_by_role(api, needed) if bound else [])


def missing_cluster_wide(api: Api, *, groups: frozenset[str], real_nodes: bool = False) -> list[Permission]:
    """The permissions of a scenario that the user does not have in every namespace: for them the role is bound."""
    needed = _needed(groups, real_nodes=real_nodes)
    return _denied(api, [permission for permission in needed if permission.role == SCENARIO_ROLE])


def _needed(groups: frozenset[str], *, real_nodes: bool) -> list[Permission]:
    """Those of groups that the cluster serves: without a scheduler's own API no permission for it is needed."""
    everything = required(real_nodes=real_nodes)
    return [permission for permission in everything if not permission.group or permission.group in groups]


def _denied(api: Api, asked: Sequence[Permission]) -> list[Permission]:
    with ThreadPoolExecutor(_CONCURRENT_REQUESTS) as pool:
        granted = list(pool.map(lambda permission: is_allowed(api, permission), asked))
    return [permission for permission, yes in zip(asked, granted, strict=True) if not yes]


def _not_granted_by_role(api: Api, needed: Sequence[Permission]) -> list[Permission]:
    """Permissions of the printed scenario role that the cluster's role lacks: it is absent, or an older one."""
    try:
        rules = api.get(_CLUSTER_ROLE, SCENARIO_ROLE).get("rules") or []
    except ApiRefused as refusal:
        if refusal.status == 403:
            return []  # the permission to read it is missing, and reported as such
        if refusal.status != 404:
            raise
        rules = []
    return [
        permission
        for permission in needed
        if permission.role == SCENARIO_ROLE and not any(_grants(rule, permission) for rule in rules)
    ]


def _grants(rule: dict[str, Any], permission: Permission) -> bool:
    parts = {"apiGroups": permission.group, "resources": permission.resource, "verbs": permission.verb}
    return "resourceNames" not in rule and all(
        {part, _ANY}.intersection(rule.get(key) or ()) for key, part in parts.items()
    )


def is_allowed(api: Api, permission: Permission) -> bool:
    """Whether the user has this permission (SelfSubjectAccessReview)."""
    resource, _, subresource = permission.resource.partition("/")
    attributes = {"group": permission.group, "resource": resource, "subresource": subresource, "verb": permission.verb}
    attributes |= {"namespace": permission.namespace, "name": permission.name}
    review = {
        "apiVersion": ACCESS_REVIEW.api_version,
        "kind": ACCESS_REVIEW.kind,
        "metadata": {},
        "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
    }
    return bool(api.post(ACCESS_REVIEW.path(), review)["status"].get("allowed"))


def bind_scenario_role(api: Api, namespace: str, awaited: Permission = _DELETE_PODS) -> None:
    """Bind the scenario role to the user in one namespace; return when the API server applies it.

    `awaited` is a permission that the user did not have before: only that shows it.
    """
    review = api.create({"apiVersion": SELF_REVIEW.api_version, "kind": SELF_REVIEW.kind, "metadata": {}})
    user: str = review["status"]["userInfo"]["username"]
    suffix = hashlib.sha256(user.encode()).hexdigest()[:8]  # another user's binding may be there, when cleaning up
    binding = {
        "apiVersion": ROLE_BINDING.api_version,
        "kind": ROLE_BINDING.kind,
        "metadata": {"name": f"{SCENARIO_ROLE}-{suffix}", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": SCENARIO_ROLE},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    api.ensure(binding)
    known = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(bool),
        wait=tenacity.wait_fixed(0.02),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        known(is_allowed, api, replace(awaited, namespace=namespace))
    except tenacity.RetryError:
        raise HarnessError(
            f"the role {SCENARIO_ROLE} does not grant {awaited.verb} {awaited.resource} in {namespace}: "
            "have an administrator apply what `muster rbac` prints"
        ) from None


def try_to_bind_scenario_role(api: Api, namespace: str) -> None:
    """Bind it if possible; where it is not (a terminating namespace), the requests that follow report it."""
    try:
        bind_scenario_role(api, namespace)
    except (ApiRefused, HarnessError):
        return


def _permissions(role: dict[str, Any]) -> Iterator[Permission]:
    metadata = role["metadata"]
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", [""]):
                        yield Permission(metadata["name"], group, resource, verb, metadata.get("namespace", ""), name)
