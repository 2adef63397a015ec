"""A view of the cluster state: detached, it stays what it was, and the state goes on like one that never had a view."""

from __future__ import annotations

from dataclasses import replace

from scheduler.core.pod_constraints import PodConstraints, PodSelection, PodTerm, SelectorRequirement
from scheduler.core.scheduling_types import Counts, Taint
from tests.support.cluster_builder import NAMESPACE, Decision, FakeCluster, key

_IS_A = (SelectorRequirement("app", "In", ("a",)),)
_IS_B = (SelectorRequirement("app", "In", ("b",)),)


def _apart(selector: tuple[SelectorRequirement, ...]) -> PodConstraints:
    return PodConstraints(anti_affinity=(PodTerm("host", PodSelection(selector, frozenset({NAMESPACE}))),))


def _cluster() -> FakeCluster:
    cluster = FakeCluster()
    for name in "abc":
        cluster.node(name, 4, labels={"host": name})
        cluster.pod(f"low-{name}", 3, on=name, labels={"app": "b"})
    cluster.queue("q", 6)
    cluster.budget("budget", 0, {"app": "b"})
    cluster.pod("apart", 1, on="a", labels={"app": "a"}, constraints=_apart(_IS_A))
    cluster.gang("linked-1", 2, 1, linked_groups=frozenset({key("linked-2")}))
    cluster.gang("linked-2", 2, 1, linked_groups=frozenset({key("linked-1")}))
    for number in range(3):
        cluster.pod(f"a-{number}", 1, priority=50, labels={"app": "a"}, constraints=_apart(_IS_A))
    cluster.gang("running", 2, 0, on="c")
    return cluster


def _change_everything(cluster: FakeCluster) -> None:
    state = cluster.state
    cluster.node("d", 8, labels={"host": "d"})
    state.set_node(replace(state.nodes["a"], taints=(Taint("k", "v", "NoSchedule"),)))
    cluster.delete("low-b", "a-1", "running-0")
    cluster.change("low-c", terminating=True)
    cluster.change("a-0", node="b")
    cluster.pod("new", 2, priority=70, labels={"app": "b"}, constraints=_apart(_IS_B))
    cluster.gang("new-gang", 2, 1)
    cluster.change_group("linked-1", linked_groups=frozenset())
    state.set_counts(key("running"), Counts(succeeded=1))
    cluster.queue("q", 1)
    state.remove_budget(key("budget"))
    state.set_namespace(NAMESPACE, {"team": "x"})
    assert state.table.used.any()


def test_a_detached_view_does_not_change() -> None:
    cluster, viewed = _cluster(), FakeCluster()
    viewed.state = cluster.state.view()
    planned = viewed.plan()
    assert planned == _cluster().plan()
    cluster.state.detach()
    _change_everything(cluster)
    assert viewed.plan() == planned


def test_the_state_is_not_affected_by_its_view() -> None:
    cluster, other = _cluster(), _cluster()
    view = FakeCluster()
    view.state = cluster.state.view()
    cluster.state.detach()
    cluster.state.clear_changes()
    other.state.clear_changes()
    assert other.state.table.used.any()
    for one in (cluster, other):
        _change_everything(one)
    assert view.plan().actions
    after: list[Decision] = [cluster.plan(), other.plan()]
    assert after[0] == after[1]
    assert (cluster.state.table.used == other.state.table.used).all()
    assert (cluster.state.table.terminating == other.state.table.terminating).all()


def test_a_view_costs_no_second_table() -> None:
    cluster = _cluster()
    assert cluster.state.view().table is cluster.state.table
    assert not FakeCluster().state.view().pods
