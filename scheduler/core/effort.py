"""The limit of a search: some placements can be found only by trying, and no tenant's gang may stall the others."""

from __future__ import annotations

_FILTER_EFFORT = 5_000  # of all filters for one pod, however few nodes there are
_NODE_EFFORT = 20  # of each node for that


class Effort:
    """What may still be spent on searching, in numbers looked at: 100,000 take about a millisecond.

    It is counted, not measured: the same cluster state always gives the same decision.
    """

    def __init__(self, left: int = 2_000_000) -> None:
        self.left = left

    def spend(self, numbers: int) -> bool:
        """Whether there was that much left."""
        self.left -= numbers
        return self.left >= 0

    def allows_filters(self, nodes: int, times: int) -> bool:
        """Whether enough is left to ask so many times which nodes a pod with constraints may join."""
        return self.left >= times * (_FILTER_EFFORT + _NODE_EFFORT * nodes)

    def spend_on_filters(self, nodes: int, times: int = 1) -> bool:
        """Whether there was that much left."""
        return self.spend(times * (_FILTER_EFFORT + _NODE_EFFORT * nodes))
