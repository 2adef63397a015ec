"""Timelines on a terminal."""

import pytest

from muster.report.timeline import from_history, text
from tests.support import timeline_histories
from tests.support.history_builder import HistoryBuilder
from tests.support.timeline_histories import TimelineInput


def written(name: str, width: int = 100) -> list[str]:
    recorded: TimelineInput = getattr(timeline_histories, name)()
    return text.write(from_history.read(recorded[0], "", recorded[1]), width).splitlines()


def test_a_preemption_in_ten_lines() -> None:
    lines = written("preemption", 80)
    assert lines[0].split() == ["0", "s", "5.1", "s"]
    assert lines[1].startswith("urgent ")
    assert "┄" in lines[1]
    assert lines[2].startswith("gpu-1             0")
    assert lines[2].index("left") < lines[2].index("▒") < lines[2].index("urgent")
    assert lines[-5:-1] == [
        "preempted             1.8 s  left for urgent",
        '1 passed              3.9 s  Then "urgent" runs',
        '2 passed              4.0 s  And exactly one of "left", "right" was preempted …',
        "3 failed              5.0 s  And no other pod was evicted or failed",
    ]


@pytest.mark.parametrize("name", ["preemption", "gangs", "crowd"])
@pytest.mark.parametrize("width", [80, 100, 200])
def test_never_wider_and_never_long(name: str, width: int) -> None:
    lines = written(name, width)
    assert len(lines) <= 40
    assert all(len(line) <= width for line in lines)
    assert all(line.isprintable() for line in lines)


def test_names_are_cut_in_their_middle() -> None:
    builder = HistoryBuilder()
    for number in (1, 2):
        builder.node(f"a-node-with-a-long-name-{number}", 1)
        builder.running_pod(f"a-pod-with-a-long-name-{number}", f"a-node-with-a-long-name-{number}", 1)
    lines = text.write(from_history.read(builder.history), 50).splitlines()
    names = [line.split()[0] for line in lines[1:5]]
    assert names == ["a-pod-wit…ng-name-1", "a-pod-wit…ng-name-2", "a-node-…-name-1", "a-node-…-name-2"]


def test_gangs_in_brackets() -> None:
    lines = {" ".join(line.split()[:2]): line for line in written("gangs")}
    high = lines["gang high"]
    assert high.index("·") < high.index("[") < high.index("═") < high.index("]")
    assert "[" not in lines["gang again"]
