"""The milestones of a pod: bound, running, unschedulable, marked as a disruption target, deleted, gone."""

from __future__ import annotations

from collections.abc import Callable

from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import GPU, readable
from muster.recording.questions import Answer, Milestone, Outcome, Question
from muster.recording.records import Moment


def milestone(text: str, name: str, pick: Callable[[PodHistory], Moment | None]) -> Milestone:
    """A milestone of the newest pod of that name; while it is missing, the answer shows the state of the pod."""

    def moment(history: History) -> Moment | None:
        pod = history.pod(name)
        return pick(pod) if pod else None

    return Milestone(text, moment, (name,), lambda history: describe(history, name))


def describe(history: History, name: str) -> str:
    """The current state of a pod in one line."""
    pod = history.pod(name)
    return f"{name} {describe_pod(history, pod)}" if pod else f"{name} was never seen"


def describe_pod(history: History, pod: PodHistory) -> str:
    if pod.gone:
        return f"is gone since {history.seconds(pod.gone):.1f} s"
    if pod.deleting:
        return f"is terminating since {history.seconds(pod.deleting):.1f} s (on {pod.node or 'no node'})"
    if pod.ended:
        return f"is {pod.latest.status.phase} since {history.seconds(pod.ended):.1f} s"
    if pod.running:
        return f"is running on {pod.node} since {history.seconds(pod.running):.1f} s"
    if pod.bound:
        return f"is bound to {pod.node} since {history.seconds(pod.bound):.1f} s, not running yet"
    failure = pod.scheduling_failure
    reason = f": {failure.message}" if failure and failure.message else ""
    nominated = f", nominated to {pod.nominated_node}" if pod.nominated_node else ""
    gpus = readable(pod.requests.get(GPU, 0))
    return f"is pending (requests {gpus} GPU at priority {pod.priority}{nominated}){reason}"


def runs(name: str) -> Milestone:
    """It has started to run; `still_runs` is about now."""
    return milestone(f"{name} runs", name, lambda pod: pod.running)


def still_runs(name: str, nodes: tuple[str, ...] = ()) -> Question:
    """The pod runs now, on one of these nodes if any are given; one that ran and was deleted or ended does not."""
    where = f" on {' or '.join(nodes)}" if nodes else ""

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        if pod is None or pod.running is None:
            text = f"did not happen: {name} runs{where}"
            return Answer(Outcome.FALSE if pod and pod.gone else Outcome.PENDING, text, describe(history, name))
        if pod.deleting or pod.ended:
            ran = f"{name} ran from {history.seconds(pod.running):.1f} s"
            return Answer(Outcome.FALSE, f"{ran} and {describe_pod(history, pod)}")
        seen = f"{name} runs on {pod.node} since {history.seconds(pod.running):.1f} s"
        return Answer(Outcome.FALSE if nodes and pod.node not in nodes else Outcome.TRUE, seen)

    return Question(f"{name} running{where}", ask, (name,))


def not_evicted(name: str) -> Question:
    """No pod of that name was deleted or failed, unless the scenario itself did that; one created again is another."""

    def ask(history: History) -> Answer:
        pods = [pod for pod in history.pods if pod.name == name and pod.uid not in history.removed_on_purpose]
        lost = [pod for pod in pods if pod.deleting or pod.latest.status.phase == "Failed"]
        if lost:
            return Answer(Outcome.FALSE, f"{name} {describe_pod(history, lost[0])}")
        return Answer(
            Outcome.TRUE if pods else Outcome.PENDING, f"{name} was {'not evicted' if pods else 'never seen'}"
        )

    return Question(f"{name} not evicted", ask, (name,))


def bound(name: str) -> Milestone:
    return milestone(f"{name} is bound", name, lambda pod: pod.bound)


def deleting(name: str) -> Milestone:
    return milestone(f"{name} is deleted", name, lambda pod: pod.deleting)


def gone(name: str) -> Milestone:
    return milestone(f"{name} is gone", name, lambda pod: pod.gone)


def released(name: str) -> Milestone:
    """Its resources are free: it is gone, or a kubelet has reported before that that its containers have ended."""
    return milestone(f"{name} is gone, or has ended", name, lambda pod: pod.released)


def ended(name: str) -> Milestone:
    return milestone(f"{name} ends", name, lambda pod: pod.ended)


def held_by_finalizer(name: str) -> Question:
    """The pod was deleted and its containers have ended, but a finalizer keeps it as an object."""

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        seen = describe(history, name)
        if pod is None or pod.gone:
            return Answer(Outcome.FALSE if pod else Outcome.PENDING, seen)
        return Answer(Outcome.TRUE if pod.deleting and pod.ended else Outcome.PENDING, seen)

    return Question(f"{name} deleted and ended, but not gone", ask, (name,))


def unschedulable(name: str) -> Milestone:
    """The scheduler has tried the pod and reports that it does not fit."""

    def reported(pod: PodHistory) -> Moment | None:
        failure = pod.scheduling_failure
        return pod.scheduling_failed if failure and failure.reason == "Unschedulable" else None

    return milestone(f"{name} is reported unschedulable", name, reported)


def disruption_target(name: str, reason: str) -> Milestone:
    """The condition DisruptionTarget, with the reason that says which component evicts the pod."""

    def with_reason(pod: PodHistory) -> Moment | None:
        return pod.disrupted if pod.disruption and pod.disruption.reason == reason else None

    text = f"{name} has DisruptionTarget=True with reason {reason}"

    def detail(history: History) -> str:
        pod = history.pod(name)
        condition = pod.disruption if pod else None
        return f"its condition: {condition.reason}: {condition.message}" if condition else describe(history, name)

    return Milestone(text, milestone(text, name, with_reason).moment, (name,), detail)


def succeeded(names: tuple[str, ...]) -> Question:
    """All of them are in phase Succeeded."""

    def ask(history: History) -> Answer:
        phases = {name: pod.latest.status.phase if (pod := history.pod(name)) else "never seen" for name in names}
        others = [f"{name}: {phase}" for name, phase in phases.items() if phase != "Succeeded"]
        if others:
            return Answer(Outcome.FALSE if "Failed" in phases.values() else Outcome.PENDING, ", ".join(others))
        return Answer(Outcome.TRUE, f"{len(phases)} pods succeeded")

    return Question(f"{', '.join(names)} succeeded", ask, names)


def recreated(name: str, previous_uid: str) -> Question:
    """A pod of the same name as the one with that uid has been created."""

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        return Answer(Outcome.TRUE if pod and pod.uid != previous_uid else Outcome.PENDING, f"no new pod {name}")

    return Question(f"{name} created again", ask, (name,))
