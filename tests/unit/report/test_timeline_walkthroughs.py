"""The pictures of the five documents: taken from a real run, kept in docs/timelines, golden in what they show."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from muster.catalogue import read_features
from muster.report import timeline_svg, timeline_text
from muster.report.timeline import Timeline, from_json
from muster.suite import suite_root
from tests.timeline_structures import KEPT, structure

MEDIUM, CRITICAL = "pytorch-priority-medium", "pytorch-priority-critical"
LIMITS = "Open, at most 8 cpu, 64Gi memory, 8 nvidia.com/gpu"
TAINTED = "1 GPUs [gpu_node:NoSchedule] [open again]"
SHOWN = {
    "DOC-1": [
        f"waits: {CRITICAL}-master-0, a node is held",
        f"gang: {MEDIUM} of 3, whole",
        f"arrow: {CRITICAL} -> {MEDIUM}, 1 times",
        f"lane: 4 GPUs: {MEDIUM}",
        f"lane: 4 GPUs: {MEDIUM}",
        f"lane: 4 GPUs: {MEDIUM} (asked to go), {CRITICAL}",
    ],
    "DOC-2": [
        "waits: critical-worker-0, a node is held",
        "gang: medium of 2, whole",
        "gang: critical of 2, whole",
        "arrow: critical -> medium, 1 times",
        "lane: 1 GPUs: medium (asked to go), critical; beside them medium, critical",
    ],
    "DOC-3": [
        *(f"gang: {job} of 6, whole, Inqueue, Running" for job in "ABCDE"),
        f"queue: test, {LIMITS}",
        "lane: 8 GPUs: A, C, B, D, F, E",
        "lane: 8 GPUs: nobody",
    ],
    "DOC-4": [
        "gang: pytorch-toleration of 2, whole",
        f"lane: {TAINTED}: pytorch-toleration",
        f"lane: {TAINTED}: pytorch-toleration; beside them pytorch-toleration-tensorboard",
        "lane: 4 GPUs [ssd_node:NoSchedule] [open again]: both, pytorch-toleration-all, plain",
    ],
    "DOC-5": [
        "waits: hp-worker-1, a node is held",
        "waits: hp-worker-2, a node is held",
        "gang: hp-training-job of 2, whole",
        "gang: hp-larger-job of 3, never bound, Inqueue",
        "gang: hp-late-job of 2, never bound, Inqueue",
        "arrow: hp-training-job -> lp-pod, 2 times",
        "lane: 0 GPUs: nobody; beside them lp-pod (asked to go), hp-training-job",
        "lane: 0 GPUs: nobody; beside them lp-pod (asked to go), hp-training-job, lp-pod",
    ],
}


def kept(document: str) -> Timeline:
    return from_json((KEPT / f"{document.lower()}.json").read_bytes())


def picture(document: str) -> Path:
    return KEPT / f"{document.lower()}.svg"


@pytest.mark.parametrize("document", SHOWN)
def test_the_story_is_in_the_picture(document: str) -> None:
    assert [line for line in structure(kept(document)) if not line[0].isdigit()] == SHOWN[document]


@pytest.mark.parametrize("document", SHOWN)
def test_every_then_has_its_moment(document: str) -> None:
    behaviour = read_features(suite_root() / "features").by_id()[document]
    thens = [f"{step.keyword} {step.text}" for step in behaviour.steps if step.type == "then"]
    said = [sentence.text for sentence in kept(document).sentences]
    assert len(said) == len(thens)
    assert all(text.startswith(then[:100]) for text, then in zip(said, thens, strict=True))
    moments = [sentence.at for sentence in kept(document).sentences]
    assert moments == sorted(moments)


@pytest.mark.parametrize("document", SHOWN)
def test_the_picture_is_current_small_and_valid(document: str) -> None:
    drawn = picture(document).read_text(encoding="utf-8")
    assert drawn == timeline_svg.draw(kept(document)), "run: python docs/timelines/draw.py"
    assert len(drawn.encode()) <= 60 * 1024
    assert Xml.fromstring(drawn).tag.endswith("svg")


def test_what_must_be_drawn_is_drawn() -> None:
    one, three, five = (picture(document).read_text(encoding="utf-8") for document in ("DOC-1", "DOC-3", "DOC-5"))
    for drawn, arrows in ((one, 1), (five, 2)):
        assert drawn.count('class="arrow"') == drawn.count("url(#grace)") == drawn.count('class="held"') == arrows
    assert three.count('class="bracket"') == 5
    assert "Open, at most" in three
    assert 'class="yes-dot"' in three


@pytest.mark.parametrize("document", SHOWN)
@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_shows_it_too(document: str, width: int) -> None:
    lines = timeline_text.write(kept(document), width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= 60
