"""What is seen of a performance: folded and ticked on a terminal, whole and plain in a pipe."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from muster.catalogue import read_features
from muster.demo.looks import looks
from muster.demo.maps import ClusterMap, NodeMap, Share, Waiting
from muster.demo.messages import Begins
from muster.demo.scripts import Part, part_at, parts_of
from muster.demo.showing import Show
from muster.suite import suite_root

LONG = "one of " + ", ".join(f'"pytorch-priority-medium-worker-{number}"' for number in range(6)) + " was preempted"
DOCUMENTS = {id_: one for id_, one in read_features(suite_root() / "features").by_id().items() if id_[:4] == "DOC-"}
MAP = ClusterMap("GPU", (NodeMap("n", 2, (Share("a-job", 1),)),), (Waiting("late", 2, "late-master-0"),))


def shown(acts: Callable[[Show], None], *, width: int = 80, terminal: bool = True, encoding: str = "utf-8") -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    acts(Show(Console(file=file, width=width, force_terminal=terminal, color_system="standard" if terminal else None)))
    file.flush()
    return file.buffer.getvalue().decode(encoding)


def everything(show: Show) -> None:
    show.title("DOC-9", "Somebody takes the place of somebody else on a cluster that is full of others", "A document")
    show.part(Part("1", "the first line", 1))
    show.command("muster top node")
    show.answer("NAME  GPU\n\n" + "-" * 89 + "\n")
    show.awaits(LONG)
    show.holds(LONG)
    show.map(MAP)
    show.part(Part("5 and 6", "the next lines", 2))
    show.fails("nobody was preempted")
    show.story("wanted   this\nseen     that")
    show.end("over")


@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(everything, width=width))
    lines = [piece for line in text.split("\n") for piece in line.split("\r")]
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip() and "…" not in line]


def test_a_tick_takes_the_place_of_its_own_sentence_and_of_nothing_else() -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(everything))
    drawn_over = [line for line in text.split("\n") if "\r" in line]
    assert len(drawn_over) == 1
    before, after = drawn_over[0].split("\r")
    assert before.replace("…", "✓").rstrip() == after


def test_a_pipe_gets_whole_lines_without_any_control_character() -> None:
    text = shown(everything, terminal=False)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
    assert f"   ✓ {LONG}\n" in text
    assert "\n   n  A .\n   A a-job\n   B late  2 pods wait\n\n5 and 6 the next lines\n" in text
    assert "\n\n\n" not in text


def test_without_unicode_there_are_words_instead_of_ticks() -> None:
    text = shown(everything, terminal=False, encoding="ascii")
    assert "   ok one of" in text
    assert "   NO nobody was preempted" in text


@pytest.mark.parametrize("id_", DOCUMENTS)
def test_every_document_has_numbered_parts(id_: str) -> None:
    parts = parts_of(DOCUMENTS[id_])
    assert [part.number for part in parts][:2] == ["", "1"]
    assert len(parts) > 4
    last = DOCUMENTS[id_].steps[-1]
    assert part_at(parts, last.line) is parts[-1]
    assert part_at(parts, DOCUMENTS[id_].steps[0].line) is parts[0]


def sentence(text: str, *, kind: str = "then", typed: str = "") -> Begins:
    return Begins(1, kind, text, typed)


def test_what_a_person_would_ask() -> None:
    happened = sentence('job "A" is created', kind="when")
    assert looks([happened], MAP, [], explains=True) == ["muster list", "muster explain late-master-0"]
    assert looks([happened], MAP, [], explains=False) == ["muster list"]
    assert looks([sentence("it runs")], ClusterMap("GPU", ()), [], explains=True) == []
    assert looks([sentence("", typed="muster top node"), happened], MAP, [], explains=True) == []
    told = sentence('an event about the preempted one of "big-master-0", "big-worker-0" names "x" and the node')
    assert looks([told], ClusterMap("GPU", ()), ["bi", "big"], explains=False) == ["muster events big"]
