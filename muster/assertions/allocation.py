"""Resource usage: what is free on a node at a moment, how many GPUs are in use, and on which nodes pods run."""

from __future__ import annotations

from muster.assertions.pods import still_runs
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import GPU, readable
from muster.recording.questions import Answer, Outcome, Question, all_of
from muster.recording.records import Moment


def free_resources(history: History, node: str, moment: Moment) -> dict[str, int]:
    """What is free on a node at a moment; a pod that is bound at that very moment counts as bound."""
    known = history.nodes.get(node)
    free = dict(known.allocatable_at(history.surely_after(moment))) if known else {}
    for pod in history.pods_and_probes:
        if pod.node == node and pod.holds_resources_at(moment):
            for name, amount in pod.requests.items():
                free[name] = free.get(name, 0) - amount
    return free


def fits(pod: PodHistory, free: dict[str, int]) -> bool:
    return all(free.get(name, 0) >= amount for name, amount in pod.requests.items())


def used_by(pods: list[PodHistory], moment: Moment) -> dict[str, int]:
    """What these pods use at a moment, the one bound at that very moment included."""
    used: dict[str, int] = {}
    for pod in pods:
        if pod.holds_resources_at(moment):
            for name, amount in pod.requests.items():
                used[name] = used.get(name, 0) + amount
    return used


def spread_over(pods: tuple[str, ...], number: int) -> Question:
    """All of them run now, on so many different nodes; one that ran and was deleted or ended does not."""
    wanted = f"{', '.join(pods)} running on {number} different nodes"
    all_run = all_of(wanted, [still_runs(name) for name in pods])

    def ask(history: History) -> Answer:
        running = all_run.ask(history)
        if running.outcome is not Outcome.TRUE:
            return running
        nodes = {pod.name: pod.node for pod in history.pods_named(pods)}
        seen = ", ".join(f"{name} on {node}" for name, node in nodes.items())
        return Answer(Outcome.TRUE if len(set(nodes.values())) == number else Outcome.FALSE, seen)

    return Question(wanted, ask, pods)


def gpus_in_use_on(by_node: dict[str, int]) -> Question:
    """So many GPUs are in use on each node, right now."""
    wanted = ", ".join(f"{number} GPUs in use on {node}" for node, number in by_node.items())

    def ask(history: History) -> Answer:
        used = {node: _gpus_used(history, node, history.now) for node in by_node}
        seen = ", ".join(f"{readable(amount)} on {node}" for node, amount in used.items())
        right = all(used[node] == number * 1000 for node, number in by_node.items())
        return Answer(Outcome.TRUE if right else Outcome.PENDING, seen)

    return Question(wanted, ask)


def gpus_in_use_never_above(limit: int) -> Question:
    """At no binding were more GPUs in use, on all nodes together."""
    wanted = f"at no time more than {limit} GPUs in use"

    def ask(history: History) -> Answer:
        peak, when = 0, history.now
        for pod in history.pods:
            if pod.bound:
                used = sum(_gpus_used(history, node, pod.bound) for node in history.nodes)
                if used > peak:
                    peak, when = used, pod.bound
        seen = f"at most {readable(peak)} GPUs in use ({history.seconds(when):.1f} s)"
        return Answer(Outcome.TRUE if peak <= limit * 1000 else Outcome.FALSE, seen)

    return Question(wanted, ask)


def fully_allocated(nodes: tuple[str, ...], resource: str) -> Question:
    """Nothing of a resource is free on these nodes, right now."""

    def ask(history: History) -> Answer:
        free = {node: free_resources(history, node, history.now).get(resource, 0) for node in nodes}
        seen = ", ".join(f"{readable(amount)} {resource} free on {node}" for node, amount in free.items())
        return Answer(Outcome.PENDING if any(free.values()) else Outcome.TRUE, seen)

    return Question(f"no {resource} free on {', '.join(nodes)}", ask)


def _gpus_used(history: History, node: str, moment: Moment) -> int:
    known = history.nodes.get(node)
    if known is None:
        return 0
    return known.allocatable_at(moment).get(GPU, 0) - free_resources(history, node, moment).get(GPU, 0)
