"""How measurements are told: the middle one with the spread, and memory as the kernel counts it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path


def spread(values: Sequence[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def resident(pid: int | None, *, most: bool = False) -> float:
    """MiB: now, or the most that there ever was."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:" if most else "VmRSS:")[2].split()[0]) / 1024
