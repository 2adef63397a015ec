"""The view of a running suite: on a terminal a few lines with what each worker waits for, elsewhere a line per result.

Results are read from the results file, never from messages: a message may be lost, a verdict may not.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.text import Text

from muster import progress
from muster.report.results import Result, ResultsReader
from muster.report.table import STYLES, result_line
from muster.verdicts import Verdict

if TYPE_CHECKING:
    from muster.runner.pytest_process import PytestProcess

REFRESH = 0.25  # seconds between two refreshes of a terminal
SILENCE = 10.0  # seconds without a result after which a line shows what each worker waits for
LONGEST_MESSAGE = 65536
_COLOURS = ("blue", "yellow", "green", "magenta", "cyan", "red")


@dataclass
class WorkerState:
    """What one worker does now, and since when."""

    id: str
    title: str
    since: float
    waits_for: str = ""
    waits_since: float = 0.0
    map: Text | None = None

    def __str__(self) -> str:
        waits = f"waits {time.time() - self.waits_since:.0f} s for {self.waits_for}  " if self.waits_for else ""
        return f"{self.id}  {time.time() - self.since:.0f} s  {waits}{self.title}"


class LiveView:
    """Listens from entering on; `watch` returns when pytest has ended and every result has been shown."""

    def __init__(self, planned: int, results: Path) -> None:
        self._planned = planned
        self._results = ResultsReader(results)
        self._console = Console(stderr=True)
        self._messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._workers: dict[str, WorkerState] = {}
        self._finished: list[Result] = []
        self._started = self._last_printed = time.monotonic()
        self._receiver, self.address = progress.listener()

    def __enter__(self) -> LiveView:
        threading.Thread(target=self._receive, name="progress", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._receiver.close()

    def watch(self, pytest: PytestProcess) -> None:
        """Show what happens until the process has ended."""
        threading.Thread(target=self._await_end, args=(pytest,), name="end", daemon=True).start()
        if not self._console.is_terminal:
            self._follow(pytest)
            return
        with RichLive(console=self._console, auto_refresh=False, transient=True, redirect_stdout=False) as display:
            self._follow(pytest, display)

    def _follow(self, pytest: PytestProcess, display: RichLive | None = None) -> None:
        ended = False
        while not ended:
            try:
                message = self._messages.get(timeout=REFRESH if display else 1.0)
            except Empty:
                pass
            else:
                ended = message is None
                self._take(message or {})
            for result in self._results.new():
                self._show_result(result, everything=display is None)
            pytest.kill_if_overdue()
            if display:
                display.update(self._render())
                self._refresh(display)
            elif time.monotonic() - self._last_printed > SILENCE:
                self._print_waits()

    def _refresh(self, display: RichLive) -> None:
        if time.monotonic() - self._last_printed >= REFRESH:
            self._last_printed = time.monotonic()
            display.refresh()

    def _await_end(self, pytest: PytestProcess) -> None:
        pytest.wait()
        self._messages.put(None)

    def _receive(self) -> None:
        while True:
            try:
                self._messages.put(json.loads(self._receiver.recv(LONGEST_MESSAGE)))
            except OSError:  # closed: the run is over
                return
            except ValueError:
                continue

    def _take(self, message: dict[str, Any]) -> None:
        worker, at = str(message.get("worker", "")), float(message.get("at", 0.0))
        match message.get("event"):
            case "starts":
                self._workers[worker] = WorkerState(_printable(message["id"]), _printable(message["title"]), at)
            case "waits" if worker in self._workers:
                self._workers[worker].waits_for = _printable(message["text"])
                self._workers[worker].waits_since = at
            case "map" if worker in self._workers:
                self._workers[worker].map = _map(message["nodes"], message["pending"])
            case "kept":
                for line in message["lines"]:
                    self._console.print(Text(_printable(line)), soft_wrap=True, highlight=False)
            case "ends":
                self._workers.pop(worker, None)

    def _show_result(self, result: Result, *, everything: bool) -> None:
        self._finished.append(result)
        if everything or result.verdict in (Verdict.FAILED, Verdict.ERROR):
            self._console.print(
                Text(result_line(result), style=STYLES[result.verdict]), soft_wrap=True, highlight=False
            )
            if everything:
                self._last_printed = time.monotonic()

    def _print_waits(self) -> None:
        self._last_printed = time.monotonic()
        for state in self._workers.values():
            self._console.print(Text(f"... {state}"), soft_wrap=True, highlight=False)
        if not self._workers:
            self._console.print(Text(f"... {self._idle()}"), soft_wrap=True, highlight=False)

    def _idle(self) -> str:
        return "stopping" if self._finished else "starting"

    def _render(self) -> Group:
        bad = sum(result.verdict in (Verdict.FAILED, Verdict.ERROR) for result in self._finished)
        count = f"{len(self._finished)}/{self._planned}  {time.monotonic() - self._started:.0f} s"
        head = Text(count + (f"  {bad} failed or broken" if bad else ""), style="bold")
        lines = [Text("  ").append(self._idle())] if not self._workers else []
        for _, state in sorted(self._workers.items()):
            lines += [Text(f"  {state}"), *([state.map] if state.map else [])]
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(head, *lines)


def _map(nodes: list[tuple[str, str]], pending: int) -> Text:
    """Cells in the colours of their jobs, dimmed while their pod terminates; counts as they are."""
    shown = Text("    ")
    for name, cells in nodes:
        shown.append(f"{_printable(name)} ", style="dim")
        for cell in cells:
            job = "" if "/" in cells or cell == "." else _COLOURS[ord(cell.upper()) % len(_COLOURS)]
            shown.append(cell, style=f"{job} dim" if cell.islower() and job else job)
        shown.append("  ")
    return shown.append(f"{pending} pending" if pending else "")


def _printable(text: object) -> str:
    return "".join(character for character in str(text) if character.isprintable())
