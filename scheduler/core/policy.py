"""What an administrator decides; everything else follows from the objects."""

from __future__ import annotations

from dataclasses import dataclass

SCHEDULER_NAMES = frozenset({"muster-scheduler", "volcano", "koord-scheduler"})


@dataclass(frozen=True, slots=True)
class Policy:
    """Whose pods are scheduled, and by which of the rules that reasonable people differ about."""

    schedulers: frozenset[str] = SCHEDULER_NAMES
    preemption: bool = True
    strict_queues: bool = False  # fifo: the head of a queue blocks the others; else they may pass it (traverse)
