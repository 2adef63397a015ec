"""Output of a demo: wrapped and ticked on a terminal, whole and plain in a pipe."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from muster.demo.cluster_map import Allocation, ClusterMap, NodeMap, PendingJob
from muster.demo.console import DemoConsole
from muster.demo.controller import follow_up_commands, section_at, sections_of
from muster.demo.server import StepStarted
from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root

LONG = "one of " + ", ".join(f'"pytorch-priority-medium-worker-{number}"' for number in range(6)) + " was preempted"
WALKTHROUGHS = {id_: one for id_, one in read_features(suite_root() / "features").by_id().items() if id_[:4] == "DOC-"}
MAP = ClusterMap("GPU", (NodeMap("n", 2, (Allocation("a-job", 1),)),), (PendingJob("late", 2, "late-master-0"),))


def shown(
    write: Callable[[DemoConsole], None], *, width: int = 80, terminal: bool = True, encoding: str = "utf-8"
) -> str:
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    write(
        DemoConsole(
            Console(file=file, width=width, force_terminal=terminal, color_system="standard" if terminal else None)
        )
    )
    file.flush()
    return file.buffer.getvalue().decode(encoding)


def everything(console: DemoConsole) -> None:
    console.title("DOC-9", "A high-priority job preempts another job on a cluster without free GPUs", "Walk-through")
    console.section("1", "the first section")
    console.show_command("muster top node")
    console.output("NAME  GPU\n\n" + "-" * 89 + "\n")
    console.step_running(LONG)
    console.step_passed(LONG)
    console.map(MAP)
    console.section("5 and 6", "the next sections")
    console.step_failed("no pod was preempted")
    console.failure_report("wanted   this\nseen     that")
    console.finish("over")


@pytest.mark.parametrize("width", [80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(everything, width=width))
    lines = [piece for line in text.split("\n") for piece in line.split("\r")]
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if line != line.rstrip() and "…" not in line]


def test_a_tick_overwrites_its_own_step_and_nothing_else() -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown(everything))
    overwritten = [line for line in text.split("\n") if "\r" in line]
    assert len(overwritten) == 1
    before, after = overwritten[0].split("\r")
    assert before.replace("…", "✓").rstrip() == after


def test_a_pipe_gets_whole_lines_without_any_control_character() -> None:
    text = shown(everything, terminal=False)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text)
    assert f"   ✓ {LONG}\n" in text
    assert "\n   n  A .\n   A a-job\n   B late  2 pods pending\n\n5 and 6 the next sections\n" in text
    assert "\n\n\n" not in text


def test_a_command_of_several_lines_is_one_block() -> None:
    text = shown(lambda console: console.show_command("muster submit mpi \\\n  --name=a"), terminal=False)
    assert text == "   $ muster submit mpi \\\n       --name=a\n"


def test_without_unicode_ticks_are_ascii() -> None:
    text = shown(everything, terminal=False, encoding="ascii")
    assert "   ok one of" in text
    assert "   NO no pod was preempted" in text


@pytest.mark.parametrize("id_", WALKTHROUGHS)
def test_every_walkthrough_has_numbered_sections(id_: str) -> None:
    sections = sections_of(WALKTHROUGHS[id_])
    assert [section.number for section in sections][:2] == ["", "1"]
    assert len(sections) > 4
    last = WALKTHROUGHS[id_].steps[-1]
    assert section_at(sections, last.line) is sections[-1]
    assert section_at(sections, WALKTHROUGHS[id_].steps[0].line) is sections[0]


def step(text: str, *, kind: str = "then", docstring: str = "") -> StepStarted:
    return StepStarted(1, kind, text, docstring)


def test_follow_up_commands() -> None:
    created = step('job "A" is created', kind="when")
    assert follow_up_commands([created], MAP, [], explains=True) == ["muster list", "muster explain late-master-0"]
    assert follow_up_commands([created], MAP, [], explains=False) == ["muster list"]
    assert follow_up_commands([step("it runs")], ClusterMap("GPU", ()), [], explains=True) == []
    assert follow_up_commands([step("", docstring="muster top node"), created], MAP, [], explains=True) == []
    event = step('a Preempted event on the victim among "big-master-0", "big-worker-0" names "x" and the node')
    assert follow_up_commands([event], ClusterMap("GPU", ()), ["bi", "big"], explains=False) == ["muster events big"]
