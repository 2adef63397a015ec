"""The checkers of bench.black_box find each violation, and accept what the rules allow."""

from __future__ import annotations

from typing import Any

import pytest

from bench.black_box.checkers import Placement, thousandths, violations
from bench.black_box.load_cases import fewest_victims
from bench.black_box.plane import HOSTNAME, ZONE, pod

Manifest = dict[str, Any]
SELECTOR = {"matchLabels": {"app": "case"}}


def node(name: str, zone: str, *, tainted: bool = False) -> Manifest:
    taints = [{"key": "closed", "value": "", "effect": "NoSchedule"}] if tainted else []
    metadata = {"name": name, "labels": {HOSTNAME: name, ZONE: zone}}
    return {"metadata": metadata, "spec": {"taints": taints}, "status": {"allocatable": {"cpu": "2", "pods": "110"}}}


NODES = [node("a1", "a"), node("a2", "a"), node("b1", "b"), node("c1", "c")]


def bound(name: str, where: str, **spec: Any) -> Manifest:
    made = pod(name, nodeName=where, **spec)
    made["metadata"]["namespace"] = "case"
    return made


def found(*pods: Manifest, nodes: list[Manifest] = NODES, **minimum: int) -> list[str]:
    return violations(Placement.of(nodes, pods), minimum)


def term(kind: str, key: str, selector: Manifest = SELECTOR) -> Manifest:
    one = {"topologyKey": key, "labelSelector": selector}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [one]}}}


def spread(skew: int = 1, **more: Any) -> Manifest:
    one = {"topologyKey": ZONE, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR}
    return {"topologySpreadConstraints": [one | more]}


def test_anti_affinity_is_violated_within_a_domain_only() -> None:
    alone = term("podAntiAffinity", ZONE)
    assert found(bound("p", "a1", **alone), bound("q", "b1", **alone)) == []
    assert len(found(bound("p", "a1", **alone), bound("q", "a2", **alone))) == 2


def test_anti_affinity_also_holds_against_pods_without_any() -> None:
    assert len(found(bound("p", "a1", **term("podAntiAffinity", ZONE)), bound("q", "a2"))) == 1


def test_affinity_needs_another_pod_in_the_domain() -> None:
    leader = bound("leader", "a1", labels={"role": "leader"})
    follows = term("podAffinity", ZONE, {"matchLabels": {"role": "leader"}})
    assert found(leader, bound("p", "a2", **follows)) == []
    assert len(found(leader, bound("p", "b1", **follows))) == 1
    assert len(found(bound("p", "b1", **follows))) == 1


def test_the_first_pod_that_selects_itself_needs_no_other() -> None:
    together = term("podAffinity", ZONE)
    assert found(bound("p", "a1", **together)) == []
    assert len(found(bound("p", "a1", **together), bound("q", "b1", **together))) == 2


@pytest.mark.parametrize(
    ("constraint", "nodes", "problems"),
    [
        (spread(), ["a1", "b1", "c1", "a2"], 0),
        (spread(), ["a1", "b1", "a2"], 1),
        (spread(2), ["a1", "b1", "a2"], 0),
        (spread(minDomains=4), ["a1", "b1", "c1"], 0),
        (spread(minDomains=4), ["a1", "b1", "c1", "a2"], 1),
    ],
)
def test_spread_is_the_count_less_the_global_minimum(constraint: Manifest, nodes: list[str], problems: int) -> None:
    assert len(found(*(bound(f"p{n}", where, **constraint) for n, where in enumerate(nodes)))) == problems


@pytest.mark.parametrize(("policy", "problems"), [("Ignore", 1), ("Honor", 0)])
def test_a_tainted_domain_counts_unless_taints_are_honoured(policy: str, problems: int) -> None:
    nodes = [node("a1", "a"), node("b1", "b", tainted=True)]
    pods = [bound(f"p{n}", "a1", **spread(nodeTaintsPolicy=policy)) for n in range(2)]
    assert len(found(*pods, nodes=nodes)) == problems


@pytest.mark.parametrize(("policy", "problems"), [("Ignore", 1), ("Honor", 0)])
def test_a_domain_against_node_affinity_counts_if_that_is_ignored(policy: str, problems: int) -> None:
    only_a = {"nodeSelector": {ZONE: "a"}}
    pods = [bound(f"p{n}", "a1", **spread(nodeAffinityPolicy=policy), **only_a) for n in range(2)]
    assert len(found(*pods)) == problems


def test_host_ports_conflict_on_the_same_or_on_all_addresses() -> None:
    def ports(**port: Any) -> Manifest:
        return {"container": {"ports": [{"containerPort": 80, "hostPort": 80, **port}]}}

    one, other = bound("p", "a1", **ports(hostIP="127.0.0.1")), bound("q", "a1", **ports(hostIP="127.0.0.2"))
    assert found(one, other, bound("r", "a1", **ports(protocol="UDP")), bound("s", "a2", **ports())) == []
    assert len(found(one, other, bound("r", "a1", **ports()))) == 2


def test_nodes_are_neither_overcommitted_nor_chosen_against_their_rules() -> None:
    assert len(found(bound("p", "a1", requests={"cpu": "1500m"}), bound("q", "a1", requests={"cpu": "1"}))) == 1
    assert len(found(bound("p", "a1", nodeSelector={ZONE: "b"}))) == 1
    assert len(found(bound("p", "a1"), nodes=[node("a1", "a", tainted=True)])) == 1


def test_a_gang_is_bound_up_to_its_minimum_or_not_at_all() -> None:
    members = [bound(f"m{n}", "a1", group="gang") for n in range(2)]
    assert found(*members, gang=2) == []
    assert found(*members, gang=3) == ["2 members of gang are bound, minMember is 3"]


@pytest.mark.parametrize(("amount", "value"), [("100m", 100), ("2", 2000), ("1Ki", 1024000)])
def test_quantities(amount: str, value: int) -> None:
    assert thousandths(amount) == value


@pytest.mark.parametrize(
    ("nodes", "members", "victims"),
    [
        ([[4, 4]], 1, 1),
        ([[4, 4]], 2, 2),
        ([[4, 1, 1]], 1, 1),
        ([[4], [1, 1, 1, 1, 4]], 2, 1),
        ([[2, 2, 2, 2]] * 3, 1, 2),
    ],
)
def test_fewest_victims(nodes: list[list[int]], members: int, victims: int) -> None:
    assert fewest_victims(nodes, members) == victims
