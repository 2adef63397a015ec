"""When a demo pauses, and when it must not."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator

import pytest
from rich.console import Console

from muster.demo.cluster_map import Allocation, ClusterMap, NodeMap, PendingJob
from muster.demo.console import DemoConsole
from muster.demo.controller import DemoController, Section
from muster.demo.server import ClusterReady, DemoServer, Event, ScenarioFinished, StepPassed, StepStarted

SECTIONS = [Section("", "given", 1), Section("1", "first", 2), Section("2", "second", 3)]


class FakeServer(DemoServer):
    """Yields prepared events."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = events
        self.commands: list[str] = []

    def events(self, wait_for_end: Callable[[], object]) -> Iterator[Event]:
        yield from self._events

    def proceed(self) -> None:
        return

    def run_command(self, command: str) -> str:
        self.commands.append(command)
        return "an output"


def run_demo(cluster: ClusterMap, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int]:
    """The commands after the first section, and the number of pauses."""
    pauses: list[None] = []
    monkeypatch.setattr(DemoConsole, "pause", lambda _: pauses.append(None))
    server = FakeServer(
        [
            ClusterReady("file"),
            StepStarted(1, "given", "a node", ""),
            StepPassed("", ClusterMap("GPU", (NodeMap("n", 1),))),
            StepStarted(2, "when", "a pod is created", ""),
            StepPassed("", cluster),
            StepStarted(3, "then", "it runs", ""),
            StepPassed("", ClusterMap("GPU", (NodeMap("n", 1, (Allocation("b", 1),)),))),
            ScenarioFinished(None),
        ]
    )
    console = DemoConsole(Console(file=io.StringIO(), width=80))
    DemoController(console, server, SECTIONS, pauses=True, explains=True).run(lambda: None)
    return server.commands, len(pauses)


def test_each_section_ends_with_commands_and_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = ClusterMap("GPU", (NodeMap("n", 1, (Allocation("a", 1),)),), (PendingJob("b", 1, "b-0"),))
    assert run_demo(quiet, monkeypatch) == (["muster list", "muster explain b-0"], 3)


def test_no_pause_while_pods_terminate(monkeypatch: pytest.MonkeyPatch) -> None:
    terminating = ClusterMap(
        "GPU", (NodeMap("n", 1, (Allocation("a", 1, terminating=True),)),), (PendingJob("b", 1, "b-0"),)
    )
    assert run_demo(terminating, monkeypatch) == ([], 2)
