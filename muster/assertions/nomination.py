"""Nominated nodes: nominations made while victims terminate, kept until the pod runs, and withdrawn."""

from __future__ import annotations

from muster.assertions.preemption import victims_named
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Moment


def nominated_while_terminating(name: str, victim: str) -> Question:
    """The pod is nominated to the victim's node, and the victim is terminating but not gone yet."""
    wanted = f"{name} nominated to the node of {victim} while {victim} terminates"

    def ask(history: History) -> Answer:
        pod, evicted = history.pod(name), history.pod(victim)
        if pod is None or evicted is None:
            return Answer(Outcome.PENDING, f"{name if pod is None else victim} was never seen")
        state = "is terminating" if evicted.deleting else "was not deleted"
        seen = f"{name} is nominated to {pod.nominated_node or 'no node'}; {victim} {state}"
        if evicted.gone:
            return Answer(Outcome.FALSE, f"{victim} is gone since {history.seconds(evicted.gone):.1f} s; {seen}")
        nominated_there = evicted.deleting and pod.nominated_node == evicted.node
        return Answer(Outcome.TRUE if nominated_there else Outcome.PENDING, seen)

    return Question(wanted, ask, (name, victim), victims_named((victim,)))


def nomination_withdrawn(name: str, other: str) -> Question:
    """The other pod is bound to a node that was nominated for this pod, which is by now nominated elsewhere or not."""
    wanted = f"{name} no longer nominated to the node of {other}"

    def ask(history: History) -> Answer:
        pod, holder = history.pod(name), history.pod(other)
        if pod is None or holder is None or holder.bound is None:
            return Answer(Outcome.PENDING, f"{other} is not bound yet")
        if holder.node not in [node for _, node in pod.nominations]:
            return Answer(Outcome.FALSE, f"{name} was never nominated to {holder.node}")
        seen = f"{name} is nominated to {pod.nominated_node or 'no node'}, {other} is bound to {holder.node}"
        return Answer(Outcome.PENDING if pod.nominated_node == holder.node else Outcome.TRUE, seen)

    return Question(wanted, ask, (name, other))


def nominated_to_distinct_nodes(names: tuple[str, ...], victims: tuple[str, ...]) -> Question:
    """At one moment, while all victims terminate, each pod is nominated to a node of its own."""
    wanted = f"{', '.join(names)} nominated to a node each while {', '.join(victims)} terminate"

    def ask(history: History) -> Answer:
        evicted, pods = history.pods_named(victims), history.pods_named(names)
        changes = [(moment, pod.name, node) for pod in pods for moment, node in pod.nominations]
        changes += [(pod.deleting, "", "") for pod in evicted if pod.deleting]
        nominations: dict[str, str] = {}
        complete = len(evicted) == len(victims)
        for moment, name, node in sorted(changes):
            if name:
                nominations[name] = node
            distinct = {node for node in nominations.values() if node}
            if len(distinct) == len(names) and complete and all(_is_terminating(pod, moment) for pod in evicted):
                return Answer(Outcome.TRUE, ", ".join(f"{pod} to {nominations[pod]}" for pod in names))
        too_late = complete and all(pod.gone for pod in evicted)
        return Answer(Outcome.FALSE if too_late else Outcome.PENDING, _describe(history, pods, evicted))

    return Question(wanted, ask, (*names, *victims), victims_named(victims))


def run_on_nominated_nodes(names: tuple[str, ...]) -> Question:
    """Each pod runs on the node that it was last nominated to, and the nomination is cleared."""
    wanted = f"{', '.join(names)} running on their nominated nodes, no nomination left"

    def ask(history: History) -> Answer:
        pods = history.pods_named(names)
        seen = "; ".join(f"{pod.name} on {pod.node or 'no node'}, nominated to {_last_node(pod)}" for pod in pods)
        if len(pods) < len(names) or not all(pod.running for pod in pods):
            return Answer(Outcome.PENDING, seen)
        if any(pod.node != _last_node(pod) for pod in pods):
            return Answer(Outcome.FALSE, seen)
        left = [pod.name for pod in pods if pod.latest.status.nominated_node_name]
        outcome = Outcome.PENDING if left else Outcome.TRUE
        return Answer(outcome, f"{seen}; still nominated: {', '.join(left) or 'none'}")

    return Question(wanted, ask, names)


def _is_terminating(pod: PodHistory, moment: Moment) -> bool:
    return pod.deleting is not None and pod.deleting <= moment and (pod.gone is None or moment < pod.gone)


def _last_node(pod: PodHistory) -> str:
    return next(reversed(pod.nominated_nodes), "no node")


def _describe(history: History, pods: list[PodHistory], evicted: list[PodHistory]) -> str:
    nominations = [f"{pod.name} to {', '.join(dict.fromkeys(pod.nominated_nodes)) or 'no node'}" for pod in pods]
    deletions = [
        f"{pod.name} deleted at {history.seconds(pod.deleting):.1f} s"
        + (f", gone at {history.seconds(pod.gone):.1f} s" if pod.gone else "")
        for pod in evicted
        if pod.deleting
    ]
    return f"nominated: {'; '.join(nominations)}. {'; '.join(deletions) or 'no pod was deleted'}"
