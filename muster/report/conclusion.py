"""What a run came to, in one line each: the counts, and the conclusion, which says in words what the exit code says.

Trap: `verdicts.exit_code` decides and this module explains; both count the results that `verdicts.decisive` returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from muster.report.results import Result
from muster.report.sanitize import one_line
from muster.run_options import DEFAULT_OPERATOR
from muster.suite.behaviours import id_order
from muster.verdicts import Verdict, decisive, is_tested

_LONGEST_REASON = 300
_REMEDIES = {
    Verdict.NOT_SUPPORTED: "select behaviours that the scheduler claims (docs/schedulers.md, muster run --list)",
    Verdict.NOT_STAGED: "run on a cluster where they can be set up (docs/clusters.md), such as --cluster local",
    Verdict.SKIPPED: "leave out what skips them",
}


@dataclass(frozen=True)
class Run:
    """A finished or interrupted run."""

    scheduler: str
    command: str  # that repeats it
    results: Sequence[Result]
    environment: Mapping[str, str]
    directory: Path
    seconds: float
    missing: int = 0
    interrupted: bool = False
    operator: str = DEFAULT_OPERATOR

    @property
    def decisive(self) -> list[Result]:
        """The MUSTs that decide the exit code."""
        return decisive(self.results, operator_under_test=self.operator_under_test)

    @property
    def operator_under_test(self) -> bool:
        """Whether an operator was chosen; the default one only serves to test the scheduler."""
        return self.operator != DEFAULT_OPERATOR


def counts(run: Run) -> str:
    """Number of scenarios by verdict, and the duration."""
    counted = Counter(result.verdict for result in run.results)
    parts = [f"{counted[verdict]} {verdict}" for verdict in Verdict if counted[verdict]]
    if run.missing:
        parts.append(f"{run.missing} not run")
    number = len(run.results) + run.missing
    return f"{number} scenario{'s' * (number != 1)} in {run.seconds:.1f} s: {', '.join(parts) or 'none'}"


def conclusion(run: Run) -> str:
    """The meaning of the exit code in one line."""
    if run.interrupted:
        return "no verdict: the run was interrupted"
    errors = sum(result.verdict is Verdict.ERROR for result in run.results)
    if errors or run.missing:
        return f"no verdict on {_under_test(run)}: the harness broke in {errors + run.missing} scenarios"
    if not any(map(is_tested, run.results)):
        return _nothing_tested(run)
    musts = run.decisive
    failed = _names(musts, Verdict.FAILED)
    passed = _names(musts, Verdict.PASSED) - failed
    if failed:
        tested = f"{_under_test(run)} does not pass muster: {len(failed)} of {len(failed | passed)} MUSTs failed"
    elif passed:
        tested = f"{_under_test(run)} passes muster: all {len(passed)} MUSTs that were tested passed"
    else:
        tested = f"no MUST was tested on {_under_test(run)}"
    return "; ".join([tested, *_beside(run, failed | passed)])


def _beside(run: Run, tested: set[str]) -> list[str]:
    """What the numbers of the conclusion leave out."""
    musts = run.decisive
    left_out = {verdict: _names(musts, verdict) - tested for verdict in (Verdict.NOT_SUPPORTED, Verdict.NOT_STAGED)}
    parts = [", ".join(f"{len(names)} {verdict}" for verdict, names in left_out.items() if names)]
    others = [result for result in run.results if result.level == "must" and result not in musts]
    if failed := _names(others, Verdict.FAILED):
        parts.append(f"not counted: {len(failed)} failed MUSTs that test the cluster")
    return list(filter(None, parts))


def _names(results: Iterable[Result], verdict: Verdict) -> set[str]:
    """Rows of outlines count one by one."""
    return {result.name for result in results if result.verdict is verdict}


def _under_test(run: Run) -> str:
    """What the verdict is about."""
    tested = [result for result in run.results if is_tested(result)]
    about_scheduler = not tested or any(not result.tests_the_cluster for result in tested)
    named = run.scheduler if about_scheduler else "the cluster"
    jobs_decide = any(result.tests_the_operator for result in run.decisive)
    return f"{named} with operator {run.operator}" if run.operator_under_test or jobs_decide else named


def _nothing_tested(run: Run) -> str:
    """Why the run says nothing, and what to do about it."""
    counted = Counter(result.verdict for result in run.results)
    first = min(run.results, key=lambda result: id_order(result.name))
    numbers = ", ".join(f"{counted[verdict]} {verdict}" for verdict in _REMEDIES if counted[verdict])
    reason = f"{first.name}: {one_line(first.message, _LONGEST_REASON)}"
    remedy = ", or ".join(_REMEDIES[verdict] for verdict in _REMEDIES if counted[verdict])
    return f"nothing was tested on {run.scheduler}: {numbers} ({reason}): {remedy}"
