"""Questions about what an operator makes of jobs: pods, services and groups, whose they are, and what is left of them.

Whose an object is, is read from its owner references: its name and its labels are themselves among what is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from muster.chronicle.history import History
from muster.chronicle.jobs import states
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Event, Thing
from muster.chronicle.quantities import GPU
from muster.chronicle.questions import Answer, Fact, Question, Verdict, all_of, always
from muster.chronicle.records import Record

_JOBS = ("PyTorchJob", "MPIJob")
_MADE = ("Pod", "Service", "PodGroup")
_LABELLED = ("Pod", "Service")  # of a PyTorchJob there is one of each per replica

Rows = Sequence[Mapping[str, str]]


def records_of(history: History, job: str) -> list[Record]:
    """The job itself, through its changes."""
    return [record for kind in _JOBS for record in history.thing(kind, job)]


def made_for(history: History, job: str, kind: str, *, gone_too: bool = False) -> dict[str, dict[str, Any]]:
    """The objects of a kind that the job owns, by name, as they were last seen."""
    uids = {record.object.metadata.uid for record in records_of(history, job)}
    found: dict[str, dict[str, Any]] = {}
    for record in history.records.get(kind, []):
        body = msgspec.json.decode(record.raw)
        name = body["metadata"]["name"]
        if not uids.intersection(one["uid"] for one in body["metadata"].get("ownerReferences", [])):
            continue
        if record.change != "DELETED" or gone_too:
            found[name] = body
        else:
            found.pop(name, None)
    return found


def lives(history: History, pod: str) -> list[PodLife]:
    """All pods that ever had that name, in the order in which they appeared."""
    return [life for life in history.pods if (life.namespace, life.name) == (history.namespace, pod)]


def created(pod: str) -> Fact:
    return Fact(f"{pod} is made", lambda history: life.created if (life := history.pod(pod)) else None, (pod,))


def consists_of(job: str, pods: Iterable[str], kinds: Sequence[str] = _LABELLED) -> Question:
    """Exactly these pods are the job's, and each has a service of its name."""
    wanted = set(pods)

    def ask(history: History) -> Answer:
        found = {kind: set(made_for(history, job, kind)) for kind in kinds}
        seen = "; ".join(f"{kind}s: {', '.join(sorted(names)) or 'none'}" for kind, names in found.items())
        if all(names == wanted for names in found.values()):
            return Answer(Verdict.YES, seen)
        return Answer(Verdict.OPEN, seen)

    names = ", ".join(sorted(wanted)) or "nothing"
    return Question(f"{names} of job {job}, as {' and '.join(kinds)} each", ask, tuple(sorted(wanted)))


def labelled(table: Rows) -> Question:
    """Each pod carries the labels of its row."""

    def wrong(history: History) -> list[str]:
        missing = []
        for row in table:
            life = history.pod(row["pod"])
            carried = life.pod.metadata.labels if life else {}
            missing += [
                f"{row['pod']}: {label} is {carried.get(label)!r}, not {value!r}"
                for label, value in row.items()
                if label != "pod" and carried.get(label) != value
            ]
        return missing

    return _nothing_wrong("the labels of the table", wrong, table)


def told_by_environment(job: str, table: Rows) -> Question:
    """Every container of each pod finds the variables of its row."""

    def wrong(history: History) -> list[str]:
        pods = made_for(history, job, "Pod")
        missing = []
        for row in table:
            containers = pods.get(row["pod"], {}).get("spec", {}).get("containers", [{}])
            for container in containers:
                given = {one["name"]: one.get("value") for one in container.get("env", [])}
                missing += [
                    f"{row['pod']}: {variable} is {given.get(variable)!r}, not {value!r}"
                    for variable, value in row.items()
                    if variable != "pod" and given.get(variable) != value
                ]
        return missing

    return _nothing_wrong(f"the variables of the table in job {job}", wrong, table)


def comes_back(job: str, pod: str) -> Question:
    """A lost member is made again, once, and the job says in between that it is restarting.

    By a condition or by an event: an operator that finds the master running in the same look may put the one condition
    over the other at once.
    """

    def ask(history: History) -> Answer:
        known, told = lives(history, pod), states(history, job)
        reasons = [event.reason for event in _events_about(history, job)]
        said = "Restarting" in told or any(reason.endswith("Restarting") for reason in reasons)
        seen = f"{len(known)} pods {pod} so far; job {job}: {' → '.join(told)}"
        if len(known) > 2 or (told and told[-1] in ("Failed", "Succeeded")):
            return Answer(Verdict.NO, seen)
        there = len(known) == 2 and known[-1].deleting is None
        seen = seen if said else f"{seen}; of a restart nothing is said"
        return Answer(Verdict.YES if there and said and told[-1:] == ["Running"] else Verdict.OPEN, seen)

    return Question(f"a second pod {pod}, and job {job} restarting, then Running", ask, (pod,))


def made_once(pods: Iterable[str]) -> Question:
    """No pod of that name was ever made again."""
    names = tuple(pods)

    def broken(history: History) -> str:
        often = {name: len(lives(history, name)) for name in names}
        return ", ".join(f"{count} pods {name} so far" for name, count in often.items() if count != 1)

    return always(f"{', '.join(names)} made once", broken, names)


