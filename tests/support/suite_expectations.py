"""What a full run of the suite must give, row by row: every row once, passed unless the scheduler is excused from it.

Trap: keyed by id, the rows of an outline overwrite each other, and one that passes hides one that failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from muster import schedulers
from muster.errors import NotSupported
from muster.report.results import Result
from muster.schedulers.requests import QueueRequest
from muster.suite.behaviours import Behaviour
from muster.verdicts import Verdict

# What a dialect refuses although the capability is claimed, by the request that it refuses.
REFUSED: dict[str, dict[str, QueueRequest]] = {
    "reference": {
        "QUE-06": QueueRequest("research", gpus=8, reserves_for_head=True),
        "QUE-15": QueueRequest("ours", lends=True),
        "QUE-16": QueueRequest("strong", weight=3),
    },
    "kube-scheduler": {},
}
# What a scheduler is known to fail: none of these is a MUST.
FAILED: dict[str, set[str]] = {"reference": set(), "kube-scheduler": {"TEN-06"}}
NOT_STAGED: dict[str, set[str]] = {"reference": set(), "kube-scheduler": set()}  # on the embedded control plane


@dataclass(frozen=True)
class Expected:
    """The verdict of one row, and the sentence that excuses it; empty where it is tested."""

    verdict: Verdict
    message: str = ""


def expected(behaviour: Behaviour, scheduler: str) -> Expected:
    """From the scheduler's claims and its dialect."""
    chosen, configuration = schedulers.choose(scheduler)
    claims = chosen.claims(configuration)
    if unclaimed := [each for each in behaviour.capabilities if each not in claims]:
        return Expected(Verdict.NOT_SUPPORTED, f"{scheduler} does not claim {', '.join(unclaimed)}")
    if request := REFUSED[scheduler].get(behaviour.id):
        return Expected(Verdict.NOT_SUPPORTED, refusal(scheduler, request))
    if behaviour.id in FAILED[scheduler]:
        return Expected(Verdict.FAILED)
    return Expected(Verdict.NOT_STAGED if behaviour.id in NOT_STAGED[scheduler] else Verdict.PASSED)


def refusal(scheduler: str, request: QueueRequest) -> str:
    """What the dialect says when it refuses the request; empty if it takes it."""
    try:
        schedulers.choose(scheduler)[0].dialect_class().queue_manifest(request)
    except NotSupported as refused:
        return str(refused)
    return ""


def deviations(results: Iterable[Result], behaviours: Iterable[Behaviour], scheduler: str) -> list[str]:
    """How a run of these behaviours differs from what is expected, a line for each row; a row counts exactly once."""
    seen: dict[str, list[Result]] = {}
    for result in results:
        seen.setdefault(result.name, []).append(result)
    found = []
    for behaviour in behaviours:
        wanted = expected(behaviour, scheduler)
        for row in behaviour.row_names:
            name = f"{behaviour.id}[{row}]" if row else behaviour.id
            found += _differences(name, wanted, seen.pop(name, []))
    return [*found, *(f"{name}: not selected, but run" for name in seen)]


def _differences(name: str, wanted: Expected, results: Sequence[Result]) -> list[str]:
    if len(results) != 1:
        return [f"{name}: run {len(results)} times"]
    (result,) = results
    if result.verdict is not wanted.verdict:
        return [f"{name}: {result.verdict}, expected {wanted.verdict}: {result.message}"]
    if wanted.message and result.message != wanted.message:
        return [f"{name}: {result.verdict}, but because {result.message!r}; expected {wanted.message!r}"]
    return []
