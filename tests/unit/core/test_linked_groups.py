"""Linked groups: those that reach each other over links in both directions, found in one pass."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.core.linked_groups import linked_sets
from scheduler.core.scheduling_types import Key
from tests.support.call_count import calls_of
from tests.support.cluster_builder import key

names = st.integers(0, 7).map(lambda number: key(f"g{number}"))


def reachable(start: Key, links: dict[Key, set[Key]]) -> set[Key]:
    reached, new = {start}, {start}
    while new:
        new = {there for one in new for there in links.get(one, set())} - reached
        reached |= new
    return reached


@given(st.sets(names, min_size=1), st.dictionaries(names, st.sets(names)))
def test_groups_are_linked_if_each_reaches_the_other(wanted: set[Key], links: dict[Key, set[Key]]) -> None:
    expected = {frozenset(other for other in reachable(one, links) if one in reachable(other, links)) for one in wanted}
    found = list(linked_sets(sorted(wanted), links))
    assert {frozenset(one) for one in found} == expected
    assert len(found) == len(expected)


def test_a_ring_may_be_longer_than_the_interpreters_stack() -> None:
    ring = [key(f"g{number:05}") for number in range(5000)]
    links = {one: {after} for one, after in zip(ring, [*ring[1:], ring[0]], strict=True)}
    assert list(linked_sets([ring[7]], links)) == [ring]


def test_groups_that_name_all_later_ones_cost_no_more_than_their_links() -> None:
    """Each group is entered once; a search for each group entered all that it reaches."""
    few, many = groups_that_name_all_later_ones(100), groups_that_name_all_later_ones(400)
    assert calls_of(lambda: list(linked_sets(*many))) < 5 * calls_of(lambda: list(linked_sets(*few)))


def groups_that_name_all_later_ones(groups: int) -> tuple[list[Key], dict[Key, set[Key]]]:
    every = [key(f"g{number:04}") for number in range(groups)]
    return every, {one: set(every[number + 1 :]) for number, one in enumerate(every)}
