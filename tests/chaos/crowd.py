"""One gang of very many pods: it starts whole, and others are served meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from muster.chronicle.history import History
from muster.chronicle.questions import Answer, Question, Verdict
from muster.stage.stage import Stage
from muster.subject.requests import GangRequest, NodeRequest, PodRequest

_PODS_ON_A_NODE = 100
_LARGEST_WAIT = 600.0  # seconds
_CANARIES = 5
_HANDS = 8  # that create pods at the same time


def start_a_crowd(stage: Stage, number: int, say: Callable[[str], None]) -> None:
    """A gang that fills the cluster to the last GPU, and a member that is created last and holds all others up."""
    scene = stage.scene("crowd")
    scene.add_nodes(
        NodeRequest(f"crowd-{place}", gpus=_PODS_ON_A_NODE) for place in range(-(-number // _PODS_ON_A_NODE))
    )
    began = time.monotonic()
    scene.groups.declare(GangRequest("crowd", number))
    members = [PodRequest(f"crowd-{place}", gpus=1, gang="crowd") for place in range(number)]
    with ThreadPoolExecutor(_HANDS) as hands:
        list(hands.map(scene.api.create, (scene.subject.dialect.pod(pod, scene.namespace) for pod in members[:-1])))
    say(f"{number - 1} pods created in {time.monotonic() - began:.0f} s")
    for _ in range(_CANARIES):
        before = time.monotonic()
        scene.chronicle.prove_live()
        say(f"a canary beside them was bound after {time.monotonic() - before:.1f} s")
    assert not bound(scene.chronicle.history), "somebody was bound before the gang was complete"
    began = time.monotonic()
    scene.groups.join("crowd", members[-1:])
    scene.chronicle.must(_all_bound(number), within=_LARGEST_WAIT)
    say(f"all {number} bound {time.monotonic() - began:.0f} s after the last one was created")


def bound(history: History) -> int:
    with history.changed:
        return sum(1 for life in history.pods if life.bound)


def _all_bound(number: int) -> Question:
    def ask(history: History) -> Answer:
        there = bound(history)
        return Answer(Verdict.YES if there == number else Verdict.OPEN, f"{there} of {number} bound")

    return Question(f"all {number} pods bound", ask)
