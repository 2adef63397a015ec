"""One very large gang: it starts as a whole, and other pods are scheduled meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from muster.environment.environment import Environment
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question
from muster.schedulers.requests import GangRequest, NodeRequest, PodRequest

_PODS_PER_NODE = 100
_MAX_WAIT = 600.0  # seconds
_PROBES = 5
_WORKERS = 8  # threads that create pods


def run_large_gang(environment: Environment, number: int, log: Callable[[str], None]) -> None:
    """A gang that fills the cluster; its last member is created last, so that all others are pending until then."""
    scenario = environment.scenario("gang")
    scenario.add_nodes(
        NodeRequest(f"gang-{index}", gpus=_PODS_PER_NODE) for index in range(-(-number // _PODS_PER_NODE))
    )
    began = time.monotonic()
    scenario.groups.create_group(GangRequest("gang", number))
    members = [PodRequest(f"gang-{index}", gpus=1, gang="gang") for index in range(number)]
    with ThreadPoolExecutor(_WORKERS) as workers:
        list(
            workers.map(
                scenario.api.create,
                (scenario.scheduler.dialect.pod_manifest(pod, scenario.namespace) for pod in members[:-1]),
            )
        )
    log(f"{number - 1} pods created in {time.monotonic() - began:.0f} s")
    for _ in range(_PROBES):
        before = time.monotonic()
        scenario.recording.prove_live()
        log(f"a probe pod was bound after {time.monotonic() - before:.1f} s")
    assert not bound(scenario.recording.history), "a member was bound before the gang was complete"
    began = time.monotonic()
    scenario.groups.add_pods("gang", members[-1:])
    scenario.recording.must(_all_bound(number), within=_MAX_WAIT)
    log(f"all {number} bound {time.monotonic() - began:.0f} s after the last one was created")


def bound(history: History) -> int:
    with history.changed:
        return sum(1 for pod in history.pods if pod.bound)


def _all_bound(number: int) -> Question:
    def ask(history: History) -> Answer:
        count = bound(history)
        return Answer(Outcome.TRUE if count == number else Outcome.PENDING, f"{count} of {number} bound")

    return Question(f"all {number} pods bound", ask)
