"""Durations as people write and read them. One unit is printed, the largest that fits: the rest is noise in a table."""

from __future__ import annotations

import re
from datetime import datetime

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_WRITTEN = re.compile(r"(\d+)([smhd])")
_STEPS = ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h"), (365 * 86400, 86400, "d"))
_YEAR = 365 * 86400


def short(seconds: float) -> str:
    """12s, 3m, 2h, 5d, 1y: rounded down, and never negative when two clocks disagree."""
    whole = max(int(seconds), 0)
    for below, unit, letter in _STEPS:
        if whole < below:
            return f"{whole // unit}{letter}"
    return f"{whole // _YEAR}y"


def seconds_in(text: str) -> int:
    """`90`, `30s`, `2h30m`; ValueError for anything else, and for no time at all."""
    parts = _WRITTEN.findall(text)
    if text.isdecimal():
        total = int(text)
    elif parts and "".join(number + unit for number, unit in parts) == text:
        total = sum(int(number) * _UNITS[unit] for number, unit in parts)
    else:
        total = 0
    if total == 0:
        raise ValueError(f"{text!r} is no length of time: write 90s, 30m or 2h30m")
    return total


def moment(text: str | None) -> datetime | None:
    """A time of the API, with or without fractions of a second."""
    return datetime.fromisoformat(text) if text else None
