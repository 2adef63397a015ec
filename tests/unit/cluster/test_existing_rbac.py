"""Rights on somebody's cluster: which are printed, which are missing, and when a run gives them to itself."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.foreign import rights
from muster.errors import HarnessError


class There:
    """Somebody who has the `held` rights everywhere, and a role of a scene with these rules, or none at all."""

    def __init__(self, held: set[str] | None = None, rules: list[dict[str, Any]] | None = None, me: str = "me") -> None:
        self.held, self.rules, self.me = held, rules, me
        self.created: list[dict[str, Any]] = []

    def post(self, _path: str, review: dict[str, Any]) -> dict[str, Any]:
        asked = review["spec"]["resourceAttributes"]
        thing = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        in_scene = bool(self.created) and asked.get("namespace")
        return {"status": {"allowed": self.held is None or f"{asked['verb']} {thing}" in self.held or in_scene}}

    def get(self, *_: object) -> dict[str, Any]:
        if self.rules is None:
            raise ApiRefused(404, "NotFound", "no such role", "GET")
        return {"rules": self.rules}

    def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        if manifest["kind"] == "RoleBinding":
            self.created.append(manifest)
        return {"status": {"userInfo": {"username": self.me}}}

    ensure = create


def printed(name: str) -> list[dict[str, Any]]:
    (role,) = [one for one in yaml.safe_load_all(rights.text()) if one["metadata"]["name"] == name]
    rules: list[dict[str, Any]] = role["rules"]
    return rules


OF_A_RUN = {f"{right.verb} {right.resource}" for right in rights.wanted() if right.role != rights.SCENE_ROLE}


def missing(there: There, *groups: str) -> list[str]:
    api: Any = there
    return [str(right) for right in rights.missing(api, groups=frozenset(groups))]


def test_the_roles_only_read_in_other_peoples_namespaces() -> None:
    everywhere = [right for right in rights.wanted() if right.role != rights.SCENE_ROLE and not right.namespace]
    writes = [right for right in everywhere if right.verb not in ("get", "list", "watch")]
    assert {right.resource for right in writes} == {
        *("namespaces", "nodes", "nodes/status", "priorityclasses", "queues", "queues/status", "devices"),
        *("rolebindings", "clusterroles"),
    }
    assert [str(right) for right in everywhere if right.resource in ("clusterroles", "leases")] == [
        "get clusterroles.rbac.authorization.k8s.io muster-scene",
        "bind clusterroles.rbac.authorization.k8s.io muster-scene",
        "get leases.coordination.k8s.io heartbeat",
    ]


def test_the_printed_role_of_a_scene_is_enough_and_so_is_a_wider_one() -> None:
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    assert missing(There(OF_A_RUN, printed(rights.SCENE_ROLE)), "kubeflow.org") == []
    assert missing(There(OF_A_RUN, everything)) == []
    assert missing(There()) == []  # an administrator needs no role of ours


def test_a_role_of_a_scene_that_is_absent_or_outdated_is_noticed() -> None:
    assert "patch pods/status in the run's namespaces" in missing(There(OF_A_RUN))
    older = [rule for rule in printed(rights.SCENE_ROLE) if "pods/status" not in rule["resources"]]
    assert missing(There(OF_A_RUN, older)) == ["patch pods/status in the run's namespaces"]
    narrow = [*older, {"apiGroups": [""], "resources": ["pods/status"], "resourceNames": ["one"], "verbs": ["patch"]}]
    assert missing(There(OF_A_RUN, narrow)) == ["patch pods/status in the run's namespaces"]


def test_what_is_only_for_kinds_that_are_not_served_is_not_missed() -> None:
    older = [rule for rule in printed(rights.SCENE_ROLE) if "kubeflow.org" not in rule["apiGroups"]]
    assert missing(There(OF_A_RUN, older)) == []
    assert "create pytorchjobs.kubeflow.org in the run's namespaces" in missing(There(OF_A_RUN, older), "kubeflow.org")


def test_who_may_create_pods_everywhere_but_not_all_that_a_scene_needs_is_given_the_rest() -> None:
    scene = {f"{right.verb} {right.resource}" for right in rights.wanted() if right.role == rights.SCENE_ROLE}
    there = There(scene - {"patch pods/status"})
    api: Any = there
    (lacking,) = rights.missing_everywhere(api, groups=frozenset())
    assert str(lacking) == "patch pods/status in the run's namespaces"
    rights.bind_scene(api, "muster-x", lacking)
    assert [one["roleRef"]["name"] for one in there.created] == [rights.SCENE_ROLE]


def test_a_right_that_does_not_come_with_the_role_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(There):
        ensure = staticmethod(lambda _: None)  # type: ignore[assignment]

    monkeypatch.setattr(timeouts, "SETTING_UP", 0)
    deaf: Any = Deaf({"deletecollection pods", "create pods"})  # those tell nothing about the binding
    with pytest.raises(HarnessError, match="gives no right to patch pods/status in muster-x: have an administrator"):
        rights.bind_scene(deaf, "muster-x", rights.Right(rights.SCENE_ROLE, "", "pods/status", "patch"))


def test_two_users_in_one_namespace_have_a_binding_each() -> None:
    """Whoever sweeps another user's run finds that one's binding there."""
    bound = []
    for name in ("one", "other"):
        there = There(me=name)
        api: Any = there
        rights.bind_scene(api, "muster-x")
        bound += there.created
    assert [one["subjects"][0]["name"] for one in bound] == ["one", "other"]
    assert len({one["metadata"]["name"] for one in bound}) == 2
