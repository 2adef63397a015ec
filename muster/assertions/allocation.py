"""Questions about room: who sits where, how much is in use, and whether it was ever too much."""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.preemptions import free_on, victims
from muster.chronicle.quantities import GPU, readable
from muster.chronicle.questions import Answer, Question, Verdict
from muster.chronicle.records import Moment


def spread_over(pods: tuple[str, ...], number: int) -> Question:
    """All of them run, on so many different nodes."""
    wanted = f"{', '.join(pods)} running on {number} different nodes"

    def ask(history: History) -> Answer:
        lives = [history.pod(name) for name in pods]
        there = {life.name: life.node for life in lives if life and life.running}
        seen = ", ".join(f"{name} on {node}" for name, node in there.items()) or "none of them runs"
        if len(there) < len(pods):
            return Answer(Verdict.OPEN, seen)
        return Answer(Verdict.YES if len(set(there.values())) == number else Verdict.NO, seen)

    return Question(wanted, ask, pods)


def used_on(table: dict[str, int]) -> Question:
    """So many GPUs are in use on each node, right now."""
    wanted = ", ".join(f"{number} GPUs in use on {node}" for node, number in table.items())

    def ask(history: History) -> Answer:
        used = {node: _used(history, node, history.now) for node in table}
        seen = ", ".join(f"{readable(amount)} on {node}" for node, amount in used.items())
        right = all(used[node] == number * 1000 for node, number in table.items())
        return Answer(Verdict.YES if right else Verdict.OPEN, seen)

    return Question(wanted, ask)


def never_more_in_use(most: int) -> Question:
    """At no binding were more GPUs in use, on all nodes together."""
    wanted = f"at no time more than {most} GPUs in use"

    def ask(history: History) -> Answer:
        peak, when = 0, history.now
        for pod in history.pods:
            if pod.bound:
                used = sum(_used(history, node, pod.bound) for node in history.nodes)
                if used > peak:
                    peak, when = used, pod.bound
        seen = f"at most {readable(peak)} GPUs in use ({history.seconds(when):.1f} s)"
        return Answer(Verdict.YES if peak <= most * 1000 else Verdict.NO, seen)

    return Question(wanted, ask)


def takes_the_place_of(preemptor: str, pods: tuple[str, ...]) -> Question:
    """It runs on the node that one of the victims among these pods left."""
    wanted = f"{preemptor} on the node that one of {', '.join(pods)} left"

    def ask(history: History) -> Answer:
        life = history.pod(preemptor)
        if life is None or life.running is None:
            return Answer(Verdict.OPEN, f"{preemptor} does not run")
        left = [victim for victim in victims(history) if victim.name in pods]
        if any(victim.node == life.node for victim in left):
            return Answer(Verdict.YES, f"{preemptor} runs on {life.node}")
        nodes = ", ".join(f"{victim.name} left {victim.node}" for victim in left) or "nobody left"
        return Answer(Verdict.NO, f"{preemptor} runs on {life.node}; {nodes}")

    return Question(wanted, ask, (preemptor, *pods))


def waits_for_one_victim(preemptor: str, pods: tuple[str, ...]) -> Question:
    """One pod terminates, the others are left alone, and the preemptor is not bound yet."""
    wanted = f"{preemptor} waiting while exactly one of {', '.join(pods)} terminates"

    def ask(history: History) -> Answer:
        life = history.pod(preemptor)
        going = [pod for name in pods if (pod := history.pod(name)) and pod.deleting]
        seen = f"asked to go: {', '.join(pod.name for pod in going) or 'nobody'}"
        if life and life.bound:
            return Answer(Verdict.NO, f"{preemptor} is bound to {life.node}; {seen}")
        if len(going) > 1:
            return Answer(Verdict.NO, seen)
        return Answer(Verdict.YES if going else Verdict.OPEN, seen)

    return Question(wanted, ask, (preemptor, *pods))


def _used(history: History, node: str, moment: Moment) -> int:
    life = history.nodes.get(node)
    return life.offers_at(moment).get(GPU, 0) - free_on(history, node, moment).get(GPU, 0) if life else 0
