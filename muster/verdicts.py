"""The six verdicts, how they follow from what was raised, and what they add up to.

An error of the harness must never count as a failure of the scheduler: only ConformanceFailure is a failure. Everything
else that was raised is an error, and an error in set-up or clean-up overrides the verdict in between, because a verdict
from another situation than the described one cannot be trusted.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeVar

from muster.errors import (
    EXIT_FAILED,
    EXIT_HARNESS_BROKE,
    EXIT_PASSED,
    ConformanceFailure,
    MusterError,
    NotStaged,
    NotSupported,
)


class Verdict(StrEnum):
    """How a scenario ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_SUPPORTED = "not-supported"
    NOT_STAGED = "not-staged"
    SKIPPED = "skipped"


_RAISED: dict[type[BaseException], Verdict] = {
    ConformanceFailure: Verdict.FAILED,
    NotSupported: Verdict.NOT_SUPPORTED,
    NotStaged: Verdict.NOT_STAGED,
}
_WEIGHT = (
    Verdict.PASSED,
    Verdict.SKIPPED,
    Verdict.NOT_STAGED,
    Verdict.NOT_SUPPORTED,
    Verdict.FAILED,
    Verdict.ERROR,
)


def verdict_of(raised: BaseException | None) -> Verdict:
    """The verdict of one phase of a scenario. pytest's own skip is the caller's to recognise."""
    verdicts = {_verdict_of_one(each) for each in _leaves(raised)}
    return combined(verdicts)


def _verdict_of_one(raised: BaseException) -> Verdict:
    for kind, verdict in _RAISED.items():
        if isinstance(raised, kind):
            return verdict
    return Verdict.ERROR


def _leaves(raised: BaseException | None) -> Iterator[BaseException]:
    """pytest wraps what several finalisers raised into a group."""
    if isinstance(raised, BaseExceptionGroup):
        for each in raised.exceptions:
            yield from _leaves(each)
    elif raised is not None:
        yield raised


def message_of(raised: BaseException) -> str:
    """The message for the reader: Muster's own errors as they are, others with their type and source line."""
    return "\n".join(_message_of_one(each) for each in _leaves(raised))


def _message_of_one(raised: BaseException) -> str:
    if isinstance(raised, (MusterError, *_RAISED)):
        return str(raised)
    frames = traceback.extract_tb(raised.__traceback__)
    own = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    place = f" (at {'/'.join(Path(own[-1].filename).parts[-2:])}:{own[-1].lineno})" if own else ""
    return f"{type(raised).__name__}: {raised}{place}"


def combined(phases: Iterable[Verdict]) -> Verdict:
    """The verdict of a scenario from those of its phases: the worst, and an error is worse than a failure."""
    return max(phases, key=_WEIGHT.index, default=Verdict.PASSED)


class CountedResult(Protocol):
    """A result, as far as the exit code needs it."""

    @property
    def verdict(self) -> Verdict: ...
    @property
    def level(self) -> str: ...
    @property
    def tests_the_cluster(self) -> bool: ...
    @property
    def tests_the_operator(self) -> bool: ...


Counted = TypeVar("Counted", bound=CountedResult)


def is_tested(result: CountedResult) -> bool:
    """Whether the scenario says anything about what is under test."""
    return result.verdict in (Verdict.PASSED, Verdict.FAILED)


def decisive(results: Iterable[Counted], *, operator_under_test: bool) -> list[Counted]:
    """The MUSTs that decide the exit code: those about the scheduler, and those about an operator under test.

    A run that tested only the cluster or its operator is about these, and their MUSTs decide.
    """
    results = list(results)
    only_the_cluster = not any(is_tested(result) and not result.tests_the_cluster for result in results)
    return [
        result
        for result in results
        if result.level == "must"
        and (only_the_cluster or not result.tests_the_cluster or (operator_under_test and result.tests_the_operator))
    ]


def exit_code(
    results: Iterable[CountedResult], *, operator_under_test: bool = False, harness_broke: bool = False
) -> int:
    """0 all claimed MUSTs passed, 1 one failed, 2 the harness broke (which beats 1) or nothing was tested."""
    results = list(results)
    errors = any(result.verdict is Verdict.ERROR for result in results)
    if harness_broke or errors or not any(map(is_tested, results)):
        return EXIT_HARNESS_BROKE
    musts = decisive(results, operator_under_test=operator_under_test)
    return EXIT_FAILED if any(result.verdict is Verdict.FAILED for result in musts) else EXIT_PASSED
