"""RBAC permissions on an existing cluster: printed, missing, and bound by a run."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.existing import rbac
from muster.errors import HarnessError


class FakeApi:
    """A user with the `held` permissions everywhere, and a scenario role with these rules, or none at all."""

    def __init__(self, held: set[str] | None = None, rules: list[dict[str, Any]] | None = None, me: str = "me") -> None:
        self.held, self.rules, self.me = held, rules, me
        self.created: list[dict[str, Any]] = []

    def post(self, _path: str, review: dict[str, Any]) -> dict[str, Any]:
        requested = review["spec"]["resourceAttributes"]
        target = "/".join(filter(None, (requested["resource"], requested.get("subresource"))))
        in_namespace = bool(self.created) and requested.get("namespace")
        held = self.held is None or f"{requested['verb']} {target}" in self.held
        return {"status": {"allowed": held or in_namespace}}

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
    (role,) = [one for one in yaml.safe_load_all(rbac.roles_yaml()) if one["metadata"]["name"] == name]
    rules: list[dict[str, Any]] = role["rules"]
    return rules


OF_A_RUN = {f"{right.verb} {right.resource}" for right in rbac.required() if right.role != rbac.SCENARIO_ROLE}


def missing(fake: FakeApi, *groups: str) -> list[str]:
    api: Any = fake
    return [str(right) for right in rbac.missing_permissions(api, groups=frozenset(groups))]


def test_the_roles_only_read_in_namespaces_of_other_tenants() -> None:
    everywhere = [right for right in rbac.required() if right.role != rbac.SCENARIO_ROLE and not right.namespace]
    writes = [right for right in everywhere if right.verb not in ("get", "list", "watch")]
    assert {right.resource for right in writes} == {
        *("namespaces", "nodes", "nodes/status", "priorityclasses", "queues", "queues/status", "devices"),
        *("rolebindings", "clusterroles"),
    }
    assert [str(right) for right in everywhere if right.resource in ("clusterroles", "leases")] == [
        "get clusterroles.rbac.authorization.k8s.io muster-scenario",
        "bind clusterroles.rbac.authorization.k8s.io muster-scenario",
        "get leases.coordination.k8s.io heartbeat",
        "get leases.coordination.k8s.io kube-scheduler",
        "get leases.coordination.k8s.io koord-scheduler",
    ]


def test_on_real_nodes_a_run_may_also_end_containers_and_read_their_logs() -> None:
    more = {str(one) for one in rbac.required(real_nodes=True)} - {str(one) for one in rbac.required()}
    assert more == {"create pods/proxy in the run's namespaces", "get pods/log in the run's namespaces"}
    assert rbac.roles_yaml(real_nodes=True).count("\n---\n") == rbac.roles_yaml().count("\n---\n")
    api: Any = FakeApi(OF_A_RUN, printed(rbac.SCENARIO_ROLE))
    missing_there = rbac.missing_permissions(api, groups=frozenset(), real_nodes=True)
    assert {str(one) for one in missing_there} == more


def test_the_printed_scenario_role_is_enough_and_so_is_a_wider_one() -> None:
    everything = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
    assert missing(FakeApi(OF_A_RUN, printed(rbac.SCENARIO_ROLE)), "kubeflow.org") == []
    assert missing(FakeApi(OF_A_RUN, everything)) == []
    assert missing(FakeApi()) == []  # an administrator needs no role of ours


def test_an_absent_or_outdated_scenario_role_is_detected() -> None:
    assert "patch pods/status in the run's namespaces" in missing(FakeApi(OF_A_RUN))
    older = [rule for rule in printed(rbac.SCENARIO_ROLE) if "pods/status" not in rule["resources"]]
    assert missing(FakeApi(OF_A_RUN, older)) == ["patch pods/status in the run's namespaces"]
    narrow = [*older, {"apiGroups": [""], "resources": ["pods/status"], "resourceNames": ["one"], "verbs": ["patch"]}]
    assert missing(FakeApi(OF_A_RUN, narrow)) == ["patch pods/status in the run's namespaces"]


def test_permissions_for_kinds_that_are_not_served_are_not_needed() -> None:
    older = [rule for rule in printed(rbac.SCENARIO_ROLE) if "kubeflow.org" not in rule["apiGroups"]]
    assert missing(FakeApi(OF_A_RUN, older)) == []
    assert "create pytorchjobs.kubeflow.org in the run's namespaces" in missing(
        FakeApi(OF_A_RUN, older), "kubeflow.org"
    )


def test_the_scenario_role_is_bound_where_some_permissions_are_missing() -> None:
    scenario = {f"{right.verb} {right.resource}" for right in rbac.required() if right.role == rbac.SCENARIO_ROLE}
    fake = FakeApi(scenario - {"patch pods/status"})
    api: Any = fake
    (lacking,) = rbac.missing_cluster_wide(api, groups=frozenset())
    assert str(lacking) == "patch pods/status in the run's namespaces"
    rbac.bind_scenario_role(api, "muster-x", lacking)
    assert [one["roleRef"]["name"] for one in fake.created] == [rbac.SCENARIO_ROLE]


def test_a_permission_that_the_role_does_not_grant_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeWithoutBindings(FakeApi):
        ensure = staticmethod(lambda _: None)  # type: ignore[assignment]

    monkeypatch.setattr(timeouts, "SETTING_UP", 0)
    without_bindings: Any = FakeWithoutBindings(
        {"deletecollection pods", "create pods"}
    )  # those tell nothing about the binding
    with pytest.raises(HarnessError, match="does not grant patch pods/status in muster-x: have an administrator"):
        rbac.bind_scenario_role(
            without_bindings, "muster-x", rbac.Permission(rbac.SCENARIO_ROLE, "", "pods/status", "patch")
        )


def test_two_users_in_one_namespace_have_a_binding_each() -> None:
    """When another user's run is cleaned up, that user's binding is there."""
    bound = []
    for name in ("one", "other"):
        fake = FakeApi(me=name)
        api: Any = fake
        rbac.bind_scenario_role(api, "muster-x")
        bound += fake.created
    assert [one["subjects"][0]["name"] for one in bound] == ["one", "other"]
    assert len({one["metadata"]["name"] for one in bound}) == 2
