"""The status of a training job: its state, its replica counts, its times, and how long something lasted.

Times in a status are rounded down to a second and reach the recorder a little later, so a duration may seem shorter.
"""

from __future__ import annotations

from collections.abc import Mapping

from muster import timeouts
from muster.assertions.job_queries import END_STATES, describe_job, job_records, job_states, latest_status, status_of
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question, always


def job_is(job: str, state: str) -> Question:
    """Its conditions say so; a job that has ended otherwise never will."""

    def ask(history: History) -> Answer:
        states, seen = job_states(history, job), describe_job(history, job)
        if states and states[-1] == state:
            return Answer(Outcome.TRUE, seen)
        return Answer(Outcome.FALSE if states and states[-1] in END_STATES else Outcome.PENDING, seen)

    return Question(f"job {job} {state}", ask)


def job_went_through(job: str, *wanted: str) -> Question:
    """Through these states, in this order, and through no other."""

    def ask(history: History) -> Answer:
        states, seen = job_states(history, job), describe_job(history, job)
        if states == list(wanted):
            return Answer(Outcome.TRUE, seen)
        return Answer(Outcome.PENDING if states == list(wanted[: len(states)]) else Outcome.FALSE, seen)

    return Question(f"job {job} going {' → '.join(wanted)}", ask)


def job_never_was(job: str, state: str) -> Question:
    """Among the states that the job went through, this one is not."""

    def violation(history: History) -> str:
        return describe_job(history, job) if state in job_states(history, job) else ""

    return always(f"job {job} never {state}", violation)


def never_reconciled(job: str) -> Question:
    """The job exists, and no controller has set a condition on it."""

    def violation(history: History) -> str:
        if not job_records(history, job):
            return f"there is no job {job}"
        return describe_job(history, job) if job_states(history, job) else ""

    return always(f"no conditions of job {job}", violation)


def replica_statuses(job: str, wanted: Mapping[str, Mapping[str, int]]) -> Question:
    """By role: how many are active, have succeeded, have failed."""

    def ask(history: History) -> Answer:
        found = latest_status(history, job).get("replicaStatuses", {})
        counts = {role: {field: found.get(role, {}).get(field, 0) for field in row} for role, row in wanted.items()}
        return Answer(Outcome.TRUE if counts == wanted else Outcome.PENDING, f"job {job} counts {_table(counts)}")

    return Question(f"job {job} counting {_table(wanted)}", ask)


def job_times_consistent(job: str) -> Question:
    """Created, startTime, the transition to the end state and completionTime are set and in order."""

    def ask(history: History) -> Answer:
        status = latest_status(history, job)
        conditions = {condition["type"]: condition for condition in status.get("conditions", [])}
        if not any(conditions.get(end, {}).get("status") == "True" for end in END_STATES):
            return Answer(Outcome.PENDING, f"job {job} has not ended")
        ended = next(one.get("lastTransitionTime", "") for kind, one in conditions.items() if kind in END_STATES)
        created, started = conditions.get("Created", {}).get("lastTransitionTime", ""), status.get("startTime", "")
        completed = status.get("completionTime", "")
        still_running = conditions.get("Running", {}).get("status") == "True"
        right = "" < created <= started <= min(ended, completed) and not still_running
        seen = f"created {created}, started {started}, ended {ended}, completed {completed}"
        return Answer(Outcome.TRUE if right else Outcome.FALSE, f"{seen}{', still Running' if still_running else ''}")

    return Question(f"job {job} with the times of its creation, its start and its end", ask)


def job_deleted_after(job: str, seconds: int) -> Question:
    """The job is deleted so many seconds after its end."""

    def ask(history: History) -> Answer:
        records = job_records(history, job)
        ended = next((record.moment for record in records if status_of(record).get("completionTime")), None)
        if ended is None or records[-1].change != "DELETED":
            return Answer(Outcome.PENDING, f"job {job} {'still exists' if ended else 'has not ended'}")
        return _lasted(records[-1].moment.at - ended.at, seconds, f"job {job} was kept")

    return Question(f"job {job} deleted {seconds} s after its end", ask)


def job_failed_after(job: str, seconds: int) -> Question:
    """The job fails so many seconds after its start, because of its deadline."""

    def ask(history: History) -> Answer:
        records = job_records(history, job)
        start = next((index for index, record in enumerate(records) if status_of(record).get("startTime")), None)
        ended = next((record for record in records if status_of(record).get("completionTime")), None)
        if start is None or ended is None:
            return Answer(Outcome.PENDING, f"job {job} has not ended")
        last = status_of(ended)["conditions"][-1]
        reason = last["message"].replace(job, "")  # a job may be called after its deadline
        if last["type"] != "Failed" or "deadline" not in reason:
            return Answer(Outcome.FALSE, f"job {job}: {last['type']}: {last['message']}")
        at_most = ended.moment.at - records[max(start - 1, 0)].moment.at  # it started between two records
        return _lasted(ended.moment.at - records[start].moment.at, seconds, f"job {job} was active", at_most)

    return Question(f"job {job} failed after {seconds} s", ask)


def _lasted(taken: float, seconds: int, what: str, at_most: float | None = None) -> Answer:
    earliest, latest = seconds - timeouts.JOB_TIMES_EARLY, seconds + timeouts.JOB_TIMES_LATE
    in_time = earliest <= (at_most or taken) and taken <= latest
    return Answer(Outcome.TRUE if in_time else Outcome.FALSE, f"{what} for {taken:.1f} s")


def _table(counts: Mapping[str, Mapping[str, int]]) -> str:
    return "; ".join(
        f"{role}: {', '.join(f'{number} {field}' for field, number in row.items())}" for role, row in counts.items()
    )
