"""What we may do there: the printed roles, asked of the API server one verb at a time.

In a namespace of ours the role `muster-scene` is bound by ourselves, unless we may do everything anyway. The API server
learns of a binding from a watch, so it is asked until it knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import tenacity
import yaml

from muster import suite, timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import ACCESS_REVIEW, ROLE_BINDING, SELF_REVIEW
from muster.errors import HarnessError

SCENE_ROLE = "muster-scene"
_AT_A_TIME = 8  # requests
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
    """One verb on one resource; a role that is bound later is only needed where we could not bind it."""

    role: str
    group: str
    resource: str
    verb: str
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{group}{f' {self.name}' if self.name else ''}{where}"


def text() -> str:
    """The roles as they are printed for an administrator."""
    return (suite.manifests() / "rbac" / "muster.yaml").read_text(encoding="utf-8")


def wanted() -> list[Right]:
    """Every right of the printed roles but those that a run gives itself."""
    roles = [role for role in yaml.safe_load_all(text()) if role["metadata"]["name"] != SCENE_ROLE]
    return [right for role in roles for right in _rights(role)]


def missing(api: Api, *, groups: frozenset[str]) -> list[Right]:
    """The rights that we do not have, of those that are needed where these API groups are served."""
    asked = [right for right in wanted() if right.group not in _OPTIONAL or right.group in groups]
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        granted = list(pool.map(lambda right: may(api, right), asked))
    return [right for right, yes in zip(asked, granted, strict=True) if not yes]


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


def may_everywhere(api: Api) -> bool:
    """Whoever may create pods in every namespace needs no binding in ours."""
    return may(api, Right("", "", "pods", "create"))


def bind_scene(api: Api, namespace: str) -> None:
    """Give ourselves the rights of a scene in one namespace; return when the API server knows of it."""
    me = api.create({"apiVersion": SELF_REVIEW.api_version, "kind": SELF_REVIEW.kind, "metadata": {}})
    binding = {
        "apiVersion": ROLE_BINDING.api_version,
        "kind": ROLE_BINDING.kind,
        "metadata": {"name": "muster-scene", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": SCENE_ROLE},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": me["status"]["userInfo"]["username"]}
        ],
    }
    api.ensure(binding)
    known = tenacity.Retrying(
        retry=tenacity.retry_if_not_result(bool),
        wait=tenacity.wait_fixed(0.02),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        known(may, api, Right(SCENE_ROLE, "", "pods", "create", namespace))
    except tenacity.RetryError:
        raise HarnessError(
            f"the role {SCENE_ROLE} gives no right to create pods in {namespace}: apply what `muster rbac` prints"
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
