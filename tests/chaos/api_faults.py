"""What can go wrong with a request, chosen by a seeded chance.

Only the choices are seeded: which request meets which fault depends on the order in which requests come. Every fault is
written to a ledger, so that a run in which nothing went wrong cannot pass for one that survived.
"""

from __future__ import annotations

import random
from collections import Counter
from enum import StrEnum
from pathlib import Path

RATE = 0.05  # of all requests, of all watches when they begin, and of all lines of watches


class Fault(StrEnum):
    """Named as they are written to the ledger."""

    CONFLICT = "409"
    TOO_MANY = "429"
    BROKEN = "500"
    UNAVAILABLE = "503"
    GONE = "410"
    SILENCE = "silence"  # carried out or not, no answer comes
    CUT_BEFORE = "cut before it was carried out"
    CUT_AFTER = "cut in the middle of the answer"
    LINE_CUT = "a watch cut in the middle of a line"
    LINE_GONE = "a watch that says 410 and ends"


_ALWAYS = (
    Fault.TOO_MANY,
    Fault.BROKEN,
    Fault.UNAVAILABLE,
    Fault.SILENCE,
    Fault.CUT_BEFORE,
    Fault.CUT_AFTER,
)
_READING = _ALWAYS
_WRITING = (*_ALWAYS, Fault.CONFLICT, Fault.CUT_AFTER)  # the worst case twice: done, and nobody knows
_BEGINNING = (Fault.GONE, Fault.BROKEN, Fault.UNAVAILABLE, Fault.TOO_MANY, Fault.CUT_BEFORE)
_LINES = (Fault.LINE_CUT, Fault.LINE_CUT, Fault.LINE_GONE)


class Faults:
    """Asked once per request and once per line of a watch."""

    def __init__(self, seed: int, ledger: Path | None = None, rate: float = RATE) -> None:
        self._chance = random.Random(seed)
        self._rate = rate
        self._ledger = ledger

    def of_request(self, method: str) -> Fault | None:
        return self._draw(_READING if method == "GET" else _WRITING)

    def of_watch(self) -> Fault | None:
        return self._draw(_BEGINNING)

    def of_line(self) -> Fault | None:
        return self._draw(_LINES)

    def part(self) -> float:
        """How much of something gets through before it is cut."""
        return self._chance.random()

    def _draw(self, choices: tuple[Fault, ...]) -> Fault | None:
        if self._chance.random() >= self._rate:
            return None
        fault = self._chance.choice(choices)
        if self._ledger is not None:
            with self._ledger.open("a") as ledger:
                ledger.write(f"{fault}\n")
        return fault


def counted(ledger: Path) -> Counter[str]:
    """How often each fault was met."""
    return Counter(ledger.read_text().splitlines()) if ledger.exists() else Counter()
