"""An event loop with virtual time: nothing sleeps, and the clock moves on to the next timer when nothing else is due.

For tests that count what happens in minutes. There must be no real I/O: the loop would not wait for it.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _VirtualSelector(selectors.SelectSelector):
    """Instead of waiting, moves the clock."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found:
            assert timeout is not None, "nothing will ever happen: everything waits, and no timer is set"
            self.now += max(0.0, timeout)
        return found


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _VirtualSelector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now

    def close(self) -> None:
        left = asyncio.all_tasks(self)
        super().close()
        assert not left, f"started while the loop was closing: {left}"


def run_in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=_VirtualLoop) as runner:
        return runner.run(work)
