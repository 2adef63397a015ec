"""Whose turn it is to be searched for, where there are more gangs than one cycle has effort for.

A gang whose members differ or have constraints can be expensive to refuse, and it would be refused again in every
cycle. So a cycle spends a limited effort on such gangs. Those that it does not reach come first in the next ones, until
each has had its turn: that is a round. In a round each gang is tried once, so that a few that are always ahead do not
use up the effort of the others for ever.

This is all that the scheduler remembers between two cycles. The runtime keeps it, notes changes, and begins another
cycle while a round is incomplete. A gang that had its turn before something changed is tried again in another round.
"""

from __future__ import annotations

_CYCLE_EFFORT = 10_000_000  # the gang that exceeds it is the last one


class SearchTurns:
    """Which gangs have been tried in this round, by name; `effort` is the limit of one cycle."""

    def __init__(self, effort: float = _CYCLE_EFFORT) -> None:
        self._had: set[str] = set()
        self._effort = self._left = effort
        self._denied = self._passed_over = self._changed = False
        self.is_incomplete = False  # another cycle is needed, even if nothing changes

    def note_change(self) -> None:
        """Something changed since the last cycle."""
        self._changed = self._changed or bool(self._had)

    def begin_cycle(self) -> None:
        self._left, self._denied = self._effort, False

    def takes(self, name: str) -> bool:
        """Whether this gang may be tried now."""
        if name in self._had:
            self._passed_over = True
            return False
        self._denied = self._denied or self._left <= 0
        return self._left > 0

    def spend(self, name: str, effort: int) -> None:
        """It had its turn, which took so much."""
        self._had.add(name)
        self._left -= effort

    def end_cycle(self) -> None:
        if self._denied:
            self.is_incomplete = True
            return
        self.is_incomplete = self._passed_over and self._changed
        self._passed_over = self._changed = False
        self._had.clear()