def nothing_made(job: str) -> Question:
    """Not for a moment was there anything of this job but itself."""

    def broken(history: History) -> str:
        found = [f"{kind} {name}" for kind in _MADE for name in made_for(history, job, kind, gone_too=True)]
        return f"of job {job} there was {', '.join(found)}" if found else ""

    return always(f"nothing made for job {job}", broken)


def nothing_left(job: str) -> Question:
    """The job is gone, and so is all that was made for it."""

    def ask(history: History) -> Answer:
        known = records_of(history, job)
        left = [f"{kind} {name}" for kind in _MADE for name in made_for(history, job, kind)]
        left += [] if known and known[-1].change == "DELETED" else [f"job {job} itself"]
        return Answer(Verdict.OPEN if left else Verdict.YES, f"left: {', '.join(left) or 'nothing'}")

    return Question(f"nothing of job {job} left", ask)


def rest_ended(job: str) -> Question:
    """Whoever of the job is still there has ended, after a loss that its processes do not survive."""

    def ask(history: History) -> Answer:
        left = [life for name in made_for(history, job, "Pod") if (life := history.pod(name))]
        at_work = [life.name for life in left if life.ended is None]
        return Answer(Verdict.OPEN if at_work else Verdict.YES, f"at work: {', '.join(at_work) or 'nobody'}")

    return Question(f"an end of all that is left of job {job}", ask)


def warned_of(job: str, word: str) -> Question:
    """A warning about the job contains this word, in whatever letters."""

    def ask(history: History) -> Answer:
        warned = _warnings(history, job)
        found = any(word.lower() in text.lower() for text in warned)
        return Answer(Verdict.YES if found else Verdict.OPEN, f"warnings: {'; '.join(warned) or 'none'}")

    return Question(f"a warning about job {job} that says {word}", ask)


def refused_for(job: str, field: str) -> Question:
    """A condition and a warning, both about the job, name the field that is wrong."""

    def ask(history: History) -> Answer:
        known = [record.object for record in records_of(history, job) if isinstance(record.object, Thing)]
        said = [one.get("message", "") for one in known[-1].status.get("conditions", [])] if known else []
        warned = _warnings(history, job)
        seen = f"conditions: {'; '.join(said) or 'none'}; warnings: {'; '.join(warned) or 'none'}"
        named = all(any(field in text for text in texts) for texts in (said, warned))
        return Answer(Verdict.YES if named else Verdict.OPEN, seen)

    failed = Question(f"job {job} Failed", lambda history: _is_failed(history, job))
    return all_of(f"job {job} refused for {field}", [failed, Question(f"{field} named", ask)])


def group_says(job: str, wanted: Mapping[str, Any]) -> Question:
    """The group of a job, which bears its name, says this and maybe more."""

    def ask(history: History) -> Answer:
        group = made_for(history, job, "PodGroup").get(job, {})
        said = {field: group.get("spec", {}).get(field) for field in wanted}
        return Answer(Verdict.YES if said == wanted else Verdict.OPEN, f"the group of {job} says {said}")

    return Question(f"a group of job {job} that says {dict(wanted)}", ask)


def without_group(job: str, *, ever: bool) -> Question:
    """There is none that bears the job's name; nor was there `ever`. Schedulers may make others for lonely pods."""

    def ask(history: History) -> Answer:
        found = job in made_for(history, job, "PodGroup", gone_too=ever)
        return Answer(Verdict.OPEN if found else Verdict.YES, f"{'a' if found else 'no'} group {job}")

    return Question(f"{'never a' if ever else 'no'} group of job {job}", ask)


def launched_when_ready(job: str) -> Question:
    """The launcher was made when every worker was ready, and asks for no GPU."""

    def ask(history: History) -> Answer:
        pods = made_for(history, job, "Pod")
        launchers = [name for name in pods if name.startswith(f"{job}-launcher")]
        if not launchers:
            return Answer(Verdict.OPEN, f"job {job} has no launcher")
        launcher = history.pod(launchers[0])
        assert launcher is not None
        workers = [life for name in pods if name not in launchers and (life := history.pod(name))]
        early = [life.name for life in workers if life.running is None or life.running > launcher.created]
        if early or not workers:
            return Answer(Verdict.NO, f"the launcher came before {', '.join(early) or 'any worker'} was ready")
        if launcher.asks.get(GPU):
            return Answer(Verdict.NO, "the launcher asks for GPUs")
        return Answer(Verdict.YES, f"the launcher came after {', '.join(life.name for life in workers)}")

    return Question(f"a launcher of job {job} after its workers, without a GPU", ask)


def _warnings(history: History, job: str) -> list[str]:
    return [event.message for event in _events_about(history, job) if event.type == "Warning"]


def _events_about(history: History, job: str) -> list[Event]:
    uids = {record.object.metadata.uid for record in records_of(history, job)}
    return [event for _, event in history.events() if event.involved_object.uid in uids]


def _is_failed(history: History, job: str) -> Answer:
    told = states(history, job)
    verdict = Verdict.YES if told[-1:] == ["Failed"] else Verdict.NO if "Running" in told else Verdict.OPEN
    return Answer(verdict, f"job {job}: {' → '.join(told) or 'nothing is said about it'}")


def _nothing_wrong(wanted: str, wrong: Any, table: Rows) -> Question:
    def ask(history: History) -> Answer:
        found = wrong(history)
        return Answer(Verdict.OPEN if found else Verdict.YES, "; ".join(found[:3]) or wanted)

    return Question(wanted, ask, tuple(row["pod"] for row in table))
