"""Fit: which nodes a pod may use, and which of them it gets."""

from __future__ import annotations

import pytest

from scheduler.core.node_table import NodeTable, term_matches
from scheduler.core.pod_constraints import NODE_NAME, SelectorRequirement
from scheduler.core.scheduling_types import PodRequirements, Taint, Toleration
from tests.support.cluster_builder import FakeCluster

OLD = Taint("gpu", "old", "NoSchedule")


def test_a_pod_gets_the_fullest_node_that_fits() -> None:
    cluster = FakeCluster()
    cluster.node("empty", 8)
    cluster.node("half", 8)
    cluster.node("nearly", 8)
    cluster.pod("four", 4, on="half")
    cluster.pod("seven", 7, on="nearly")
    cluster.pod("two", 2)
    assert cluster.plan().bound == {"two": "half"}


def test_of_equal_nodes_the_first_by_name_is_used() -> None:
    cluster = FakeCluster()
    for name in ("c", "a", "b"):
        cluster.node(name, 4)
    cluster.pod("one", 1)
    assert cluster.plan().bound == {"one": "a"}


def test_a_pod_without_gpus_avoids_gpu_nodes() -> None:
    cluster = FakeCluster()
    cluster.node("a-gpu", 8, cpu=8)
    cluster.node("b-plain", cpu=8)
    cluster.pod("small", cpu=8)
    assert cluster.step().bound == {"small": "b-plain"}
    cluster.pod("next", cpu=1)
    assert cluster.step().bound == {"next": "a-gpu"}


def test_a_resource_that_no_node_has_never_fits() -> None:
    cluster = FakeCluster()
    cluster.node("plain", cpu=8)
    cluster.pod("one", 1)
    decision = cluster.plan()
    assert decision.bound == {}
    assert "Insufficient nvidia.com/gpu" in decision.reasons["one"]


def test_the_pod_limit_of_a_node_is_respected() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8, pods=2)
    for name in ("a", "b", "c"):
        cluster.pod(name)
    decision = cluster.plan()
    assert set(decision.bound) == {"a", "b"}
    assert "1 Too many pods" in decision.reasons["c"]


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_taint_keeps_out_pods_without_a_toleration(effect: str) -> None:
    cluster = FakeCluster()
    cluster.node("tainted", 8, taints=(Taint("gpu", "old", effect),))
    cluster.pod("plain", 1)
    cluster.pod("hardy", 1, tolerations=(Toleration("gpu", value="old"),))
    decision = cluster.plan()
    assert decision.bound == {"hardy": "tainted"}
    assert "1 node(s) had untolerated taint(s)" in decision.reasons["plain"]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration("gpu", value="old"), True),
        (Toleration("gpu", value="new"), False),
        (Toleration("gpu"), False),
        (Toleration("gpu", "Exists"), True),
        (Toleration("disk", "Exists"), False),
        (Toleration(operator="Exists"), True),
        (Toleration(value="old"), False),
        (Toleration("gpu", "Exists", effect="NoSchedule"), True),
        (Toleration("gpu", "Exists", effect="NoExecute"), False),
    ],
)
def test_tolerations_match_as_in_kubernetes(toleration: Toleration, tolerated: bool) -> None:
    cluster = FakeCluster()
    cluster.node("tainted", 8, taints=(OLD,))
    cluster.pod("pod", 1, tolerations=(toleration,))
    assert bool(cluster.plan().bound) is tolerated


@pytest.mark.parametrize(
    ("operator", "value", "tolerated"),
    [
        ("Gt", "9", True),
        ("Gt", "10", False),
        ("Lt", "11", True),
        ("Lt", "10", False),
        ("Gt", "many", False),
        ("Gt", "0_9", False),
    ],
)
def test_tolerations_compare_numbers(operator: str, value: str, tolerated: bool) -> None:
    """The value of the taint is greater, or less, than that of the toleration."""
    cluster = FakeCluster()
    cluster.node("tainted", 8, taints=(Taint("generation", "10", "NoSchedule"),))
    cluster.pod("pod", 1, tolerations=(Toleration("generation", operator, value),))
    assert bool(cluster.plan().bound) is tolerated


def test_a_prefer_no_schedule_node_is_used_last() -> None:
    cluster = FakeCluster()
    cluster.node("a", 1, taints=(Taint("gpu", "old", "PreferNoSchedule"),))
    cluster.node("b", 8)
    cluster.pod("first", 8)
    cluster.pod("second", 1)
    assert cluster.plan().bound == {"first": "b", "second": "a"}


def test_a_cordoned_node_accepts_only_pods_that_tolerate_it() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8, cordoned=True)
    cluster.pod("plain", 1)
    cluster.pod("daemon", 1, tolerations=(Toleration("node.kubernetes.io/unschedulable", "Exists"),))
    decision = cluster.plan()
    assert decision.bound == {"daemon": "n"}
    assert "1 node(s) were unschedulable" in decision.reasons["plain"]


