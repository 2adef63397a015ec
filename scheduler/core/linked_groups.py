"""Linked groups: PodGroups that name each other, directly or in a ring, start together.

A gang never waits for one that only names it: linked sets are the strongly connected components of "names as linked".
Tarjan's algorithm finds all of them in one pass, because the names are a tenant's to write, and many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from scheduler.core.scheduling_types import Key

Links = Mapping[Key, Set[Key]]


def linked_sets(keys: Iterable[Key], links: Links) -> Iterator[list[Key]]:
    """The set of linked groups, sorted, of each of these groups: every set once."""
    wanted = list(keys)
    search = _Components(links)
    component_of = {key: component for start in wanted for component in search.visit(start) for key in component}
    seen: set[Key] = set()
    for key in wanted:
        if key not in seen:
            seen.update(component_of[key])
            yield sorted(component_of[key])


class _Components:
    """Depth-first search without recursion: a chain of links may be longer than the interpreter's stack."""

    def __init__(self, links: Links) -> None:
        self._links = links
        self._number: dict[Key, int] = {}  # in the order of the first visit
        self._lowest: dict[Key, int] = {}  # the lowest number on the path that is reachable
        self._on_path: dict[Key, None] = {}  # not yet in a component, in the order of the first visit

    def visit(self, start: Key) -> Iterator[list[Key]]:
        """The components that are reachable from here and were not found before."""
        if start in self._number:
            return
        path = [(start, self._enter(start))]
        while path:
            key, following = path[-1]
            for linked in following:
                if linked not in self._number:
                    path.append((linked, self._enter(linked)))
                    break
                if linked in self._on_path:
                    self._lowest[key] = min(self._lowest[key], self._number[linked])
            else:
                path.pop()
                if path:
                    before = path[-1][0]
                    self._lowest[before] = min(self._lowest[before], self._lowest[key])
                if self._lowest[key] == self._number[key]:
                    yield self._take_component(key)

    def _enter(self, key: Key) -> Iterator[Key]:
        self._number[key] = self._lowest[key] = len(self._number)
        self._on_path[key] = None
        return iter(self._links.get(key, ()))

    def _take_component(self, root: Key) -> list[Key]:
        component = []
        while True:
            key, _ = self._on_path.popitem()
            component.append(key)
            if key == root:
                return component
