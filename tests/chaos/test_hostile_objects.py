"""Whatever somebody writes into the cluster: it gets a reason, and nobody else waits for it.

All hostile objects stay there together, so that each also meets those that came before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from muster import timeouts
from muster.chronicle.history import History
from muster.chronicle.questions import Answer, Question, Verdict
from muster.cluster.api import ApiRefused
from muster.cluster.resources import NODE, VOLCANO_QUEUE
from muster.stage.scene import Scene
from muster.stage.stage import Stage
from muster.subject.requests import NodeRequest
from tests.chaos.fuzz import Fuzz
from tests.chaos.hostile import Case, Manifest, cases

pytestmark = pytest.mark.plane

_SECONDS = 30.0  # "within seconds", on a machine that does other things as well
_FUZZ_SECONDS = 30.0
_FUZZ_PODS = 50  # fewer would not mean anything
_FUZZ_SEED = 7


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    stage = Stage("reference")
    stage.start()
    patience = pytest.MonkeyPatch()
    patience.setattr(timeouts, "CANARY", _SECONDS)
    try:
        made = stage.scene("hostile")
        made.add_nodes(NodeRequest(f"hostile-{number}", gpus=8) for number in range(4))
        made.chronicle.prove_live()
        yield made
    finally:
        patience.undo()
        stage.stop()


@pytest.mark.parametrize("name", [case.name for case in cases("any")])
def test_a_hostile_object_gets_a_reason_and_stops_nobody(scene: Scene, name: str) -> None:
    case = next(case for case in cases(scene.namespace) if case.name == name)
    for manifest in case.objects:
        _create(scene, manifest)
    answer = scene.chronicle.wait(_told_or_run(case), within=_SECONDS)
    assert answer.verdict is Verdict.YES, answer.seen
    began = time.monotonic()
    scene.chronicle.prove_live()
    assert time.monotonic() - began < _SECONDS
    assert not _faults(scene)


def test_random_groups_and_queues_stop_nobody(scene: Scene) -> None:
    print(f"seed {_FUZZ_SEED}")
    fuzz = Fuzz(_FUZZ_SEED)
    made: list[str] = []
    deadline = time.monotonic() + _FUZZ_SECONDS
    while time.monotonic() < deadline or len(made) <= _FUZZ_PODS:
        for _ in range(10):
            for manifest in fuzz.family():
                if _create(scene, manifest) and manifest["kind"] == "Pod":
                    made.append(manifest["metadata"]["name"])
        scene.chronicle.prove_live()
    answer = scene.chronicle.wait(_nobody_without_a_reason(made), within=_FUZZ_SECONDS)
    assert answer.verdict is Verdict.YES, answer.seen
    assert not _faults(scene)


def _create(scene: Scene, manifest: Manifest) -> bool:
    if manifest["kind"] not in (NODE.kind, VOLCANO_QUEUE.kind):
        manifest = {**manifest, "metadata": {**manifest["metadata"], "namespace": scene.namespace}}
    try:
        scene.api.create(manifest)
    except ApiRefused as refusal:
        if refusal.status != 422:
            raise
        return False  # the API server itself keeps it out
    return True


def _faults(scene: Scene) -> list[str]:
    """What went wrong inside the scheduler, by its own word."""
    lines = scene.subject.processes[0].log.read_text().splitlines()
    return [line[:2000] for line in lines if "the plan failed" in line or "Traceback" in line]


def _told_or_run(case: Case) -> Question:
    """Where nothing is to be said, it runs."""
    wanted = f"{case.pod} told {case.says!r}" if case.says else f"{case.pod} bound"

    def ask(history: History) -> Answer:
        life = history.pod(case.pod)
        said = life.refusal.message if life and life.refusal else ""
        on_group = _said_by_group(history, case.group)
        if case.says:
            done = case.says in said and not (life and life.bound) and (not case.group or case.says in on_group)
        else:
            done = bool(life and life.bound)
        seen = f"said: {said[:300] or 'nothing'}; its group: {on_group[:300] or 'nothing'}"
        return Answer(Verdict.YES if done else Verdict.OPEN, f"bound; {seen}" if life and life.bound else seen)

    return Question(wanted, ask, (case.pod,))


def _said_by_group(history: History, name: str) -> str:
    newest = history.thing("PodGroup", name)[-1:]
    conditions = [one for record in newest for one in getattr(record.object, "status", {}).get("conditions", [])]
    return "; ".join(str(one.get("message", "")) for one in conditions)


def _nobody_without_a_reason(pods: list[str]) -> Question:
    def ask(history: History) -> Answer:
        lives = [life for name in pods if (life := history.pod(name))]
        silent = [life.name for life in lives if not life.bound and not life.refusal]
        return Answer(Verdict.OPEN if silent else Verdict.YES, f"without a word: {', '.join(silent)}")

    return Question("everybody bound, or told why not", ask)