def test_a_selector_must_match() -> None:
    cluster = FakeCluster()
    cluster.node("a", 1, labels={"zone": "east"})
    cluster.node("b", 1, labels={"zone": "west"})
    cluster.pod("selective", 1, selector=(("zone", "west"),))
    cluster.pod("pickier", 1, selector=(("zone", "north"),))
    decision = cluster.plan()
    assert decision.bound == {"selective": "b"}
    assert "2 node(s) didn't match Pod's node affinity/selector" in decision.reasons["pickier"]


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        (SelectorRequirement("zone", "In", ("east", "west")), {"east", "west"}),
        (SelectorRequirement("zone", "NotIn", ("east",)), {"west", "bare"}),
        (SelectorRequirement("zone", "Exists"), {"east", "west"}),
        (SelectorRequirement("zone", "DoesNotExist"), {"bare"}),
        (SelectorRequirement("rank", "Gt", ("3",)), {"west"}),
        (SelectorRequirement("rank", "Lt", ("5",)), {"east"}),
        (SelectorRequirement("rank", "Gt", ("many",)), set()),
        (SelectorRequirement("rank", "Gt"), set()),
        (SelectorRequirement("rank", "Gt", ("+3",)), {"west"}),
        (SelectorRequirement("rank", "Gt", ("-1_0",)), set()),
        (SelectorRequirement("rank", "Gt", (" 3",)), set()),
        (SelectorRequirement("rank", "Gt", ("\N{ARABIC-INDIC DIGIT THREE}",)), set()),
        (SelectorRequirement("rank", "Lt", ("0" * 5_000 + "5",)), {"east"}),
        (SelectorRequirement("rank", "Lt", (str(2**63 - 1),)), {"east", "west"}),
        (SelectorRequirement("rank", "Lt", (str(2**63),)), set()),
        (SelectorRequirement("rank", "Gt", (str(-(2**63)),)), {"east", "west"}),
        (SelectorRequirement("rank", "Gt", (str(-(2**63) - 1),)), set()),
        (SelectorRequirement(NODE_NAME, "In", ("bare",)), {"bare"}),
        (SelectorRequirement("metadata.name", "In", ("bare",)), set()),
        (SelectorRequirement("metadata.name", "DoesNotExist"), {"east", "west", "bare"}),
        (SelectorRequirement("zone", "Like", ("east",)), set()),
    ],
)
def test_affinity_operators_match_as_in_kubernetes(line: SelectorRequirement, nodes: set[str]) -> None:
    cluster = FakeCluster()
    cluster.node("east", 1, labels={"zone": "east", "rank": "3"})
    cluster.node("west", 1, labels={"zone": "west", "rank": "5"})
    cluster.node("bare", 1)
    for number in range(3):
        cluster.pod(f"pod-{number}", 1, affinity=((line,),))
    assert set(cluster.plan().bound.values()) == nodes


def test_a_label_does_not_stand_for_the_name_of_a_node() -> None:
    cluster = FakeCluster()
    cluster.node("a", 8, labels={"metadata.name": "b"})
    cluster.node("b", 8)
    of_name = SelectorRequirement(NODE_NAME, "In", ("b",))
    of_label = SelectorRequirement("metadata.name", "In", ("b",))
    cluster.pod("of-name", 1, affinity=((of_name,),))
    cluster.pod("of-label", 1, affinity=((of_label,),))
    cluster.pod("selective", 1, selector=(("metadata.name", "b"),))
    cluster.pod("of-both", 1, affinity=((of_name, of_label),))
    assert cluster.plan().bound == {"of-name": "b", "of-label": "a", "selective": "a"}
    assert [term_matches(node, (of_name,)) for node in cluster.state.table.nodes] == [False, True]


def test_one_of_several_terms_is_enough_and_an_empty_term_matches_nothing() -> None:
    cluster = FakeCluster()
    cluster.node("east", 4, labels={"zone": "east"})
    east, north = SelectorRequirement("zone", "In", ("east",)), SelectorRequirement("zone", "In", ("north",))
    cluster.pod("either", 1, affinity=((north,), (east,)))
    cluster.pod("both", 1, affinity=((north, east),))
    cluster.pod("nowhere", 1, affinity=((),))
    assert cluster.plan().bound == {"either": "east"}


def test_preferred_affinity_ranks_nodes_and_excludes_none() -> None:
    cluster = FakeCluster()
    cluster.node("a", 1)
    cluster.node("z", 8, labels={"zone": "west"})
    liking = ((50, (SelectorRequirement("zone", "In", ("west",)),)),)
    cluster.pod("first", 8, preferred=liking)
    assert cluster.step().bound == {"first": "z"}
    cluster.pod("second", 1, preferred=liking)
    assert cluster.step().bound == {"second": "a"}


def test_a_terminating_pod_uses_its_resources_until_it_is_gone() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("old", 4, on="n", terminating=True)
    cluster.pod("new", 1)
    assert cluster.step().bound == {}
    cluster.delete_terminating()
    assert cluster.step().bound == {"new": "n"}


def test_pods_of_other_schedulers_are_not_scheduled_but_count_as_usage() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("other", 2, on="n", scheduler="default-scheduler")
    cluster.pod("waiting", 1, scheduler="default-scheduler")
    cluster.pod("ours", 3)
    decision = cluster.plan()
    assert decision.bound == {}
    assert set(decision.reasons) == {"ours"}


def test_the_requirements_of_pods_that_are_gone_are_forgotten() -> None:
    """At 5,000 nodes each of them takes 60 KB: only those of two successive cycles are kept, however many."""
    cluster = FakeCluster()
    cluster.node("n", 1)
    for number in range(300):
        for pod in ("once", "always"):
            selector = (("number", str(number if pod == "once" else -1)),)
            cluster.pod(pod, 1, uid=f"{pod}-{number}", selector=selector)
        cluster.plan()
        cluster.delete("once", "always")
    table = cluster.state.table
    assert len(table._eligibility) <= 4
    assert len(table._fits_on_empty_node) <= 4
    assert len(table._label_values) <= 1


def test_the_requirements_of_pending_pods_are_evaluated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    for number in range(500):
        cluster.pod(f"p{number}", 1, selector=(("number", str(number)),))
    cluster.plan()
    evaluated: list[PodRequirements] = []
    monkeypatch.setattr(NodeTable, "_evaluate", lambda _, requirements, __: evaluated.append(requirements))
    cluster.plan()
    assert evaluated == []
