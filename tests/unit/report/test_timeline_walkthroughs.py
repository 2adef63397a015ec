"""Timelines of the five walk-throughs: recorded in a real run, kept in docs/timelines, golden in their structure."""

from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from muster.report.timeline import svg, text
from muster.report.timeline.timeline import Timeline, from_json
from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root
from tests.support.timeline_structures import KEPT, structure

MEDIUM, CRITICAL = "pytorch-priority-medium", "pytorch-priority-critical"
LIMITS = "Open, at most 8 cpu, 64Gi memory, 8 nvidia.com/gpu"
TAINTED = "1 GPUs [gpu_node:NoSchedule] [schedulable again]"
SHOWN = {
    "DOC-1": [
        f"pending: {CRITICAL}-master-0, nominated",
        f"gang: {MEDIUM} of 3, whole",
        f"arrow: {CRITICAL} -> {MEDIUM}, 1 times",
        f"lane: 4 GPUs: {MEDIUM}",
        f"lane: 4 GPUs: {MEDIUM}",
        f"lane: 4 GPUs: {MEDIUM} (terminated), {CRITICAL}",
    ],
    "DOC-2": [
        "pending: critical-worker-0, nominated",
        "gang: medium of 2, whole",
        "gang: critical of 2, whole",
        "arrow: critical -> medium, 1 times",
        "lane: 1 GPUs: medium (terminated), critical; without GPU medium, critical",
    ],
    "DOC-3": [
        *(f"gang: {job} of 6, whole, Inqueue, Running" for job in "ABCDE"),
        f"queue: test, {LIMITS}",
        "lane: 8 GPUs: A, C, B, D, F, E",
        "lane: 8 GPUs: no pods",
    ],
    "DOC-4": [
        "gang: pytorch-toleration of 2, whole",
        f"lane: {TAINTED}: pytorch-toleration",
        f"lane: {TAINTED}: pytorch-toleration; without GPU pytorch-toleration-tensorboard",
        "lane: 4 GPUs [ssd_node:NoSchedule] [schedulable again]: both, pytorch-toleration-all, plain",
    ],
    "DOC-5": [
        "pending: hp-worker-1, nominated",
        "pending: hp-worker-2, nominated",
        "gang: hp-training-job of 2, whole",
        "gang: hp-larger-job of 3, never bound, Inqueue",
        "gang: hp-late-job of 2, never bound, Inqueue",
        "arrow: hp-training-job -> lp-pod, 2 times",
        "lane: 0 GPUs: no pods; without GPU lp-pod (terminated), hp-training-job",
        "lane: 0 GPUs: no pods; without GPU lp-pod (terminated), hp-training-job, lp-pod",
    ],
}


def kept(walkthrough: str) -> Timeline:
    return from_json((KEPT / f"{walkthrough.lower()}.json").read_bytes())


def picture(walkthrough: str) -> Path:
    return KEPT / f"{walkthrough.lower()}.svg"


@pytest.mark.parametrize("walkthrough", SHOWN)
def test_the_timeline_has_the_expected_structure(walkthrough: str) -> None:
    assert [line for line in structure(kept(walkthrough)) if not line[0].isdigit()] == SHOWN[walkthrough]


@pytest.mark.parametrize("walkthrough", SHOWN)
def test_every_then_step_has_its_time(walkthrough: str) -> None:
    behaviour = read_features(suite_root() / "features").by_id()[walkthrough]
    thens = [f"{step.keyword} {step.text}" for step in behaviour.steps if step.type == "then"]
    shown = [step.text for step in kept(walkthrough).steps]
    assert len(shown) == len(thens)
    assert all(text.startswith(then[:100]) for text, then in zip(shown, thens, strict=True))
    moments = [step.at for step in kept(walkthrough).steps]
    assert moments == sorted(moments)


@pytest.mark.parametrize("walkthrough", SHOWN)
def test_the_picture_is_current_small_and_valid(walkthrough: str) -> None:
    drawn = picture(walkthrough).read_text(encoding="utf-8")
    assert drawn == svg.draw(kept(walkthrough)), "run: python docs/timelines/draw.py"
    assert len(drawn.encode()) <= 60 * 1024
    assert Xml.fromstring(drawn).tag.endswith("svg")


def test_arrows_brackets_and_badges_are_drawn() -> None:
    one, three, five = (picture(walkthrough).read_text(encoding="utf-8") for walkthrough in ("DOC-1", "DOC-3", "DOC-5"))
    for drawn, arrows in ((one, 1), (five, 2)):
        assert drawn.count('class="arrow"') == drawn.count("url(#grace)") == drawn.count('class="nominated"') == arrows
    assert three.count('class="bracket"') == 5
    assert "Open, at most" in three
    assert 'class="yes-dot"' in three


@pytest.mark.parametrize("walkthrough", SHOWN)
@pytest.mark.parametrize("width", [80, 200])
def test_the_text_fits_a_terminal(walkthrough: str, width: int) -> None:
    lines = text.write(kept(walkthrough), width).splitlines()
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= 60
