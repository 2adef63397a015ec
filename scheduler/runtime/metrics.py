"""Counters and histograms in the Prometheus text format, without the size of the official client library."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Counter:
    """A counter, with or without labels."""

    def __init__(self, name: str, text: str, *labels: str) -> None:
        self._head = f"# HELP {name} {text}\n# TYPE {name} counter\n"
        self._name, self._labels = name, labels
        self._values: dict[tuple[str, ...], int] = {} if labels else {(): 0}

    def add(self, *values: str, number: int = 1) -> None:
        """Count for these values of the labels."""
        self._values[values] = self._values.get(values, 0) + number

    def lines(self) -> Iterator[str]:
        yield self._head
        for values, number in sorted(self._values.items()):
            labels = ",".join(f'{label}="{value}"' for label, value in zip(self._labels, values, strict=True))
            yield f"{self._name}{{{labels}}} {number}\n" if labels else f"{self._name} {number}\n"


class Histogram:
    """A histogram of durations in seconds."""

    def __init__(self, name: str, text: str) -> None:
        self._head = f"# HELP {name} {text}\n# TYPE {name} histogram\n"
        self._name = name
        self._counts = [0] * (len(_BUCKETS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        self._counts[bisect_left(_BUCKETS, seconds)] += 1
        self._sum += seconds

    def lines(self) -> Iterator[str]:
        yield self._head
        total = 0
        for limit, count in zip((*map(str, _BUCKETS), "+Inf"), self._counts, strict=True):
            total += count
            yield f'{self._name}_bucket{{le="{limit}"}} {total}\n'
        yield f"{self._name}_sum {self._sum:.6f}\n{self._name}_count {total}\n"


class Metrics:
    """The scheduler's own metrics."""

    def __init__(self) -> None:
        self.cycle_duration = Histogram(
            "muster_scheduler_scheduling_cycle_duration_seconds", "Duration of scheduling cycles."
        )
        self.decisions = Counter("muster_scheduler_decisions_total", "Decisions made, by action.", "action")
        self.actions = Counter(
            "muster_scheduler_actions_total", "Actions executed, by action and result.", "action", "result"
        )

    def text(self) -> str:
        return "".join(line for one in vars(self).values() for line in one.lines())
