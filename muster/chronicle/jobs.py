"""Questions about training jobs: the state that their conditions tell, and the way that it went."""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.objects import Thing
from muster.chronicle.questions import Answer, Question, Verdict

_KINDS = ("PyTorchJob", "MPIJob")
_STATES = ("Failed", "Succeeded", "Suspended", "Restarting", "Running", "Created")  # the strongest first
_ENDS = ("Failed", "Succeeded")


def states(history: History, job: str) -> list[str]:
    """The states that a job went through; each is told once."""
    told: list[str] = []
    for kind in _KINDS:
        for record in history.thing(kind, job):
            assert isinstance(record.object, Thing)
            state = _state(record.object)
            if state and (not told or told[-1] != state):
                told.append(state)
    return told


def job_is(job: str, state: str) -> Question:
    """Its conditions say so; a job that has ended otherwise never will."""

    def ask(history: History) -> Answer:
        told = states(history, job)
        seen = f"job {job}: {' → '.join(told) or 'nothing is said about it'}"
        if told and told[-1] == state:
            return Answer(Verdict.YES, seen)
        return Answer(Verdict.NO if told and told[-1] in _ENDS else Verdict.OPEN, seen)

    return Question(f"job {job} {state}", ask)


def job_went(job: str, *wanted: str) -> Question:
    """Through these states, in this order, and through no other."""

    def ask(history: History) -> Answer:
        told = states(history, job)
        seen = f"job {job}: {' → '.join(told) or 'nothing is said about it'}"
        if told == list(wanted):
            return Answer(Verdict.YES, seen)
        return Answer(Verdict.OPEN if told == list(wanted[: len(told)]) else Verdict.NO, seen)

    return Question(f"job {job} going {' → '.join(wanted)}", ask)


def _state(job: Thing) -> str:
    true = {one.get("type") for one in job.status.get("conditions", []) if one.get("status") == "True"}
    return next((state for state in _STATES if state in true), "")
