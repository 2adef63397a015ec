"""Many gangs that are expensive to refuse share the effort of a cycle, and none of them starves."""

from __future__ import annotations

from scheduler.core.actions import Action, Bind
from scheduler.core.plan import plan
from scheduler.core.pod_constraints import PodConstraints
from scheduler.core.search_turns import SearchTurns
from tests.support.call_count import calls_of
from tests.support.cluster_builder import FakeCluster, key
from tests.unit.core.planted_gangs import RACK, apart, near

ONE_GANG = 1  # effort: the first gang exceeds it


def cluster_of(hopeless: int, *, racks: int = 10) -> FakeCluster:
    """Gangs that must be in one rack, each with a member that must not be there."""
    cluster = FakeCluster()
    for number in range(4 * racks):
        cluster.node(f"n{number:03}", 8, labels={RACK: f"r{number % racks}"})
    for number in range(hopeless):
        add_gang(cluster, f"hopeless{number:02}", hopeless=True)
    return cluster


def add_gang(cluster: FakeCluster, name: str, *, hopeless: bool = False, priority: int = 0) -> None:
    cluster.group(name, 4)
    together = near(name, RACK)
    both = PodConstraints(affinity=together.affinity, anti_affinity=apart(name, RACK).anti_affinity)
    for member in range(4):
        constraints = both if hopeless and not member else together
        labels = {"role": name}
        cluster.pod(f"{name}-{member}", 2, priority, group=key(name), constraints=constraints, labels=labels)


def cycles(cluster: FakeCluster, turns: SearchTurns, most: int = 50) -> list[set[str]]:
    """The gangs that each cycle binds, while a round is incomplete."""
    found: list[set[str]] = []
    while len(found) < most:
        actions = plan(cluster.state, cluster.policy, turns)
        cluster.carry_out(actions)
        found.append(bound(actions))
        if not turns.is_incomplete:
            return found
    raise AssertionError("the round does not end")


def bound(actions: list[Action]) -> set[str]:
    return {action.pod.key[1].rpartition("-")[0] for action in actions if isinstance(action, Bind)}


def test_a_gang_behind_many_hopeless_ones_has_its_turn() -> None:
    cluster = cluster_of(hopeless=10)
    add_gang(cluster, "fits")
    found = cycles(cluster, SearchTurns(ONE_GANG))
    assert len(found) == 11
    assert found[-1] == {"fits"}


def test_a_new_gang_of_higher_priority_does_not_wait_for_the_round() -> None:
    cluster, turns = cluster_of(hopeless=10), SearchTurns(ONE_GANG)
    plan(cluster.state, cluster.policy, turns)
    add_gang(cluster, "urgent", priority=100)
    turns.note_change()
    assert bound(plan(cluster.state, cluster.policy, turns)) == {"urgent"}


def test_other_pods_do_not_need_a_turn() -> None:
    cluster = cluster_of(hopeless=10)
    cluster.pod("plain", 1)
    cluster.gang("alike", 4, 2)
    bound_at_once = {
        one.pod.key[1] for one in plan(cluster.state, cluster.policy, SearchTurns(0)) if isinstance(one, Bind)
    }
    assert bound_at_once == {"plain", "alike-0", "alike-1", "alike-2", "alike-3"}


def test_a_gang_that_had_its_turn_before_a_change_is_tried_again() -> None:
    cluster, turns = cluster_of(hopeless=0), SearchTurns(ONE_GANG)
    for number in range(40):
        cluster.pod(f"full-{number}", 8, 1000, f"n{number:03}")
    add_gang(cluster, "first")
    add_gang(cluster, "second")
    plan(cluster.state, cluster.policy, turns)
    assert turns.is_incomplete
    cluster.delete("full-0")  # one node for one gang
    turns.note_change()
    assert cycles(cluster, turns) == [{"second"}, set()]
    cluster.delete("full-1")
    turns.note_change()
    assert cycles(cluster, turns)[0] == {"first"}


def test_a_round_ends_without_pending_pods() -> None:
    cluster, turns = cluster_of(hopeless=2), SearchTurns(ONE_GANG)
    plan(cluster.state, cluster.policy, turns)
    assert turns.is_incomplete
    cluster.delete(*(pod.key[1] for pod in list(cluster.state.pods.values())))
    plan(cluster.state, cluster.policy, turns)
    assert not turns.is_incomplete


def test_a_nominated_gang_keeps_its_reservation() -> None:
    """Although its turn is over, and the effort of the cycle is spent."""
    cluster = cluster_of(hopeless=3)
    for number in range(40):
        cluster.pod(f"low-{number}", 8, -1, f"n{number:03}", non_preemptible=number != 7)
    add_gang(cluster, "urgent", priority=100)
    turns = SearchTurns(0)
    cluster.carry_out(plan(cluster.state, cluster.policy, SearchTurns()))
    assert cluster["urgent-0"].nominated
    cluster.pod("newer", 8, 50)
    plan(cluster.state, cluster.policy, turns)
    cluster.carry_out(plan(cluster.state, cluster.policy, turns))
    assert {cluster[f"urgent-{number}"].nominated for number in range(4)} == {"n007"}
    cluster.delete_terminating()
    assert bound(plan(cluster.state, cluster.policy, turns)) == {"urgent"}


def test_without_turns_the_same_state_gives_the_same_actions() -> None:
    cluster = cluster_of(hopeless=30)
    add_gang(cluster, "fits")
    first = plan(cluster.state, cluster.policy)
    assert plan(cluster.state, cluster.policy) == first
    assert bound(first) == {"fits"}


def test_the_cost_of_a_cycle_does_not_grow_with_the_number_of_hopeless_gangs() -> None:
    def cost(gangs: int) -> int:
        cluster = cluster_of(gangs)
        plan(cluster.state, cluster.policy, SearchTurns(0))  # warms up caches of the node table
        return calls_of(lambda: plan(cluster.state, cluster.policy, SearchTurns()))

    assert cost(40) < 1.5 * cost(20)
