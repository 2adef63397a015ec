"""What is seen of a performance: line after line, nothing is ever drawn over except a sentence by its own tick.

On a terminal long lines are folded under their beginning; in a pipe they stay whole, and there is no colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from muster.demo.maps import ClusterMap
from muster.demo.pictures import Legend, picture
from muster.demo.scripts import Part

_INDENT = 3
_HANGING = 4  # columns further in: the rest of a folded line
_RULE = re.compile(r"-{20,}")


class Show:
    """Writes to one console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._legend = Legend()
        self._after_a_gap = False
        ascii_only = console.options.ascii_only
        self._awaited, self._true, self._false = ("..", "ok", "NO") if ascii_only else ("…", "✓", "✗")

    def title(self, id_: str, title: str, subtitle: str) -> None:
        self._print(Text(f"{id_}  {title}", style="bold"), hanging=len(id_) + 2)
        self.remark(subtitle)

    def remark(self, text: str) -> None:
        self._print(Text(text, style="dim"), hanging=0)

    def end(self, text: str) -> None:
        self._gap()
        self.remark(text)

    def part(self, part: Part) -> None:
        self._gap()
        number = f"{part.number:<{_INDENT - 1}} "
        self._print(Text(f"{number}{part.title}", style="bold"), hanging=len(number))

    def command(self, command: str) -> None:
        self._print(Text.assemble(("$ ", "bold green"), (command, "bold")), indent=_INDENT)

    def answer(self, text: str) -> None:
        for line in text.splitlines():
            self._print(Text(self._fitting(line)), indent=_INDENT)

    def awaits(self, sentence: str) -> None:
        """Shown on a terminal only, and by no more than one line, so that the tick can take its place."""
        if self._console.is_terminal:
            first = next(self._folded(f"{self._awaited} {sentence}", _INDENT, _HANGING))
            self._console.print(Text(first, style="dim"), end="\r", soft_wrap=True, highlight=False)

    def holds(self, sentence: str) -> None:
        self._print(Text.assemble((self._true, "green"), f" {sentence}"), indent=_INDENT)

    def fails(self, sentence: str) -> None:
        self._print(Text.assemble((self._false, "bold red"), f" {sentence}"), indent=_INDENT)

    def story(self, text: str) -> None:
        for line in text.splitlines():
            self._print(Text(line, style="red"), indent=_INDENT)

    def map(self, shown: ClusterMap) -> None:
        self._gap()
        for line in picture(shown, self._legend):
            self._print(line, indent=_INDENT)
        self._gap()

    def pause(self) -> None:
        """Until somebody presses Enter."""
        self._gap()
        self._console.input(Text("[Enter] goes on, ctrl-C ends it ", style="dim"))

    def _gap(self) -> None:
        """One empty line, never two."""
        if not self._after_a_gap:
            self._console.print()
        self._after_a_gap = True

    def _print(self, line: Text, *, indent: int = 0, hanging: int = _HANGING) -> None:
        """An empty line stays empty; colours stay with their words."""
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

    def _folded(self, text: str, indent: int, hanging: int) -> Iterator[str]:
        for piece in self._pieces(Text(text), indent, hanging):
            yield piece.plain

    def _fitting(self, line: str) -> str:
        """A rule is as long as there is room for it."""
        room = self._console.width - _INDENT
        return line[:room] if self._console.is_terminal and _RULE.fullmatch(line) else line
