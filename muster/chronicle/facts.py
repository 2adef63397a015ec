"""The facts of a pod's life: created, bound, running, refused, deleted, gone."""

from __future__ import annotations

from collections.abc import Callable

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.quantities import GPU, readable
from muster.chronicle.questions import Fact
from muster.chronicle.records import Moment


def _of(name: str, pick: Callable[[PodLife], Moment | None]) -> Callable[[History], Moment | None]:
    def moment(history: History) -> Moment | None:
        life = history.pod(name)
        return pick(life) if life else None

    return moment


def state_of(name: str) -> Callable[[History], str]:
    """How a pod stands now, in one sentence."""

    def describe(history: History) -> str:
        life = history.pod(name)
        if life is None:
            return f"{name} was never seen"
        return f"{name} {describe_life(history, life)}"

    return describe


def describe_life(history: History, life: PodLife) -> str:
    if life.gone:
        return f"is gone since {history.seconds(life.gone):.1f} s"
    if life.deleting:
        return f"is being deleted since {history.seconds(life.deleting):.1f} s (on {life.node or 'no node'})"
    if life.ended:
        return f"ended {life.pod.status.phase} at {history.seconds(life.ended):.1f} s"
    if life.running:
        return f"runs on {life.node} since {history.seconds(life.running):.1f} s"
    if life.bound:
        return f"is bound to {life.node} since {history.seconds(life.bound):.1f} s, not running yet"
    asks = readable(life.asks.get(GPU, 0))
    refusal = f": {life.refusal.message}" if life.refusal and life.refusal.message else ""
    nominated = f", nominated to {life.nominations[-1][1]}" if life.nominations and life.nominations[-1][1] else ""
    return f"waits (asks {asks} GPU at priority {life.priority}{nominated}){refusal}"


def runs(name: str) -> Fact:
    return Fact(f"{name} runs", _of(name, lambda life: life.running), (name,), state_of(name))


def runs_on(name: str, nodes: tuple[str, ...]) -> Fact:
    def running_there(life: PodLife) -> Moment | None:
        return life.running if life.node in nodes else None

    where = " or ".join(nodes)
    return Fact(f"{name} runs on {where}", _of(name, running_there), (name,), state_of(name))


def bound(name: str) -> Fact:
    return Fact(f"{name} is bound", _of(name, lambda life: life.bound), (name,), state_of(name))


def deleting(name: str) -> Fact:
    return Fact(f"{name} is asked to go", _of(name, lambda life: life.deleting), (name,), state_of(name))


def gone(name: str) -> Fact:
    return Fact(f"{name} is gone", _of(name, lambda life: life.gone), (name,), state_of(name))


def ended(name: str) -> Fact:
    return Fact(f"{name} ends", _of(name, lambda life: life.ended), (name,), state_of(name))


def refused(name: str) -> Fact:
    """The scheduler says that it has looked at the pod and found no place."""

    def unschedulable(life: PodLife) -> Moment | None:
        refusal = life.refusal
        return life.refused if refusal and refusal.reason == "Unschedulable" else None

    return Fact(f"{name} is reported unschedulable", _of(name, unschedulable), (name,), state_of(name))


def nominated(name: str) -> Fact:
    """A node is held for the pod while its victims terminate."""

    def first_nomination(life: PodLife) -> Moment | None:
        return next((moment for moment, node in life.nominations if node), None)

    return Fact(f"{name} is nominated", _of(name, first_nomination), (name,), state_of(name))


def marked(name: str, reason: str) -> Fact:
    """The DisruptionTarget condition, with the reason that says who did it."""

    def with_reason(life: PodLife) -> Moment | None:
        return life.marked if life.mark and life.mark.reason == reason else None

    text = f"{name} carries DisruptionTarget=True with reason {reason}"

    def detail(history: History) -> str:
        life = history.pod(name)
        mark = life.mark if life else None
        return f"its condition: {mark.reason}: {mark.message}" if mark else state_of(name)(history)

    return Fact(text, _of(name, with_reason), (name,), detail)
