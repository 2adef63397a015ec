"""The ConformanceReport: what one scheduler was seen to do, in a file that people and machines keep.

A profile is a capability with its behaviours: its core are the MUSTs, its extended part all others. A profile is passed
when every core behaviour passed; one that could not be judged everywhere is incomplete, never passed. Apart from `made`
and the moments that stories tell, the file is the same, byte for byte, whenever the same was seen.
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
from muster.catalogue import in_order
from muster.report import commented_yaml
from muster.report.conformance_format import (
    API_VERSION,
    KIND,
    ConformanceReport,
    Counts,
    Implementation,
    Judgement,
    Profile,
    Unsupported,
    Where,
)
from muster.report.plain_text import plain
from muster.report.results import TIMELINE_DIRECTORY, Result
from muster.verdicts import Verdict

FILE = "conformance.yaml"
UNSTABLE = "unstable"
PROFILES = {
    "preemption": "preemption",
    "taints": "taints",
    "gangs": "gang",
    "queues": "queue",
    "job-preemption": "job-preemption",
    "jobs": "jobs",
}
_BAD = (Verdict.FAILED.value, UNSTABLE, Verdict.ERROR.value)


Sighting = tuple[Result, str]  # with the directory that its evidence is in, "" for that of the report itself


@dataclass(frozen=True)
class Claim:
    """Who was judged, and what it says of itself."""

    scheduler: str  # as --scheduler was given
    configuration: str
    capabilities: Mapping[str, str]  # with the source of each claim
    command: str  # that judged it
    operator: str = "reference"
    client: str = "muster"


def write(directory: Path, sightings: Sequence[Sighting], claim: Claim, facts: Mapping[str, str]) -> None:
    """Into the directory, whole or not at all: the file is also the mark of what has come to its end."""
    found = report(sightings, claim, facts, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
    draft = directory / f".{FILE}"
    draft.write_text(commented_yaml.write(found), encoding="utf-8")
    draft.replace(directory / FILE)


def report(sightings: Sequence[Sighting], claim: Claim, facts: Mapping[str, str], made: str) -> ConformanceReport:
    """Everything that one or several runs have shown; `facts` are those of their environment."""
    judged = judgements(sightings, claim.command)
    results = [result for result, _ in sightings]
    return ConformanceReport(
        apiVersion=API_VERSION,
        kind=KIND,
        made=made,
        muster=muster.__version__,
        implementation=_implementation(claim, facts),
        cluster=Where(facts.get("cluster", "unknown"), facts.get("kubernetes", "unknown")),
        profiles=profiles(judged),
        behaviours=judged,
        unsupported=unsupported(results, claim.capabilities),
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


def judgements(sightings: Iterable[Sighting], command: str) -> list[Judgement]:
    """One for each id, from all its rows and rounds."""
    by_id: dict[str, list[Sighting]] = {}
    for sighting in sightings:
        by_id.setdefault(sighting[0].id, []).append(sighting)
    return [_judgement(by_id[id_], command) for id_ in sorted(by_id, key=in_order)]


def _judgement(sightings: Sequence[Sighting], command: str) -> Judgement:
    ordered = sorted(sightings, key=lambda sighting: (sighting[0].example, sighting[1], sighting[0].round))
    results = [result for result, _ in ordered]
    verdict = overall(results)
    bad = (sighting for sighting in ordered if sighting[0].verdict in (Verdict.FAILED, Verdict.ERROR))
    first, directory = next(bad, ordered[0])
    judged = first.verdict in (Verdict.PASSED, Verdict.FAILED, Verdict.ERROR)
    return Judgement(
        id=first.id,
        title=first.title,
        level=first.level,
        profile=profile_of(first.capabilities),
        verdict=verdict,
        runs=_sorted_counts(one.verdict.value for one in results),
        reproduce=f"{command} --only {first.id}" + (" --repeat 5" if verdict == UNSTABLE else ""),
        evidence=f"{directory}{TIMELINE_DIRECTORY}/{first.file_name}.svg" if judged else "",
        story=plain(first.message) if verdict in _BAD else "",
    )


def overall(results: Sequence[Result]) -> str:
    """The verdict of a behaviour: unstable when one row both passed and failed, else that of its worst row."""
    rows: dict[str, set[Verdict]] = {}
    for result in results:
        rows.setdefault(result.example, set()).add(result.verdict)
    seen = set().union(*rows.values())
    if Verdict.ERROR in seen:
        return Verdict.ERROR.value
    if any({Verdict.PASSED, Verdict.FAILED} <= verdicts for verdicts in rows.values()):
        return UNSTABLE
    for verdict in (Verdict.FAILED, Verdict.NOT_STAGED, Verdict.NOT_SUPPORTED, Verdict.SKIPPED):
        if verdict in seen:
            return verdict.value
    return Verdict.PASSED.value


def profile_of(capabilities: Sequence[str]) -> str:
    """The first capability that is a profile; a document counts for what it is about."""
    return next((PROFILES[one] for one in capabilities if one in PROFILES), "")


def profiles(judged: Sequence[Judgement]) -> list[Profile]:
    return [
        Profile(
            name,
            core=_counts([one for one in judged if one.profile == name and one.level == "must"]),
            extended=_counts([one for one in judged if one.profile == name and one.level != "must"]),
        )
        for name in PROFILES.values()
        if any(one.profile == name for one in judged)
    ]


def _counts(judged: Sequence[Judgement]) -> Counts:
    counted = _sorted_counts(one.verdict for one in judged)
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
    """What was not judged because it is not claimed, with the words of whoever says so."""
    found: dict[tuple[str, str], set[str]] = {}
    for result in results:
        if result.verdict is Verdict.NOT_SUPPORTED:
            missing = [one for one in result.capabilities if one not in claims] or result.capabilities
            found.setdefault((", ".join(missing), plain(result.message)), set()).add(result.id)
    return [
        Unsupported(capability, sorted(ids, key=in_order), source)
        for (capability, source), ids in sorted(found.items())
    ]


def _sorted_counts(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
