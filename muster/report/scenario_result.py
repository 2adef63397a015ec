"""Collects steps and phases of one scenario while it runs, and makes its Result. Does not depend on pytest."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from muster.report.results import Result, StepResult, file_name
from muster.report.sanitize import plain
from muster.report.timeline.timeline import StepOutcome
from muster.suite.behaviours import Behaviour
from muster.verdicts import Verdict, combined


def with_first_line(step: str, docstring: str | None) -> str:
    """A step that ends with a colon is not clear alone: the first line of its doc string completes it."""
    lines = (docstring or "").splitlines() if step.endswith(":") else []
    return f"{step} {' '.join(lines[0].split())}{' …' if len(lines) > 1 else ''}" if lines else step


@dataclass
class Observation:
    """One scenario in one round: its phases are setup, call and teardown."""

    behaviour: Behaviour
    title: str
    node_id: str
    round: int = 1
    rounds: int = 1
    example: str = ""
    worker: str = "main"
    nodes: str = ""
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    _messages: dict[str, str] = field(default_factory=dict)
    _seconds: dict[str, float] = field(default_factory=dict)
    _steps: list[StepResult] = field(default_factory=list)
    _decided: list[tuple[str, float, Verdict, bool]] = field(default_factory=list)
    _open_step: tuple[str, str, float, bool] | None = None

    @property
    def inside_a_step(self) -> bool:
        """Whether a step has begun and not ended."""
        return self._open_step is not None

    def step_begins(self, keyword: str, text: str, docstring: str = "", *, is_then: bool = False) -> None:
        """Called before the fixtures of the step are set up, so that their time counts."""
        self._open_step = (keyword, plain(with_first_line(text, docstring)), time.monotonic(), is_then)

    def step_ends(self, verdict: Verdict) -> None:
        """The step that began last has this verdict."""
        if self._open_step:
            keyword, text, began, is_then = self._open_step
            now = time.monotonic()
            self._steps.append(StepResult(keyword, text, str(verdict), round(now - began, 3)))
            self._decided.append((f"{keyword} {text}", now, verdict, is_then))
            self._open_step = None

    def phase_ends(self, phase: str, verdict: Verdict, message: str, seconds: float) -> None:
        """Verdict of a phase, with the failure report or the error if it did not pass."""
        self._verdicts[phase] = verdict
        self._messages[phase] = plain(message)
        self._seconds[phase] = seconds

    def step_outcomes(self, began: float) -> list[StepOutcome]:
        """When each Then step was decided, and any other step that ended the scenario, in seconds since `began`."""
        return [
            StepOutcome(text, max(0.0, round(at - began, 3)), str(verdict))
            for text, at, verdict, is_then in self._decided
            if is_then or verdict is not Verdict.PASSED
        ]

    @property
    def file_name(self) -> str:
        """Base name of the files about this scenario."""
        return file_name(self.behaviour.id, self.example, self.round, self.rounds)

    @property
    def verdict(self) -> Verdict:
        """Of the phases so far."""
        return combined(self._verdicts.values())

    def result(self, root: Path) -> Result:
        """The finished result, with the feature file relative to `root`."""
        return Result(
            id=self.behaviour.id,
            level=self.behaviour.level,
            capabilities=list(self.behaviour.capabilities),
            title=plain(self.title),
            verdict=self.verdict,
            round=self.round,
            rounds=self.rounds,
            example=self.example,
            seconds=round(self._seconds.get("call", 0.0), 3),
            setup_seconds=round(self._seconds.get("setup", 0.0), 3),
            teardown_seconds=round(self._seconds.get("teardown", 0.0), 3),
            message=self._message(),
            worker=self.worker,
            tests_the_cluster=self.behaviour.tests_the_cluster,
            feature=self.behaviour.feature_file.relative_to(root).as_posix(),
            steps=self._steps,
            node_id=self.node_id,
            nodes=self.nodes,
        )

    def _message(self) -> str:
        """Messages of the phases that decided; a failure that an error overruled is kept."""
        decisive = [self._messages[phase] for phase, verdict in self._verdicts.items() if verdict is self.verdict]
        overruled = self.verdict is Verdict.ERROR and self._verdicts.get("call") is Verdict.FAILED
        if overruled:
            decisive += ["before that the scenario had failed:", self._messages["call"]]
        return "\n".join(filter(None, decisive))
