"""How measurements are printed: the median with the spread; and the memory of a process."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path


def spread(values: Sequence[float], digits: int = 2) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def resident_set_mib(pid: int | None, *, most: bool = False) -> float:
    """The resident set size in MiB: now, or its maximum so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:" if most else "VmRSS:")[2].split()[0]) / 1024
