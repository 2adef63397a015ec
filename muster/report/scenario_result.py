"""What is seen of one scenario while it runs, until it is a Result. Knows nothing of pytest, which only calls it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from muster.catalogue import Behaviour
from muster.report.plain_text import plain
from muster.report.results import Result, StepResult, file_name
from muster.report.timeline import Sentence
from muster.verdicts import Verdict, combined


def with_text(sentence: str, below: str | None) -> str:
    """A sentence that ends with a colon says nothing alone: the first line of what stands below it completes it."""
    lines = (below or "").splitlines() if sentence.endswith(":") else []
    return f"{sentence} {' '.join(lines[0].split())}{' …' if len(lines) > 1 else ''}" if lines else sentence


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
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    _messages: dict[str, str] = field(default_factory=dict)
    _seconds: dict[str, float] = field(default_factory=dict)
    _steps: list[StepResult] = field(default_factory=list)
    _decided: list[tuple[str, float, Verdict, bool]] = field(default_factory=list)
    _open_step: tuple[str, str, float, bool] | None = None

    @property
    def inside_a_step(self) -> bool:
        """A step has begun and nobody has told how it ended."""
        return self._open_step is not None

    def step_begins(self, keyword: str, text: str, below: str = "", *, promises: bool = False) -> None:
        """A sentence, with the text below it and the fixtures that it asks for; a Then promises something."""
        self._open_step = (keyword, plain(with_text(text, below)), time.monotonic(), promises)

    def step_ends(self, verdict: Verdict) -> None:
        """How the sentence went."""
        if self._open_step:
            keyword, text, began, promises = self._open_step
            now = time.monotonic()
            self._steps.append(StepResult(keyword, text, str(verdict), round(now - began, 3)))
            self._decided.append((f"{keyword} {text}", now, verdict, promises))
            self._open_step = None

    def phase_ends(self, phase: str, verdict: Verdict, message: str, seconds: float) -> None:
        """How a phase went, with the story or the sentence if it did not pass."""
        self._verdicts[phase] = verdict
        self._messages[phase] = plain(message)
        self._seconds[phase] = seconds

    def sentences(self, began: float) -> list[Sentence]:
        """When each promise was decided, and where another step ended the scenario that one, from `began` on."""
        return [
            Sentence(text, max(0.0, round(at - began, 3)), str(verdict))
            for text, at, verdict, promises in self._decided
            if promises or verdict is not Verdict.PASSED
        ]

    @property
    def file_name(self) -> str:
        """What files about this scenario are called."""
        return file_name(self.behaviour.id, self.example, self.round, self.rounds)

    @property
    def verdict(self) -> Verdict:
        """Of the phases so far."""
        return combined(self._verdicts.values())

    def result(self, root: Path) -> Result:
        """All of it, feature files named from `root`."""
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
            judges_the_cluster=self.behaviour.judges_the_cluster,
            feature=self.behaviour.feature_file.relative_to(root).as_posix(),
            steps=self._steps,
            node_id=self.node_id,
        )

    def _message(self) -> str:
        """The words of the phases that decided; a failure that an error overruled is not forgotten."""
        decisive = [self._messages[phase] for phase, verdict in self._verdicts.items() if verdict is self.verdict]
        overruled = self.verdict is Verdict.ERROR and self._verdicts.get("call") is Verdict.FAILED
        if overruled:
            decisive += ["before that the scenario had failed:", self._messages["call"]]
        return "\n".join(filter(None, decisive))
