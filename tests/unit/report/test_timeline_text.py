"""Timelines on a terminal."""

import pytest

from muster.report import timeline_reading, timeline_text
from tests import timeline_tales
from tests.tales import Tale
from tests.timeline_tales import Told


def written(name: str, width: int = 100) -> list[str]:
    told: Told = getattr(timeline_tales, name)()
    return timeline_text.write(timeline_reading.read(told[0], "", told[1]), width).splitlines()


def test_a_preemption_in_ten_lines() -> None:
    lines = written("preemption", 80)
    assert lines[0].split() == ["0", "s", "5.1", "s"]
    assert lines[1].startswith("urgent ")
    assert "┄" in lines[1]
    assert lines[2].startswith("gpu-1             0")
    assert lines[2].index("left") < lines[2].index("▒") < lines[2].index("urgent")
    assert lines[-5:-1] == [
        "preempted             1.8 s  left for urgent",
        '1 held                3.9 s  Then "urgent" runs',
        '2 held                4.0 s  And exactly one of "left", "right" was preempted …',
        "3 failed              5.0 s  And nothing else was disturbed",
    ]


@pytest.mark.parametrize("name", ["preemption", "gangs", "crowd"])
@pytest.mark.parametrize("width", [80, 100, 200])
def test_never_wider_and_never_long(name: str, width: int) -> None:
    lines = written(name, width)
    assert len(lines) <= 40
    assert all(len(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)


def test_names_are_cut_in_their_middle() -> None:
    tale = Tale()
    for number in (1, 2):
        tale.node(f"a-node-with-a-long-name-{number}", 1)
        tale.settled(f"a-pod-with-a-long-name-{number}", f"a-node-with-a-long-name-{number}", 1)
    lines = timeline_text.write(timeline_reading.read(tale.history), 50).splitlines()
    names = [line.split()[0] for line in lines[1:5]]
    assert names == ["a-pod-wit…ng-name-1", "a-pod-wit…ng-name-2", "a-node-…-name-1", "a-node-…-name-2"]


def test_gangs_in_brackets() -> None:
    lines = {" ".join(line.split()[:2]): line for line in written("gangs")}
    high = lines["gang high"]
    assert high.index("·") < high.index("[") < high.index("═") < high.index("]")
    assert "[" not in lines["gang again"]
