"""Scheduler-wide settings; everything else follows from the API objects."""

from __future__ import annotations

from dataclasses import dataclass

MOST_ALLOCATED = "MostAllocated"  # the fullest node that fits: bin packing keeps large free blocks whole
LEAST_ALLOCATED = "LeastAllocated"  # the emptiest node: spreads the load
SCORING_STRATEGIES = (MOST_ALLOCATED, LEAST_ALLOCATED)
SCHEDULER_NAMES = frozenset({"muster-scheduler", "volcano", "koord-scheduler"})


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of a SchedulerConfiguration."""

    schedulers: frozenset[str] = SCHEDULER_NAMES
    preemption: bool = True
    strict_queues: bool = False  # strict FIFO: the head of a queue blocks later units; else they may start (traverse)
    scoring_strategy: str = MOST_ALLOCATED
