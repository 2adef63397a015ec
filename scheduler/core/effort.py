"""The limit of a search: some placements can be found only by trying, and no tenant's gang may stall the others."""

from __future__ import annotations

_LEAST = 2_000_000  # of an attempt to place a gang
_ATTEMPTS = 4  # so many times all members of a large gang can be asked for
_FILTER_EFFORT = 5_000  # of all filters for one pod, however few nodes there are
_NODE_EFFORT = 10  # of each node for that


class Effort:
    """What may still be spent on searching, in numbers looked at: 100,000 take about a millisecond.

    It is counted, not measured: the same cluster state always gives the same decision. `spent` counts on when nothing
    is left.
    """

    def __init__(self, left: int = _LEAST) -> None:
        self.left, self.spent = left, 0

    @classmethod
    def for_gang(cls, members: int, nodes: int, least: int = _LEAST) -> Effort:
        """For an attempt to place it: more for a large gang on many nodes, or it could not be tried even once."""
        return cls(max(least, _ATTEMPTS * members * filter_effort(nodes)))

    def spend(self, numbers: int) -> bool:
        """Whether there was that much left."""
        self.left -= numbers
        self.spent += numbers
        return self.left >= 0

    def spend_on_filters(self, nodes: int, times: int = 1) -> bool:
        """The same, for asking so many times which nodes a pod with constraints may join."""
        return self.spend(times * filter_effort(nodes))

    def count_filters(self, nodes: int, times: int) -> None:
        """For what is asked however little is left."""
        self.spent += times * filter_effort(nodes)


def filter_effort(nodes: int) -> int:
    """What it takes to ask which nodes a pod with constraints may join."""
    return _FILTER_EFFORT + _NODE_EFFORT * nodes
