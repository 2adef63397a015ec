"""Every hostile object gets a reason, and blocks no other pod.

All hostile objects stay there together, so that each also meets those that came before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.resources import NODE
from muster.environment.environment import Environment
from muster.environment.scenario import ScenarioContext
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question
from muster.run_options import RunOptions
from muster.schedulers.requests import NodeRequest
from muster.schedulers.volcano import VOLCANO_QUEUE
from tests.chaos.fuzz import Fuzz
from tests.chaos.hostile_objects import Case, Manifest, cases

pytestmark = pytest.mark.plane

_SECONDS = 30.0  # generous: the machine may be busy
_FUZZ_SECONDS = 30.0
_FUZZ_PODS = 50  # fewer would prove nothing
_FUZZ_SEED = 7


@pytest.fixture(scope="module")
def scenario() -> Iterator[ScenarioContext]:
    environment = Environment(RunOptions())
    environment.start()
    patch = pytest.MonkeyPatch()
    patch.setattr(timeouts, "PROBE", _SECONDS)
    try:
        created = environment.scenario("hostile")
        created.add_nodes(NodeRequest(f"hostile-{number}", gpus=8) for number in range(4))
        created.recording.prove_live()
        yield created
    finally:
        patch.undo()
        environment.stop()


@pytest.mark.parametrize("name", [case.name for case in cases("any")])
def test_a_hostile_object_gets_a_reason_and_blocks_no_other_pod(scenario: ScenarioContext, name: str) -> None:
    case = next(case for case in cases(scenario.namespace) if case.name == name)
    for manifest in case.objects:
        _create(scenario, manifest)
    answer = scenario.recording.wait(_reported_or_bound(case), within=_SECONDS)
    assert answer.outcome is Outcome.TRUE, answer.seen
    began = time.monotonic()
    scenario.recording.prove_live()
    assert time.monotonic() - began < _SECONDS
    assert not _cycle_failures(scenario)


def test_random_groups_and_queues_block_no_other_pod(scenario: ScenarioContext) -> None:
    print(f"seed {_FUZZ_SEED}")
    fuzz = Fuzz(_FUZZ_SEED)
    created: list[str] = []
    deadline = time.monotonic() + _FUZZ_SECONDS
    while time.monotonic() < deadline or len(created) <= _FUZZ_PODS:
        for _ in range(10):
            for manifest in fuzz.objects():
                if _create(scenario, manifest) and manifest["kind"] == "Pod":
                    created.append(manifest["metadata"]["name"])
        scenario.recording.prove_live()
    answer = scenario.recording.wait(_bound_or_reported(created), within=_FUZZ_SECONDS)
    assert answer.outcome is Outcome.TRUE, answer.seen
    assert not _cycle_failures(scenario)


def _create(scenario: ScenarioContext, manifest: Manifest) -> bool:
    if manifest["kind"] not in (NODE.kind, VOLCANO_QUEUE.kind):
        manifest = {**manifest, "metadata": {**manifest["metadata"], "namespace": scenario.namespace}}
    try:
        scenario.api.create(manifest)
    except ApiRefused as refusal:
        if refusal.status != 422:
            raise
        return False  # rejected by the API server
    return True


def _cycle_failures(scenario: ScenarioContext) -> list[str]:
    """Failed scheduling cycles and tracebacks in the scheduler's log."""
    lines = scenario.scheduler.processes[0].log.read_text().splitlines()
    return [line[:2000] for line in lines if "scheduling cycle failed" in line or "Traceback" in line]


def _reported_or_bound(case: Case) -> Question:
    """Without a reason, the pod must be bound."""
    wanted = f"{case.pod} reports {case.reason!r}" if case.reason else f"{case.pod} bound"

    def ask(history: History) -> Answer:
        pod = history.pod(case.pod)
        message = pod.scheduling_failure.message if pod and pod.scheduling_failure else ""
        group_message = _group_message(history, case.group)
        if case.reason:
            done = (
                case.reason in message and not (pod and pod.bound) and (not case.group or case.reason in group_message)
            )
        else:
            done = bool(pod and pod.bound)
        seen = f"message: {message[:300] or 'none'}; its PodGroup: {group_message[:300] or 'none'}"
        return Answer(Outcome.TRUE if done else Outcome.PENDING, f"bound; {seen}" if pod and pod.bound else seen)

    return Question(wanted, ask, (case.pod,))


def _group_message(history: History, name: str) -> str:
    newest = history.custom_objects("PodGroup", name)[-1:]
    conditions = [one for record in newest for one in getattr(record.object, "status", {}).get("conditions", [])]
    return "; ".join(str(one.get("message", "")) for one in conditions)


def _bound_or_reported(pods: list[str]) -> Question:
    def ask(history: History) -> Answer:
        found = [pod for name in pods if (pod := history.pod(name))]
        missing = [pod.name for pod in found if not pod.bound and not pod.scheduling_failure]
        return Answer(Outcome.PENDING if missing else Outcome.TRUE, f"without a reason: {', '.join(missing)}")

    return Question("all pods bound, or unschedulable with a reason", ask)
