"""What we may do there: the printed roles, asked of the API server one verb at a time.

In a namespace of ours the role `muster-scene` is bound by ourselves, unless we have all its rights anyway. The API
server learns of a binding from a watch, so it is asked until it knows.
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

from muster import suite, timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import ACCESS_REVIEW, ROLE_BINDING, SELF_REVIEW, Resource
from muster.errors import HarnessError

SCENE_ROLE = "muster-scene"
_CLUSTER_ROLE = Resource("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", namespaced=False)
_AT_A_TIME = 8  # requests
_ANY = "*"
_OPTIONAL = frozenset(  # groups of kinds that only some schedulers speak of: without them nobody needs the right
    {
        "scheduling.volcano.sh",
        "scheduling.sigs.k8s.io",
        "bus.volcano.sh",
        "scheduling.koordinator.sh",
        "kubeflow.org",
    }
)


@dataclass(frozen=True)
class Right:
    """One verb on one resource; those of `muster-scene` are for the namespaces that a run makes."""

    role: str
    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        return f"{self.verb} {self.thing}"

    @property
    def thing(self) -> str:
        """What may be done something with, and where."""
        group = f".{self.group}" if self.group else ""
        where = "the run's namespaces" if self.role == SCENE_ROLE else self.namespace
        return f"{self.resource}{group}{f' {self.name}' if self.name else ''}{f' in {where}' if where else ''}"


_PODS = Right(SCENE_ROLE, "", "pods", "deletecollection")


def text() -> str:
    """The roles as they are printed for an administrator."""
    return (suite.manifests() / "rbac" / "muster.yaml").read_text(encoding="utf-8")


def wanted() -> list[Right]:
    """Every right of the printed roles."""
    return [right for role in yaml.safe_load_all(text()) for right in _rights(role)]


def served_groups(api: Api) -> frozenset[str]:
    return frozenset(group["name"] for group in json.loads(api.read("/apis")).get("groups", []))


def missing(api: Api, *, groups: frozenset[str]) -> list[Right]:
    """The rights that we do not have, of those that are needed where these API groups are served.

    Those of a scene may be had everywhere, or by the role that a run binds: then the role must give them.
    """
    lacking = _lacking(api, [right for right in _needed(groups) if right.role != SCENE_ROLE])
    return lacking + (_not_given(api, groups) if missing_everywhere(api, groups=groups) else [])


def missing_everywhere(api: Api, *, groups: frozenset[str]) -> list[Right]:
    """The rights of a scene that we do not have in every namespace: for their sake the role is bound in ours."""
    return _lacking(api, [right for right in _needed(groups) if right.role == SCENE_ROLE])


def _needed(groups: frozenset[str]) -> list[Right]:
    return [right for right in wanted() if right.group not in _OPTIONAL or right.group in groups]


def _lacking(api: Api, asked: Sequence[Right]) -> list[Right]:
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        granted = list(pool.map(lambda right: may(api, right), asked))
    return [right for right, yes in zip(asked, granted, strict=True) if not yes]


def _not_given(api: Api, groups: frozenset[str]) -> list[Right]:
    """What the role of a scene is printed with and does not give there: it is absent, or an older one."""
    try:
        rules = api.get(_CLUSTER_ROLE, SCENE_ROLE).get("rules") or []
    except ApiRefused as refusal:
        if refusal.status == 403:
            return []  # the right to read it is missing, and told as such
        if refusal.status != 404:
            raise
        rules = []
    return [
        right
        for right in _needed(groups)
        if right.role == SCENE_ROLE and not any(_gives(rule, right) for rule in rules)
    ]


def _gives(rule: dict[str, Any], right: Right) -> bool:
    parts = {"apiGroups": right.group, "resources": right.resource, "verbs": right.verb}
    return "resourceNames" not in rule and all(
        {part, _ANY}.intersection(rule.get(key) or ()) for key, part in parts.items()
    )


def may(api: Api, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {"group": right.group, "resource": resource, "subresource": subresource, "verb": right.verb}
    attributes |= {"namespace": right.namespace, "name": right.name}
    review = {
        "apiVersion": ACCESS_REVIEW.api_version,
        "kind": ACCESS_REVIEW.kind,
        "metadata": {},
        "spec": {"resourceAttributes": {key: value for key, value in attributes.items() if value}},
    }
    return bool(api.post(ACCESS_REVIEW.path(), review)["status"].get("allowed"))


def bind_scene(api: Api, namespace: str, awaited: Right = _PODS) -> None:
    """Give ourselves the rights of a scene in one namespace; return when the API server knows of it.

    `awaited` is one that we did not have before: only that tells.
    """
    review = api.create({"apiVersion": SELF_REVIEW.api_version, "kind": SELF_REVIEW.kind, "metadata": {}})
    me: str = review["status"]["userInfo"]["username"]
    own = hashlib.sha256(me.encode()).hexdigest()[:8]  # who sweeps another user's run finds that one's there
    binding = {
        "apiVersion": ROLE_BINDING.api_version,
        "kind": ROLE_BINDING.kind,
        "metadata": {"name": f"{SCENE_ROLE}-{own}", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": SCENE_ROLE},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": me}],
    }
    api.ensure(binding)
    known = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(bool),
        wait=tenacity.wait_fixed(0.02),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        known(may, api, replace(awaited, namespace=namespace))
    except tenacity.RetryError:
        raise HarnessError(
            f"the role {SCENE_ROLE} gives no right to {awaited.verb} {awaited.resource} in {namespace}: "
            "have an administrator apply what `muster rbac` prints"
        ) from None


def try_to_bind_scene(api: Api, namespace: str) -> None:
    """Where it cannot be done, for example because the namespace is going, what follows will show it."""
    try:
        bind_scene(api, namespace)
    except (ApiRefused, HarnessError):
        return


def _rights(role: dict[str, Any]) -> Iterator[Right]:
    metadata = role["metadata"]
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", [""]):
                        yield Right(metadata["name"], group, resource, verb, metadata.get("namespace", ""), name)
