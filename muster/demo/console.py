"""Output of a demo: line after line; nothing is overwritten except a running step by its own tick.

On a terminal long lines are wrapped and indented; in a pipe they stay whole, and there is no colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from muster.demo.cluster_map import ClusterMap, Legend, draw_map

_INDENT = 3
_HANGING = 4  # further indentation of the rest of a wrapped line
_RULE = re.compile(r"-{20,}")


class DemoConsole:
    """Writes a demo to one console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._legend = Legend()
        self._after_a_gap = False
        ascii_only = console.options.ascii_only
        self._running, self._passed, self._failed = ("..", "ok", "NO") if ascii_only else ("…", "✓", "✗")

    def title(self, id_: str, title: str, subtitle: str) -> None:
        self._print(Text(f"{id_}  {title}", style="bold"), hanging=len(id_) + 2)
        self.note(subtitle)

    def note(self, text: str) -> None:
        self._print(Text(text, style="dim"), hanging=0)

    def finish(self, text: str) -> None:
        self._gap()
        self.note(text)

    def section(self, number: str, title: str) -> None:
        self._gap()
        prefix = f"{number:<{_INDENT - 1}} "
        self._print(Text(f"{prefix}{title}", style="bold"), hanging=len(prefix))

    def show_command(self, command: str) -> None:
        for number, line in enumerate(command.splitlines()):
            self._print(Text.assemble(("  " if number else "$ ", "bold green"), (line, "bold")), indent=_INDENT)

    def output(self, text: str) -> None:
        for line in text.splitlines():
            self._print(Text(self._fitting(line)), indent=_INDENT)

    def step_running(self, step: str) -> None:
        """Shown on a terminal only, and by no more than one line, so that the tick can overwrite it."""
        if self._console.is_terminal:
            first = next(self._wrapped(f"{self._running} {step}", _INDENT, _HANGING))
            self._console.print(Text(first, style="dim"), end="\r", soft_wrap=True, highlight=False)

    def step_passed(self, step: str) -> None:
        self._print(Text.assemble((self._passed, "green"), f" {step}"), indent=_INDENT)

    def step_failed(self, step: str) -> None:
        self._print(Text.assemble((self._failed, "bold red"), f" {step}"), indent=_INDENT)

    def failure_report(self, text: str) -> None:
        for line in text.splitlines():
            self._print(Text(line, style="red"), indent=_INDENT)

    def map(self, cluster: ClusterMap) -> None:
        self._gap()
        for line in draw_map(cluster, self._legend):
            self._print(line, indent=_INDENT)
        self._gap()

    def pause(self) -> None:
        """Until Enter is pressed."""
        self._gap()
        self._console.input(Text("[Enter] to continue, ctrl-C to stop ", style="dim"))

    def _gap(self) -> None:
        """One empty line, never two."""
        if not self._after_a_gap:
            self._console.print()
        self._after_a_gap = True

    def _print(self, line: Text, *, indent: int = 0, hanging: int = _HANGING) -> None:
        """An empty line stays empty; wrapped text keeps its colours."""
        self._after_a_gap = False
        for piece in self._pieces(line, indent, hanging):
            piece.rstrip()
            self._console.print(piece, soft_wrap=True, highlight=False)

    def _pieces(self, line: Text, indent: int, hanging: int) -> Iterator[Text]:
        width = self._console.width - indent
        if not self._console.is_terminal or line.cell_len <= width:
            yield Text(" " * indent).append_text(line)
            return
        for number, piece in enumerate(line.wrap(self._console, width - hanging)):
            yield Text(" " * (indent + (hanging if number else 0))).append_text(piece)

    def _wrapped(self, text: str, indent: int, hanging: int) -> Iterator[str]:
        for piece in self._pieces(Text(text), indent, hanging):
            yield piece.plain

    def _fitting(self, line: str) -> str:
        """A rule is cut to the width of the terminal."""
        width = self._console.width - _INDENT
        return line[:width] if self._console.is_terminal and _RULE.fullmatch(line) else line
