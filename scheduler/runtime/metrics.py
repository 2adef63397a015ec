"""Counters and one histogram in the Prometheus text format; the official library would be larger than all of this."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Counter:
    """Goes up, by one label."""

    def __init__(self, name: str, text: str, label: str = "") -> None:
        self._head = f"# HELP {name} {text}\n# TYPE {name} counter\n"
        self._name, self._label = name, label
        self._values: dict[str, int] = {} if label else {"": 0}

    def add(self, value: str = "", number: int = 1) -> None:
        self._values[value] = self._values.get(value, 0) + number

    def lines(self) -> Iterator[str]:
        yield self._head
        for value, number in sorted(self._values.items()):
            tag = f'{{{self._label}="{value}"}}' if self._label else ""
            yield f"{self._name}{tag} {number}\n"


class Histogram:
    """How long something took, in seconds."""

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
    """What the scheduler counts about itself."""

    def __init__(self) -> None:
        self.plans = Histogram("muster_scheduler_plan_seconds", "Time that one plan took.")
        self.decisions = Counter("muster_scheduler_decisions_total", "Decisions made, by kind.", "kind")
        self.done = Counter("muster_scheduler_done_total", "Decisions carried out, by kind.", "kind")
        self.failures = Counter("muster_scheduler_failures_total", "Decisions that were refused, by kind.", "kind")

    def text(self) -> str:
        return "".join(line for one in vars(self).values() for line in one.lines())
