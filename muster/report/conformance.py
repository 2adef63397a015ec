"""Build the ConformanceReport of one scheduler from the results of its runs.

A profile is a capability with its behaviours: its core are the MUSTs, its extended part all others. A profile is passed
when every core behaviour passed; one that could not be tested everywhere is incomplete, never passed. Apart from `made`
and the times in failure reports, equal results give the same file, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import muster
from muster.errors import NOT_CLAIMED
from muster.report.conformance_format import (
    API_VERSION,
    KIND,
    BehaviourResult,
    Cluster,
    ConformanceReport,
    Counts,
    Implementation,
    Profile,
    Unsupported,
    to_yaml,
)
from muster.report.results import TIMELINE_DIRECTORY, Result
from muster.report.sanitize import plain
from muster.suite.behaviours import id_order
from muster.verdicts import Verdict

FILE = "conformance.yaml"
UNSTABLE = "unstable"
PROFILES = {
    "pods": "pods",
    "preemption": "preemption",
    "affinity": "affinity",
    "volumes": "volumes",
    "taints": "taints",
    "gangs": "gang",
    "queues": "queue",
    "job-preemption": "job-preemption",
    "jobs": "jobs",
}
_FROM_BEST_TO_WORST = (
    Verdict.PASSED.value,
    Verdict.SKIPPED.value,
    Verdict.NOT_SUPPORTED.value,
    Verdict.NOT_STAGED.value,
    UNSTABLE,
    Verdict.FAILED.value,
    Verdict.ERROR.value,
)
_BAD = (Verdict.FAILED.value, UNSTABLE, Verdict.ERROR.value)


LocatedResult = tuple[Result, str]  # with the directory of its evidence, "" for that of the report itself


@dataclass(frozen=True)
class Claim:
    """The tested scheduler and what it claims."""

    scheduler: str  # as --scheduler was given
    configuration: str
    capabilities: Mapping[str, str]  # with the source of each claim
    command: str  # that tests it
    operator: str = "reference"
    client: str = "muster"


def write(directory: Path, results: Sequence[LocatedResult], claim: Claim, facts: Mapping[str, str]) -> None:
    """Write the file atomically: its presence also means that the run has ended."""
    found = report(results, claim, facts, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    draft = directory / f".{FILE}"
    draft.write_text(to_yaml(found), encoding="utf-8")
    draft.replace(directory / FILE)


def report(results: Sequence[LocatedResult], claim: Claim, facts: Mapping[str, str], made: str) -> ConformanceReport:
    """The report of one or several runs; `facts` are those of their environment."""
    behaviours = behaviour_results(results, claim.command)
    return ConformanceReport(
        apiVersion=API_VERSION,
        kind=KIND,
        made=made,
        muster=muster.__version__,
        implementation=_implementation(claim, facts),
        cluster=Cluster(facts.get("cluster", "unknown"), facts.get("kubernetes", "unknown")),
        profiles=profiles(behaviours),
        behaviours=behaviours,
        unsupported=unsupported([result for result, _ in results], claim.capabilities),
    )


def _implementation(claim: Claim, facts: Mapping[str, str]) -> Implementation:
    settings = {name: value for name, value in sorted(facts.items()) if name not in ("cluster", "kubernetes")}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    return Implementation(
        name=claim.scheduler,
        version=facts.get("scheduler", "unknown"),
        configuration=claim.configuration,
        digest=f"sha256:{digest}",
        settings=settings,
        operator=claim.operator,
        client=claim.client,
    )


def behaviour_results(results: Iterable[LocatedResult], command: str) -> list[BehaviourResult]:
    """One for each id, from all its rows and rounds."""
    by_id: dict[str, list[LocatedResult]] = {}
    for located in results:
        by_id.setdefault(located[0].id, []).append(located)
    return [_behaviour_result(by_id[id_], command) for id_ in sorted(by_id, key=id_order)]


def _behaviour_result(results: Sequence[LocatedResult], command: str) -> BehaviourResult:
    ordered = sorted(results, key=lambda located: (located[0].example, located[1], located[0].round))
    rows = _row_verdicts([result for result, _ in ordered])
    verdict = max(rows.values(), key=_FROM_BEST_TO_WORST.index)
    decisive = Verdict.FAILED.value if verdict == UNSTABLE else verdict
    first, directory = next(
        located for located in ordered if located[0].verdict == decisive and rows[located[0].example] == verdict
    )
    has_timeline = first.verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.ERROR)
    return BehaviourResult(
        id=first.id,
        title=first.title,
        level=first.level,
        profile=profile_of(first.capabilities),
        verdict=verdict,
        runs=_sorted_counts(result.verdict.value for result, _ in ordered),
        reproduce=f"{command} --only {first.id}" + (" --repeat 5" if verdict == UNSTABLE else ""),
        evidence=f"{directory}{TIMELINE_DIRECTORY}/{first.file_name}.svg" if has_timeline else "",
        failure_report=plain(first.message) if verdict in _BAD else "",
        excuse=plain(first.message) if _is_excused(first) else "",
    )


def _is_excused(result: Result) -> bool:
    """The capability is claimed, and yet the behaviour was not asked, or could not be set up."""
    left_out = result.verdict in (Verdict.NOT_SUPPORTED, Verdict.NOT_STAGED)
    return left_out and NOT_CLAIMED not in result.message


def _row_verdicts(results: Sequence[Result]) -> dict[str, str]:
    """The verdict of each row of one behaviour; that of the behaviour is the worst, so that no row hides another."""
    rows: dict[str, set[str]] = {}
    for result in results:
        rows.setdefault(result.example, set()).add(result.verdict.value)
    return {row: _row_verdict(rounds) for row, rounds in rows.items()}


def _row_verdict(rounds: set[str]) -> str:
    """The worst of its rounds; unstable when some passed, some failed and none broke."""
    flips = {Verdict.PASSED.value, Verdict.FAILED.value} <= rounds
    return UNSTABLE if flips and Verdict.ERROR.value not in rounds else max(rounds, key=_FROM_BEST_TO_WORST.index)


def profile_of(capabilities: Sequence[str]) -> str:
    """The first capability that is a profile; a walk-through counts for what it is about."""
    return next((PROFILES[one] for one in capabilities if one in PROFILES), "")


def profiles(behaviours: Sequence[BehaviourResult]) -> list[Profile]:
    return [
        Profile(
            name,
            core=_counts([one for one in behaviours if one.profile == name and one.level == "must"]),
            extended=_counts([one for one in behaviours if one.profile == name and one.level != "must"]),
        )
        for name in PROFILES.values()
        if any(one.profile == name for one in behaviours)
    ]


def _counts(behaviours: Sequence[BehaviourResult]) -> Counts:
    counted = _sorted_counts(one.verdict for one in behaviours)
    verdicts = set(counted)
    if not verdicts:
        result = "not-judged"
    elif verdicts & {Verdict.FAILED.value, UNSTABLE}:
        result = "failed"
    elif verdicts <= {Verdict.NOT_SUPPORTED.value}:
        result = "not-supported"
    else:
        result = "passed" if verdicts <= {Verdict.PASSED.value, Verdict.NOT_SUPPORTED.value} else "incomplete"
    return Counts(result, counted)


def unsupported(results: Iterable[Result], claims: Mapping[str, str]) -> list[Unsupported]:
    """Behaviours that were not tested because the scheduler does not claim them, with the source."""
    found: dict[tuple[str, str], set[str]] = {}
    for result in results:
        if result.verdict is Verdict.NOT_SUPPORTED:
            missing = [one for one in result.capabilities if one not in claims] or result.capabilities
            found.setdefault((", ".join(missing), plain(result.message)), set()).add(result.id)
    return [
        Unsupported(capability, sorted(ids, key=id_order), source)
        for (capability, source), ids in sorted(found.items())
    ]


def _sorted_counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
