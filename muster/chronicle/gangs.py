"""Questions about gangs: who of them is bound, who speaks for them, and how their group object stands.

A gang's bindings are written one after the other, so a part of it is bound for some milliseconds even when all goes
well. "Whole or not at all" is therefore asked of quiet points: a partial gang keeps the answer open, and only a gang
that stays partial is a violation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from muster.chronicle.facts import state_of
from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Thing
from muster.chronicle.questions import Answer, Question, Verdict

Gangs = Mapping[str, tuple[str, ...]]  # the names of the members, by the gang's name
GROUPS = ("PodGroup", "Workload")  # what dialects call the object that makes pods a gang


def members(history: History, pods: tuple[str, ...]) -> list[PodLife]:
    """The members that were seen, each at its newest life."""
    return [life for name in pods if (life := history.pod(name))]


def whole_or_nothing(gang: str, pods: tuple[str, ...], minimum: int) -> Question:
    """A gang that has never reached its minimum has nobody bound."""
    wanted = f"gang {gang} started with at least {minimum} pods or not at all"

    def ask(history: History) -> Answer:
        started = [life.name for life in members(history, pods) if life.bound]
        seen = f"bound: {', '.join(started) or 'nobody'}"
        return Answer(Verdict.YES if not started or len(started) >= minimum else Verdict.OPEN, seen)

    return Question(wanted, ask, pods)


def at_least_run(gang: str, pods: tuple[str, ...], number: int) -> Question:
    """So many members run, whichever they are; the others wait undisturbed."""
    wanted = f"at least {number} pods of gang {gang} running, the others waiting"

    def ask(history: History) -> Answer:
        there = members(history, pods)
        disturbed = [life.name for life in there if life.deleting or life.ended]
        running = [life.name for life in there if life.running]
        seen = f"running: {', '.join(running) or 'nobody'}"
        if disturbed:
            return Answer(Verdict.NO, f"{seen}; no longer there: {', '.join(disturbed)}")
        return Answer(Verdict.YES if len(running) >= number else Verdict.OPEN, seen)

    return Question(wanted, ask, pods)


def running_gangs(history: History, gangs: Gangs) -> list[str]:
    """The gangs of which every pod runs now."""
    return [
        name
        for name, pods in gangs.items()
        if pods and all((life := history.pod(pod)) and life.running and not life.let_go for pod in pods)
    ]


def exactly_one_starts(gangs: Gangs) -> Question:
    """One gang runs with all of its pods, the others have nobody bound: nobody sits on a part of the room."""
    wanted = f"exactly one of the gangs {', '.join(gangs)} running whole, nobody of the others bound"

    def ask(history: History) -> Answer:
        whole = running_gangs(history, gangs)
        bound = {name: sum(1 for life in members(history, pods) if life.bound) for name, pods in gangs.items()}
        seen = ", ".join(f"{count} of {len(gangs[name])} bound of {name}" for name, count in bound.items())
        if len(whole) > 1:
            return Answer(Verdict.NO, seen)
        others = [name for name in gangs if name not in whole and bound[name]]
        return Answer(Verdict.YES if whole and not others else Verdict.OPEN, seen)

    return Question(wanted, ask, tuple(pod for pods in gangs.values() for pod in pods))


def refused_as_a_gang(gang: str, pods: tuple[str, ...]) -> Question:
    """Somebody says that the *gang* found no place: its group object, an event about it, or a member that names it.

    Where a scheduler has pods of its own that stand for a gang, what is said of them is said of the gang.
    """
    wanted = f"a refusal that is attributed to gang {gang}"

    def ask(history: History) -> Answer:
        stand_ins = [life for life in history.pods if life.stands_for == gang]
        said = [*_said_by_the_group(history, gang), *_said_by_members(history, gang, pods)]
        said += [f"{life.name}: {life.refusal.message}" for life in stand_ins if life.refusal]
        if said:
            return Answer(Verdict.YES, said[0])
        return Answer(Verdict.OPEN, f"nothing names gang {gang}", "; ".join(state_of(pod)(history) for pod in pods))

    return Question(wanted, ask, pods)


def stands(gang: str, phase: str, read: Callable[[Mapping[str, Any]], str]) -> Question:
    """The group object has come to this phase (in neutral words), and has not left it again."""
    wanted = f"the group of gang {gang} {phase} for good"
    read({"status": {}})  # a scheduler that has no word for it says so now, and not by silence

    def ask(history: History) -> Answer:
        phases = [read({"status": thing.status}) for thing in _group(history, gang)]
        seen = " → ".join(word for number, word in enumerate(phases) if not number or phases[number - 1] != word)
        if phase not in phases:
            return Answer(Verdict.OPEN, seen or f"no group {gang} was seen")
        left = any(word != phase for word in phases[phases.index(phase) :])
        return Answer(Verdict.NO if left else Verdict.YES, seen)

    return Question(wanted, ask)


def another_life(pod: str, before: str) -> Question:
    """A pod of the same name as the one with that uid has been created."""

    def ask(history: History) -> Answer:
        life = history.pod(pod)
        return Answer(Verdict.YES if life and life.uid != before else Verdict.OPEN, f"no new pod {pod} was seen")

    return Question(f"{pod} created again", ask, (pod,))


def _group(history: History, gang: str) -> list[Thing]:
    records = [record for kind in GROUPS for record in history.thing(kind, gang)]
    return [record.object for record in records if isinstance(record.object, Thing)]


def _said_by_the_group(history: History, gang: str) -> list[str]:
    latest = _group(history, gang)[-1:]
    conditions = [one for thing in latest for one in thing.status.get("conditions", []) if _refuses(one)]
    said = [f"its group: {one['type']}={one['status']}: {one.get('message', '')}" for one in conditions]
    for _, event in history.events():
        about = event.involved_object
        if about.kind in GROUPS and about.name == gang and "schedulable" in event.reason:
            said.append(f"event {event.reason} about its group: {event.message}")
    return said


def _refuses(condition: Mapping[str, Any]) -> bool:
    """`Unschedulable=True` in one dialect, `…Scheduled=False` or `QuotaReserved=False` in others."""
    kind, status = condition.get("type", ""), condition.get("status")
    if kind == "Unschedulable":
        return status == "True"
    return kind.endswith(("Scheduled", "QuotaReserved")) and status == "False"


def _said_by_members(history: History, gang: str, pods: tuple[str, ...]) -> list[str]:
    """A member's name may begin with the gang's: only the gang's name as a word of its own counts."""
    whole = re.compile(rf"(?<![\w-]){re.escape(gang)}(?![\w-])")
    refusals = [(life.name, life.refusal.message) for life in members(history, pods) if life.refusal]
    return [f"{name}: {message}" for name, message in refusals if whole.search(message)]
