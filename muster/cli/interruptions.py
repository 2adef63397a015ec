"""SIGINT and SIGTERM, in every phase of a run, lead to the same orderly end.

Before pytest runs they raise KeyboardInterrupt. While it runs they are passed on once to its whole group (it lives in a
session of its own, so a terminal's ctrl-C does not reach it directly and workers are not hit twice); a second one
kills. Afterwards they are ignored: the report takes milliseconds, and half of it is worth nothing.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.cli.pytest_process import PytestProcess


class Interruptions:
    """Holds both signals from now until the end of this process."""

    def __init__(self) -> None:
        self.happened = False
        self._pytest: PytestProcess | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def forward_to(self, pytest: PytestProcess) -> None:
        """From now on signals are for this process."""
        self._pytest = pytest

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        again, self.happened = self.happened, True
        if self._pytest is None:
            raise KeyboardInterrupt
        if again:
            self._pytest.kill()
        else:
            self._pytest.interrupt()

    def ignore(self) -> None:
        """pytest has ended: nothing is left that could be interrupted."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
