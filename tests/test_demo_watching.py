"""When a performance is held up, and when it must not be."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator

import pytest
from rich.console import Console

from muster.demo.audience import Audience
from muster.demo.maps import ClusterMap, NodeMap, Share, Waiting
from muster.demo.messages import Begins, Closes, Ends, Message, Opens
from muster.demo.scripts import Part
from muster.demo.showing import Show
from muster.demo.watching import Watcher

PARTS = [Part("", "given", 1), Part("1", "first", 2), Part("2", "second", 3)]


class Script(Audience):
    """A performance that is written down."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages
        self.asked: list[str] = []

    def messages(self, ended: Callable[[], object]) -> Iterator[Message]:
        yield from self._messages

    def go_on(self) -> None:
        return

    def look(self, command: str) -> str:
        self.asked.append(command)
        return "an answer"


def played(picture: ClusterMap, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], int]:
    """What was asked after the first part, and how often Enter was waited for."""
    pauses: list[None] = []
    monkeypatch.setattr(Show, "pause", lambda _: pauses.append(None))
    script = Script(
        [
            Opens("file"),
            Begins(1, "given", "a node", ""),
            Ends("", ClusterMap("GPU", (NodeMap("n", 1),))),
            Begins(2, "when", "a pod comes", ""),
            Ends("", picture),
            Begins(3, "then", "it runs", ""),
            Ends("", ClusterMap("GPU", (NodeMap("n", 1, (Share("b", 1),)),))),
            Closes(None),
        ]
    )
    show = Show(Console(file=io.StringIO(), width=80))
    Watcher(show, script, PARTS, pauses=True, explains=True).watch(lambda: None)
    return script.asked, len(pauses)


def test_each_part_ends_with_a_look_and_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = ClusterMap("GPU", (NodeMap("n", 1, (Share("a", 1),)),), (Waiting("b", 1, "b-0"),))
    assert played(quiet, monkeypatch) == (["muster list", "muster explain b-0"], 3)


def test_nobody_is_held_up_while_pods_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    leaving = ClusterMap("GPU", (NodeMap("n", 1, (Share("a", 1, leaving=True),)),), (Waiting("b", 1, "b-0"),))
    assert played(leaving, monkeypatch) == ([], 2)
