"""Controls a demo: its numbered sections, which commands follow each of them, and when to pause.

Sections are the comments of the feature file, e.g. `# 3: the pod is preempted`. A scenario without such comments is
numbered by its Whens: each begins a new section.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from muster.demo.cluster_map import ClusterMap, has_terminating_pods
from muster.demo.console import DemoConsole
from muster.demo.server import (
    ClusterReady,
    DemoServer,
    Event,
    ScenarioFinished,
    StepFailed,
    StepPassed,
    StepStarted,
)
from muster.suite.behaviours import Behaviour

_COMMENT = re.compile(r"\s*# (?P<number>\d+(?: and \d+)?): (?P<title>.+)")
_SET_UP = "set-up"
_COMMAND = "muster "
_OUTPUT = "the output is:"
_ABOUT_EVENTS = re.compile(r'(?:a Preempted event|the events) on [^"]*"(?P<pod>[^"]+)"')


@dataclass(frozen=True)
class Section:
    """From its first line in the feature file to the next section. The first one is what is given."""

    number: str
    title: str
    line: int


def sections_of(behaviour: Behaviour) -> list[Section]:
    """The set-up, then the numbered sections."""
    first, last = behaviour.steps[0].line, behaviour.steps[-1].line
    commented = [section for section in _from_comments(behaviour) if first <= section.line <= last]
    return [Section("", _SET_UP, first), *(commented or _from_whens(behaviour))]


def section_at(sections: Sequence[Section], line: int) -> Section:
    """The section of a step on this line."""
    return sections[bisect_right([section.line for section in sections], line) - 1]


def follow_up_commands(
    steps: Sequence[StepStarted], cluster: ClusterMap, jobs: Iterable[str], *, explains: bool
) -> list[str]:
    """Commands that show the result of a section whose steps run none themselves.

    `jobs` are those seen so far; `explains`: `muster explain` works with this scheduler.
    """
    commands = _event_commands(steps, jobs)
    if any(_is_command(step) for step in steps):
        return commands
    if cluster.unit == "GPU" and any(step.kind == "when" for step in steps):
        commands.append("muster list")
    if explains and cluster.pending:
        commands.append(f"muster explain {cluster.pending[0].pod}")
    return commands


class DemoController:
    """Shows one scenario. `explains`: `muster explain` works with this scheduler."""

    def __init__(
        self,
        console: DemoConsole,
        server: DemoServer,
        sections: Sequence[Section],
        *,
        pauses: bool,
        explains: bool,
    ) -> None:
        self._console, self._server, self._sections = console, server, sections
        self._pauses, self._explains = pauses, explains
        self._section: Section | None = None
        self._steps: list[StepStarted] = []  # of this section
        self._jobs: set[str] = set()
        self._failed = False
        self._cluster: ClusterMap | None = None
        self._shown: ClusterMap | None = None

    def run(self, wait_for_end: Callable[[], object]) -> None:
        """Until the scenario has ended."""
        for event in self._server.events(wait_for_end):
            self._handle(event)
            self._server.proceed()

    def _handle(self, event: Event) -> None:
        match event:
            case ClusterReady(kubeconfig=file) if self._pauses and file:
                self._console.note("to inspect the cluster from another terminal:")
                self._console.note(f"export KUBECONFIG={file}")
            case StepStarted():
                self._step_started(event)
            case StepPassed():
                self._step_passed(event)
            case StepFailed():
                self._console.step_failed(_text_of(self._steps[-1]))
                self._failed = True
            case ScenarioFinished() if not self._failed:
                self._end_section()

    def _step_started(self, step: StepStarted) -> None:
        section = section_at(self._sections, step.line)
        if section != self._section:
            self._end_section()
            self._console.section(section.number, section.title)
            self._section, self._steps = section, []
        elif step.kind == "when":
            self._show_map()
        self._steps.append(step)
        if _is_command(step):
            self._console.show_command(step.docstring)
        else:
            self._console.step_running(_text_of(step))

    def _step_passed(self, event: StepPassed) -> None:
        self._cluster, step = event.cluster, self._steps[-1]
        if self._cluster is not None:
            self._jobs |= self._cluster.jobs
        if _is_command(step):
            self._console.output(event.output)
        else:
            self._console.step_passed(_text_of(step))

    def _end_section(self) -> None:
        if self._section is None:
            return
        self._show_map()
        if self._cluster is not None and has_terminating_pods(self._cluster):  # a pause would miss what comes next
            return
        self._run_follow_up_commands()
        if self._pauses:
            self._console.pause()

    def _run_follow_up_commands(self) -> None:
        """None after the set-up: nothing has happened yet."""
        if self._cluster is None or self._section is self._sections[0]:
            return
        for command in follow_up_commands(self._steps, self._cluster, self._jobs, explains=self._explains):
            self._console.show_command(command)
            self._console.output(self._server.run_command(command))

    def _show_map(self) -> None:
        if self._cluster is not None and self._cluster != self._shown:
            self._console.map(self._cluster)
            self._shown = self._cluster


def _from_comments(behaviour: Behaviour) -> list[Section]:
    lines = behaviour.feature_file.read_text(encoding="utf-8").splitlines()
    found = [(number, _COMMENT.fullmatch(line)) for number, line in enumerate(lines, start=1)]
    return [Section(match["number"], match["title"], number) for number, match in found if match]


def _from_whens(behaviour: Behaviour) -> list[Section]:
    whens = [step for step in behaviour.steps if step.keyword == "When"]
    return [Section(str(number), "", step.line) for number, step in enumerate(whens, start=1)]


def _event_commands(steps: Iterable[StepStarted], jobs: Iterable[str]) -> list[str]:
    found = [match["pod"] for step in steps if (match := _ABOUT_EVENTS.match(step.text))]
    owners = [job for pod in found for job in jobs if pod.startswith(f"{job}-")]
    return [f"muster events {job}" for job in dict.fromkeys(owners)]


def _is_command(step: StepStarted) -> bool:
    return step.docstring.startswith(_COMMAND)


def _text_of(step: StepStarted) -> str:
    """The expected output of a command is not repeated: the output itself has just been shown."""
    return "the output is as expected" if step.text == _OUTPUT else step.text.rstrip(":")
