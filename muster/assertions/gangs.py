"""Gangs: whether they start whole or not at all, and what their PodGroup reports.

A gang's bindings are written one after the other, so a part of it is bound for some milliseconds even when all goes
well. A partial gang therefore keeps the answer pending, and only a gang that stays partial is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from muster.assertions.pods import describe
from muster.recording.history import History
from muster.recording.objects import CustomObject
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Record

Gangs = Mapping[str, tuple[str, ...]]  # the names of the members, by the gang's name


def min_member_or_none_bound(gang: str, members: tuple[str, ...], min_member: int) -> Question:
    """At least minMember pods of the gang are bound, or none is."""
    wanted = f"gang {gang} started with at least {min_member} pods or not at all"

    def ask(history: History) -> Answer:
        bound = [pod.name for pod in history.pods_named(members) if pod.bound]
        outcome = Outcome.TRUE if not bound or len(bound) >= min_member else Outcome.PENDING
        return Answer(outcome, f"bound: {', '.join(bound) or 'none'}")

    return Question(wanted, ask, members)


def at_least_running(gang: str, members: tuple[str, ...], number: int) -> Question:
    """So many members run, whichever they are; the others are pending and were not deleted."""
    wanted = f"at least {number} pods of gang {gang} running, the others pending"

    def ask(history: History) -> Answer:
        pods = history.pods_named(members)
        ended = [pod.name for pod in pods if pod.deleting or pod.ended]
        running = [pod.name for pod in pods if pod.running]
        seen = f"running: {', '.join(running) or 'none'}"
        if ended:
            return Answer(Outcome.FALSE, f"{seen}; deleted or ended: {', '.join(ended)}")
        return Answer(Outcome.TRUE if len(running) >= number else Outcome.PENDING, seen)

    return Question(wanted, ask, members)


def completed_or_released(gang: str, members: tuple[str, ...]) -> Question:
    """All members run, or members were deleted and none of the others is bound; nothing in between."""
    wanted = f"gang {gang} running whole, or released with none of its pods bound"

    def ask(history: History) -> Answer:
        pods = history.pods_named(members)
        released = [pod.name for pod in pods if pod.deleting]
        bound = [pod.name for pod in pods if pod.bound and not pod.deleting]
        running = [pod.name for pod in pods if pod.running and not pod.deleting and not pod.ended]
        seen = f"bound: {', '.join(bound) or 'none'}; released: {', '.join(released) or 'none'}"
        whole = len(running) == len(members) or (released and not bound)
        return Answer(Outcome.TRUE if whole else Outcome.PENDING, seen)

    return Question(wanted, ask, members)


def running_gangs(history: History, gangs: Gangs) -> list[str]:
    """The gangs of which every pod runs now; a terminating pod is not counted as running."""

    def runs_now(name: str) -> bool:
        pod = history.pod(name)
        return pod is not None and bool(pod.running) and not pod.deleting and not pod.released

    return [name for name, members in gangs.items() if members and all(map(runs_now, members))]


def started_gangs(history: History, gangs: Gangs) -> list[str]:
    """The gangs of which every pod runs or has run."""
    return [
        name
        for name, members in gangs.items()
        if all((pod := history.pod(member)) and pod.running for member in members)
    ]


def exactly_started(gangs: Gangs, number: int, *, still_running: bool = False) -> Question:
    """So many of the gangs have started with all of their pods (and all still run), no pod of the others is bound."""
    verb = "running" if still_running else "started"
    wanted = f"exactly {number} of the gangs {', '.join(gangs)} {verb} whole, no pod of the others bound"

    def ask(history: History) -> Answer:
        whole = running_gangs(history, gangs) if still_running else started_gangs(history, gangs)
        bound = {name: sum(1 for pod in history.pods_named(members) if pod.bound) for name, members in gangs.items()}
        seen = ", ".join(f"{count} of {len(gangs[name])} bound of {name}" for name, count in bound.items())
        if len(whole) > number:
            return Answer(Outcome.FALSE, seen)
        partial = [name for name in gangs if bound[name] and name not in whole]
        return Answer(Outcome.TRUE if len(whole) == number and not partial else Outcome.PENDING, seen)

    return Question(wanted, ask, tuple(pod for members in gangs.values() for pod in members))


def one_still_runs(gangs: Gangs) -> Question:
    """Exactly one of the gangs runs now, with all of its pods."""

    def ask(history: History) -> Answer:
        whole = running_gangs(history, gangs)
        seen = f"running whole: {', '.join(whole) or 'none'}"
        return Answer(Outcome.TRUE if len(whole) == 1 else Outcome.FALSE, seen)

    return Question(f"exactly one of the gangs {', '.join(gangs)} running", ask)


def bound_before(first: tuple[str, ...], second: tuple[str, ...], text: str) -> Question:
    """Every pod of the first was bound before any pod of the second."""

    def ask(history: History) -> Answer:
        early = [pod.bound for pod in history.pods_named(first) if pod.bound]
        late = [pod.bound for pod in history.pods_named(second) if pod.bound]
        if late and (len(early) < len(first) or max(early) > min(late)):
            count = f"{len([moment for moment in early if moment < min(late)])} of {len(first)} were bound by then"
            return Answer(Outcome.FALSE, f"a pod was bound at {history.seconds(min(late)):.1f} s; {count}")
        if len(early) < len(first) or not late:
            return Answer(
                Outcome.PENDING, f"{len(early)} of {len(first)} bound, {len(late)} of {len(second)} after them"
            )
        last, start = history.seconds(max(early)), history.seconds(min(late))
        return Answer(Outcome.TRUE, f"all bound at {last:.1f} s, the others from {start:.1f} s")

    return Question(text, ask, (*first, *second))


def gang_unschedulable(gang: str, members: tuple[str, ...]) -> Question:
    """The *gang* is reported unschedulable: by its PodGroup, by an event about it, or by a member that names it.

    Where a scheduler has placeholder pods for a gang, what is reported of them is reported of the gang.
    """
    wanted = f"gang {gang} reported as unschedulable"

    def ask(history: History) -> Answer:
        placeholders = [pod for pod in history.pods if pod.placeholder_for == gang]
        reports = [*_podgroup_reports(history, gang), *_member_reports(history, gang, members)]
        reports += [f"{pod.name}: {pod.scheduling_failure.message}" for pod in placeholders if pod.scheduling_failure]
        if reports:
            return Answer(Outcome.TRUE, reports[0])
        states = "; ".join(describe(history, pod) for pod in members)
        return Answer(Outcome.PENDING, f"nothing names gang {gang}", states)

    return Question(wanted, ask, members)


def podgroup_records(history: History, gang: str) -> list[Record]:
    """The PodGroup of a gang (whatever its kind is called) through its changes, with its deletion."""
    return [record for kind in history.conventions.group_kinds for record in history.custom_objects(kind, gang)]


def podgroup_versions(history: History, gang: str) -> list[CustomObject]:
    """The PodGroup of a gang through its changes."""
    return [record.object for record in podgroup_records(history, gang) if isinstance(record.object, CustomObject)]


def min_member_of(history: History, gang: str) -> int:
    """minMember of the gang's newest PodGroup; 1 where none was seen or it declares none."""
    newest = podgroup_versions(history, gang)[-1:]
    return max(1, history.conventions.min_member(newest[0].spec)) if newest else 1


