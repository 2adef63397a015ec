"""Timelines as SVG: golden samples, what they must show, and that nothing in them is executable."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from muster.report.timeline import from_history, svg
from muster.report.timeline.svg_canvas import WIDTH
from muster.report.timeline.timeline import Timeline, from_json, to_json
from tests.support import timeline_histories
from tests.support.timeline_histories import GangHistoryBuilder, TimelineInput

SAMPLES = Path(__file__).resolve().parents[3] / "docs" / "timelines"
TITLES = {
    "preemption": "A higher-priority pod preempts a lower-priority pod",
    "gangs": "A gang preempts a lower-priority gang",
    "crowd": "A thousand nodes",
}


def read(name: str) -> Timeline:
    recorded: TimelineInput = getattr(timeline_histories, name)()
    return from_history.read(recorded[0], TITLES[name], recorded[1])


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in Xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", TITLES)
def test_golden(name: str) -> None:
    """MUSTER_GOLDEN=write writes them again: look at them before you commit them."""
    drawn, file = svg.draw(read(name)), SAMPLES / f"{name}.svg"
    if os.environ.get("MUSTER_GOLDEN") == "write":
        file.write_text(drawn, encoding="utf-8")
    assert drawn == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TITLES)
def test_one_small_file_without_external_references(name: str) -> None:
    drawn = svg.draw(read(name))
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
    (pending,) = timeline.pending
    assert pending.pod == "urgent"
    assert [node for _, _, node in pending.nominated] == ["gpu-1"]
    assert [mark.text for lane in timeline.lanes for mark in lane.marks] == ["maintenance:NoSchedule"]


def test_gangs_have_brackets_queues_have_marks_and_the_preemptor_is_a_gang() -> None:
    timeline = read("gangs")
    low, high, again = timeline.gangs
    assert (low.members, high.members, again.members) == (4, 6, 4)
    assert low.whole is not None
    assert high.whole is not None
    assert again.bound is again.whole is None
    assert [mark.text for mark in low.marks] == ["Pending", "Inqueue", "Running"]
    (queue,) = timeline.queues
    assert [mark.text for mark in queue.marks] == ["Open, at most 4 nvidia.com/gpu", "Closed, at most 8 nvidia.com/gpu"]
    assert {arrow.preemptor for arrow in timeline.arrows} == {"uid-high-0"}
    assert len(timeline.arrows) == 4


def test_every_part_is_drawn() -> None:
    drawn = svg.draw(read("preemption"))
    labels = texts(drawn)
    assert {"gpu-1", "gpu-2", "left", "right", "urgent", "sidecar", "big", "GPU 0", "slot"} <= set(labels)
    assert "maintenance:NoSchedule" in labels
    assert drawn.count('class="arrow"') == 1
    assert drawn.count('class="nominated"') == 1
    assert drawn.count("url(#grace)") == 1
    assert "1–2" in labels
    assert 'class="no"' in drawn


def test_an_overcommitted_pod_is_framed() -> None:
    builder = GangHistoryBuilder()
    builder.node("gpu-1", 1).running_pod("one", "gpu-1", 1).running_pod("two", "gpu-1", 1)
    timeline = from_history.read(builder.history)
    one, two = timeline.lanes[0].bars
    assert (one.overcommitted, two.overcommitted) == (False, True)
    assert one.rows != two.rows
    assert 'class="over"' in svg.draw(timeline)


def test_on_real_nodes_a_pod_is_in_the_rows_of_its_gpus() -> None:
    builder = GangHistoryBuilder()
    builder.node("w", 4).running_pod("one", "w", 2).running_pod("two", "w", 1).running_pod("rejected", "w", 3)
    held = {"uid-one": ("gpu-3", "gpu-1"), "uid-two": ("gpu-0",)}
    builder.history.gpu_ids.update(held)
    (lane,) = from_history.read(builder.history).lanes
    one, two, rejected = lane.bars
    assert (sorted(one.rows), two.rows) == ([1, 3], [0])
    assert (rejected.overcommitted, [row < 4 for row in rejected.rows]) == (True, [True, False, False])
    assert [lane.label(row) for row in range(4)] == ["gpu-0", "gpu-1", "GPU 2", "gpu-3"]
    assert "2 GPU: gpu-3, gpu-1)" in one.text


def test_ids_without_a_number_have_rows_in_the_order_of_their_names() -> None:
    builder = GangHistoryBuilder()
    builder.node("w", 3).running_pod("one", "w", 2)
    builder.history.gpu_ids["uid-one"] = ("GPU-7f3a-bbbbbbbb", "GPU-7f3a-aaaaaaaa")
    timeline = from_history.read(builder.history)
    (lane,) = timeline.lanes
    assert [lane.label(row) for row in range(3)] == ["…aaaaaaa", "…bbbbbbb", "GPU 2"]
    assert {"…aaaaaaa", "…bbbbbbb"} <= set(texts(svg.draw(timeline)))
    assert from_json(to_json(timeline)) == timeline


def test_many_nodes_become_a_heatmap() -> None:
    timeline = read("crowd")
    assert timeline.heatmap
    assert not timeline.lanes
    assert len(timeline.heatmap.fill) <= 32
    assert sum(timeline.heatmap.evicted) == 200
    assert "1000 nodes and 1000 pods: shown as a heat map" in texts(svg.draw(timeline))


def test_many_pods_stay_within_the_size() -> None:
    builder = GangHistoryBuilder()
    for node in range(20):
        builder.node(f"a-node-with-a-rather-long-name-{node}", 4)
    for number in range(150):
        name = f"a-pod-with-a-name-that-is-as-long-as-names-are-{number}"
        builder.running_pod(name, f"a-node-with-a-rather-long-name-{number % 20}", 1, number)
        builder.preempt(name, name).gone(name)
    drawn = svg.draw(from_history.read(builder.history))
    assert len(drawn.encode()) <= 60 * 1024


@pytest.mark.parametrize("name", TITLES)
def test_json_round_trip(name: str) -> None:
    timeline = read(name)
    assert from_json(to_json(timeline)) == timeline


def test_an_empty_history_can_be_drawn() -> None:
    drawn = svg.draw(from_history.read(GangHistoryBuilder().history))
    assert Xml.fromstring(drawn).get("viewBox")
