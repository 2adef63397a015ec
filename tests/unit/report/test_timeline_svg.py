"""Timelines as pictures: golden samples, what must be seen in them, and that nothing in them can run."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from muster.report import timeline_reading, timeline_svg
from muster.report.svg_paper import WIDTH
from muster.report.timeline import Timeline, from_json, to_json
from tests import timeline_tales
from tests.timeline_tales import GangTale, Told

SAMPLES = Path(__file__).resolve().parent.parent / "docs" / "timelines"
TITLES = {
    "preemption": "A more important pod takes the place of another one",
    "gangs": "A gang takes the place of a gang",
    "crowd": "A thousand nodes",
}


def read(name: str) -> Timeline:
    told: Told = getattr(timeline_tales, name)()
    return timeline_reading.read(told[0], TITLES[name], told[1])


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in Xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", TITLES)
def test_golden(name: str) -> None:
    """MUSTER_GOLDEN=write makes them anew: look at them before they are committed."""
    drawn, file = timeline_svg.draw(read(name)), SAMPLES / f"{name}.svg"
    if os.environ.get("MUSTER_GOLDEN") == "write":
        file.write_text(drawn, encoding="utf-8")
    assert drawn == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TITLES)
def test_one_small_file_that_asks_nobody_for_anything(name: str) -> None:
    drawn = timeline_svg.draw(read(name))
    root = Xml.fromstring(drawn)
    assert len(drawn.encode()) <= 60 * 1024
    assert root.get("width") == str(WIDTH)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "style", "defs", "pattern", "marker", "path", "rect", "circle", "text", "title"}
    assert "prefers-color-scheme:dark" in drawn
    references = re.findall(r"(?:href|src|url\()\W?([^)\"' ]*)", drawn)
    assert set(references) <= {"#grace", "#head", "grace", "head"}


def test_rows_bars_and_times_of_a_preemption() -> None:
    timeline = read("preemption")
    rack = {lane.node: {bar.pod: bar for bar in lane.bars} for lane in timeline.lanes}
    left, urgent, big = rack["gpu-1"]["left"], rack["gpu-1"]["urgent"], rack["gpu-2"]["big"]
    assert (left.rows, urgent.rows, big.rows) == ([0], [0], [0, 1])
    assert rack["gpu-1"]["sidecar"].rows == [2]
    assert left.deleting is not None
    assert left.bound < left.deleting < left.end <= urgent.bound
    (arrow,) = timeline.arrows
    assert (arrow.preemptor, arrow.victim) == ("uid-urgent", "uid-left")
    (wait,) = timeline.waits
    assert wait.pod == "urgent"
    assert [node for _, _, node in wait.nominated] == ["gpu-1"]
    assert [mark.says for lane in timeline.lanes for mark in lane.marks] == ["maintenance:NoSchedule"]


def test_gangs_have_brackets_queues_have_marks_and_a_gang_is_named_as_preemptor() -> None:
    timeline = read("gangs")
    low, high, again = timeline.gangs
    assert (low.members, high.members, again.members) == (4, 6, 4)
    assert low.whole is not None
    assert high.whole is not None
    assert again.bound is again.whole is None
    assert [mark.says for mark in low.marks] == ["Pending", "Inqueue", "Running"]
    (queue,) = timeline.queues
    assert [mark.says for mark in queue.marks] == ["Open, at most 4 nvidia.com/gpu", "Closed, at most 8 nvidia.com/gpu"]
    assert {arrow.preemptor for arrow in timeline.arrows} == {"uid-high-0"}
    assert len(timeline.arrows) == 4


def test_all_of_it_is_drawn() -> None:
    drawn = timeline_svg.draw(read("preemption"))
    words = texts(drawn)
    assert {"gpu-1", "gpu-2", "left", "right", "urgent", "sidecar", "big", "GPU 0", "slot"} <= set(words)
    assert "maintenance:NoSchedule" in words
    assert drawn.count('class="arrow"') == 1
    assert drawn.count('class="held"') == 1
    assert drawn.count("url(#grace)") == 1
    assert "1–2" in words
    assert 'class="no"' in drawn


def test_what_has_no_room_is_framed() -> None:
    tale = GangTale()
    tale.node("gpu-1", 1).settled("one", "gpu-1", 1).settled("two", "gpu-1", 1)
    timeline = timeline_reading.read(tale.history)
    one, two = timeline.lanes[0].bars
    assert (one.over, two.over) == (False, True)
    assert one.rows != two.rows
    assert 'class="over"' in timeline_svg.draw(timeline)


def test_many_nodes_fold() -> None:
    timeline = read("crowd")
    assert timeline.crowd
    assert not timeline.lanes
    assert len(timeline.crowd.fill) <= 32
    assert sum(timeline.crowd.evicted) == 200
    assert "1000 nodes and 1000 pods: folded to a heat map" in texts(timeline_svg.draw(timeline))


def test_many_pods_stay_within_the_size() -> None:
    tale = GangTale()
    for node in range(20):
        tale.node(f"a-node-with-a-rather-long-name-{node}", 4)
    for number in range(150):
        name = f"a-pod-with-a-name-that-is-as-long-as-names-are-{number}"
        tale.settled(name, f"a-node-with-a-rather-long-name-{number % 20}", 1, number)
        tale.preempted(name, name).gone(name)
    drawn = timeline_svg.draw(timeline_reading.read(tale.history))
    assert len(drawn.encode()) <= 60 * 1024


@pytest.mark.parametrize("name", TITLES)
def test_data_comes_back_as_it_was(name: str) -> None:
    timeline = read(name)
    assert from_json(to_json(timeline)) == timeline


def test_an_empty_history_is_a_picture_too() -> None:
    drawn = timeline_svg.draw(timeline_reading.read(GangTale().history))
    assert Xml.fromstring(drawn).get("viewBox")