def group_phases(history: History, gang: str, phase_of: Callable[[Mapping[str, Any]], str]) -> list[str]:
    """The phases of a gang's PodGroup as they came, in the names that all dialects share, repetitions left out."""
    phases = [phase_of({"status": group.status}) for group in podgroup_versions(history, gang)]
    return [phase for number, phase in enumerate(phases) if not number or phases[number - 1] != phase]


def group_keeps_phase(gang: str, phase: str, phase_of: Callable[[Mapping[str, Any]], str]) -> Question:
    """The PodGroup has reached this phase and has not left it again."""
    wanted = f"the PodGroup of gang {gang} {phase} and nothing else afterwards"
    phase_of({"status": {}})  # a dialect that does not support phases raises NotSupported now

    def ask(history: History) -> Answer:
        phases = group_phases(history, gang, phase_of)
        seen = " → ".join(phases)
        if phase not in phases:
            return Answer(Outcome.PENDING, seen or f"no PodGroup {gang} was seen")
        return Answer(Outcome.TRUE if phases[-1] == phase and phases.count(phase) == 1 else Outcome.FALSE, seen)

    return Question(wanted, ask)


def group_declares(gang: str, min_member: int, queue: str, queue_of: Callable[[CustomObject], str]) -> Question:
    """The PodGroup has this minMember and this queue."""

    def ask(history: History) -> Answer:
        groups = podgroup_versions(history, gang)
        if not groups:
            return Answer(Outcome.PENDING, f"no PodGroup of {gang} was seen")
        declared = groups[-1].spec.get("minMember"), queue_of(groups[-1])
        seen = f"the PodGroup of {gang} has minMember {declared[0]}, in queue {declared[1]}"
        return Answer(Outcome.TRUE if declared == (min_member, queue) else Outcome.FALSE, seen)

    return Question(f"the PodGroup of {gang} with minMember {min_member}, in queue {queue}", ask)


def _podgroup_reports(history: History, gang: str) -> list[str]:
    conventions = history.conventions
    name = history.aliases.get(gang, gang)
    latest = podgroup_versions(history, gang)[-1:]
    conditions = [condition for group in latest for condition in group.status.get("conditions", [])]
    reports = [
        f"its PodGroup: {condition['type']}={condition['status']}: {condition.get('message', '')}"
        for condition in conditions
        if conventions.is_group_unschedulable(condition)
    ]
    for _, event in history.events():
        about = event.involved_object
        is_group = about.kind in conventions.group_kinds and (about.namespace, about.name) == (history.namespace, name)
        same_uid = not latest or not about.uid or about.uid == latest[0].metadata.uid
        if is_group and same_uid and "schedulable" in event.reason:
            reports.append(f"event {event.reason} about its PodGroup: {event.message}")
    return reports


def _member_reports(history: History, gang: str, members: tuple[str, ...]) -> list[str]:
    """A member's name may begin with the gang's: only the gang's whole name counts."""
    whole_name = re.compile(rf"(?<![\w-]){re.escape(gang)}(?![\w-])")
    failures = [(pod.name, pod.scheduling_failure) for pod in history.pods_named(members)]
    return [
        f"{name}: {failure.message}" for name, failure in failures if failure and whole_name.search(failure.message)
    ]
