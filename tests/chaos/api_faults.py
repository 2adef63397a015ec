"""Faults of API requests, chosen at random with a seed.

Only the choices are seeded: which request gets which fault depends on the order of the requests. Every fault is written
to a ledger, so that a run without faults cannot count as a success.
"""

from __future__ import annotations

import random
from collections import Counter
from enum import StrEnum
from pathlib import Path

RATE = 0.05  # of all requests, of all started watches, and of all watch events


class Fault(StrEnum):
    """Values as written to the ledger."""

    CONFLICT = "409"
    TOO_MANY = "429"
    INTERNAL_ERROR = "500"
    UNAVAILABLE = "503"
    EXPIRED = "410"
    NO_RESPONSE = "no response"  # carried out or not
    CUT_BEFORE = "cut before the request"
    CUT_AFTER = "cut in the response"
    WATCH_CUT = "watch cut within an event"
    WATCH_EXPIRED = "watch ended with 410"


_REQUEST_FAULTS = (
    Fault.TOO_MANY,
    Fault.INTERNAL_ERROR,
    Fault.UNAVAILABLE,
    Fault.NO_RESPONSE,
    Fault.CUT_BEFORE,
    Fault.CUT_AFTER,
)
_READ_FAULTS = _REQUEST_FAULTS
_WRITE_FAULTS = (
    *_REQUEST_FAULTS,
    Fault.CONFLICT,
    Fault.CUT_AFTER,
)  # the worst case twice: done, response lost
_WATCH_FAULTS = (Fault.EXPIRED, Fault.INTERNAL_ERROR, Fault.UNAVAILABLE, Fault.TOO_MANY, Fault.CUT_BEFORE)
_LINE_FAULTS = (Fault.WATCH_CUT, Fault.WATCH_CUT, Fault.WATCH_EXPIRED)


class Faults:
    """Draws a fault once per request and once per watch event."""

    def __init__(self, seed: int, ledger: Path | None = None, rate: float = RATE) -> None:
        self._rng = random.Random(seed)
        self._rate = rate
        self._ledger = ledger

    def for_request(self, method: str) -> Fault | None:
        return self._draw(_READ_FAULTS if method == "GET" else _WRITE_FAULTS)

    def for_watch(self) -> Fault | None:
        return self._draw(_WATCH_FAULTS)

    def for_line(self) -> Fault | None:
        return self._draw(_LINE_FAULTS)

    def fraction(self) -> float:
        """How much of a response gets through before it is cut."""
        return self._rng.random()

    def _draw(self, choices: tuple[Fault, ...]) -> Fault | None:
        if self._rng.random() >= self._rate:
            return None
        fault = self._rng.choice(choices)
        if self._ledger is not None:
            with self._ledger.open("a") as ledger:
                ledger.write(f"{fault}\n")
        return fault


def fault_counts(ledger: Path) -> Counter[str]:
    """How often each fault was injected."""
    return Counter(ledger.read_text().splitlines()) if ledger.exists() else Counter()
