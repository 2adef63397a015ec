"""Scheduler-wide settings; everything else follows from the API objects."""

from __future__ import annotations

from dataclasses import dataclass

SCHEDULER_NAMES = frozenset({"muster-scheduler", "volcano", "koord-scheduler"})


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of a SchedulerConfiguration."""

    schedulers: frozenset[str] = SCHEDULER_NAMES
    preemption: bool = True
    strict_queues: bool = False  # strict FIFO: the head of a queue blocks later units; else they may start (traverse)
