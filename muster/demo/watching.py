"""From messages to what is seen: the parts of the document, its commands with their answers, its ticks and its maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muster.demo.audience import Audience
from muster.demo.looks import TYPED, jobs_in, looks
from muster.demo.maps import ClusterMap, is_restless
from muster.demo.messages import Begins, Closes, Ends, Fails, Message, Opens
from muster.demo.scripts import Part, part_at
from muster.demo.showing import Show

_ANSWER = "the answer reads:"


class Watcher:
    """Shows one performance. `explains` says whether the scheduler can be asked why a pod waits."""

    def __init__(self, show: Show, audience: Audience, parts: Sequence[Part], *, pauses: bool, explains: bool) -> None:
        self._show, self._audience, self._parts = show, audience, parts
        self._pauses, self._explains = pauses, explains
        self._part: Part | None = None
        self._sentences: list[Begins] = []  # of this part
        self._jobs: set[str] = set()
        self._failed = False
        self._now: ClusterMap | None = None
        self._shown: ClusterMap | None = None

    def watch(self, ended: Callable[[], object]) -> None:
        """Until the performance has ended."""
        for message in self._audience.messages(ended):
            self._take(message)
            self._audience.go_on()

    def _take(self, message: Message) -> None:
        match message:
            case Opens(kubeconfig=file) if self._pauses and file:
                self._show.remark("to look around in another terminal:")
                self._show.remark(f"export KUBECONFIG={file}")
            case Begins():
                self._begins(message)
            case Ends():
                self._ends(message)
            case Fails():
                self._show.fails(_spoken(self._sentences[-1]))
                self._failed = True
            case Closes() if not self._failed:
                self._part_ends()

    def _begins(self, sentence: Begins) -> None:
        part = part_at(self._parts, sentence.line)
        if part != self._part:
            self._part_ends()
            self._show.part(part)
            self._part, self._sentences = part, []
        elif sentence.kind == "when":
            self._draw()
        self._sentences.append(sentence)
        if _is_typed(sentence):
            self._show.command(sentence.docstring)
        else:
            self._show.awaits(_spoken(sentence))

    def _ends(self, ends: Ends) -> None:
        self._now, sentence = ends.picture, self._sentences[-1]
        if self._now is not None:
            self._jobs |= jobs_in(self._now)
        if _is_typed(sentence):
            self._show.answer(ends.answer)
        else:
            self._show.holds(_spoken(sentence))

    def _part_ends(self) -> None:
        if self._part is None:
            return
        self._draw()
        if self._now is not None and is_restless(self._now):  # a pause would let the moment pass that comes next
            return
        self._look()
        if self._pauses:
            self._show.pause()

    def _look(self) -> None:
        """What is given has not happened yet: nothing to ask about."""
        if self._now is None or self._part is self._parts[0]:
            return
        for command in looks(self._sentences, self._now, self._jobs, explains=self._explains):
            self._show.command(command)
            self._show.answer(self._audience.look(command))

    def _draw(self) -> None:
        if self._now is not None and self._now != self._shown:
            self._show.map(self._now)
            self._shown = self._now


def _is_typed(sentence: Begins) -> bool:
    return sentence.docstring.startswith(TYPED)


def _spoken(sentence: Begins) -> str:
    """What is expected of an answer is not repeated: the answer itself has just been shown."""
    return "the answer reads as the document has it" if sentence.text == _ANSWER else sentence.text.rstrip(":")
