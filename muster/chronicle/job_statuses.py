"""Questions about the status of a job: its counts, its times, and how long something lasted.

Times in a status are rounded down to a second and reach the recorder a little later, so a duration may seem shorter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.chronicle.history import History
from muster.chronicle.jobs import states
from muster.chronicle.objects import Thing
from muster.chronicle.operators import records_of
from muster.chronicle.questions import Answer, Question, Verdict, always
from muster.chronicle.records import Record

_EARLY = 1.5  # seconds: the rounding, and the way of the news
_LATE = 5.0  # seconds: a busy machine, not another rule
_ENDS = ("Failed", "Succeeded")


def status_of(record: Record) -> dict[str, Any]:
    assert isinstance(record.object, Thing)
    return record.object.status


def counts(job: str, wanted: Mapping[str, Mapping[str, int]]) -> Question:
    """By role: how many are active, have succeeded, have failed."""

    def ask(history: History) -> Answer:
        newest = records_of(history, job)[-1:]
        found = status_of(newest[0]).get("replicaStatuses", {}) if newest else {}
        said = {role: {word: found.get(role, {}).get(word, 0) for word in row} for role, row in wanted.items()}
        return Answer(Verdict.YES if said == wanted else Verdict.OPEN, f"job {job} counts {_table(said)}")

    return Question(f"job {job} counting {_table(wanted)}", ask)


def never_was(job: str, state: str) -> Question:
    """Among the states that the job went through, this one is not."""

    def broken(history: History) -> str:
        told = states(history, job)
        return f"job {job}: {' → '.join(told)}" if state in told else ""

    return always(f"job {job} never {state}", broken)


def tells_its_times(job: str) -> Question:
    """Each condition says since when it holds, none before the one that came earlier, and start and end frame them."""

    def ask(history: History) -> Answer:
        newest = records_of(history, job)[-1:]
        status = status_of(newest[0]) if newest else {}
        told = {one["type"]: one for one in status.get("conditions", [])}
        if not any(told.get(end, {}).get("status") == "True" for end in _ENDS):
            return Answer(Verdict.OPEN, f"job {job} has not ended")
        ended = next(one.get("lastTransitionTime", "") for kind, one in told.items() if kind in _ENDS)
        created, started = told.get("Created", {}).get("lastTransitionTime", ""), status.get("startTime", "")
        completed = status.get("completionTime", "")
        still = told.get("Running", {}).get("status") == "True"
        right = "" < created <= started <= min(ended, completed) and not still
        seen = f"created {created}, started {started}, ended {ended}, completed {completed}"
        return Answer(Verdict.YES if right else Verdict.NO, f"{seen}{', still Running' if still else ''}")

    return Question(f"job {job} with the times of its creation, its start and its end", ask)


def gone_after(job: str, seconds: int) -> Question:
    """The job is deleted so many seconds after its end."""

    def ask(history: History) -> Answer:
        known = records_of(history, job)
        ended = next((one.moment for one in known if status_of(one).get("completionTime")), None)
        if ended is None or known[-1].change != "DELETED":
            return Answer(Verdict.OPEN, f"job {job} is {'there' if ended else 'not at its end'}")
        return _lasted(known[-1].moment.at - ended.at, seconds, f"job {job} was kept")

    return Question(f"job {job} gone {seconds} s after its end", ask)


def failed_after(job: str, seconds: int) -> Question:
    """The job fails so many seconds after its start, for that reason."""

    def ask(history: History) -> Answer:
        known = records_of(history, job)
        start = next((place for place, one in enumerate(known) if status_of(one).get("startTime")), None)
        ended = next((one for one in known if status_of(one).get("completionTime")), None)
        if start is None or ended is None:
            return Answer(Verdict.OPEN, f"job {job} goes on")
        last = status_of(ended)["conditions"][-1]
        if last["type"] != "Failed" or "deadline" not in last["message"]:
            return Answer(Verdict.NO, f"job {job}: {last['type']}: {last['message']}")
        at_most = ended.moment.at - known[max(start - 1, 0)].moment.at  # it started between two news of it
        return _lasted(ended.moment.at - known[start].moment.at, seconds, f"job {job} was active", at_most)

    return Question(f"job {job} failed after {seconds} s", ask)


def _lasted(taken: float, seconds: int, what: str, at_most: float | None = None) -> Answer:
    in_time = seconds - _EARLY <= (at_most or taken) and taken <= seconds + _LATE
    return Answer(Verdict.YES if in_time else Verdict.NO, f"{what} for {taken:.1f} s")


def _table(said: Mapping[str, Mapping[str, int]]) -> str:
    return "; ".join(
        f"{role}: {', '.join(f'{number} {word}' for word, number in row.items())}" for role, row in said.items()
    )
