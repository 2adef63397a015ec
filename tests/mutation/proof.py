"""The proof: what every mutant, baseline and variant did, kept in proof.json, so that a few can be run again.

Traps: features change, and a failing step counts only while the scenario still has that step. Results of several runs
stand side by side: each has the scale of its time limits and its commit, and a kill needs a control at that scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from muster.report.scenario_result import with_first_line
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.reference import Reference
from muster.suite.behaviours import Behaviour, read_features
from muster.suite.paths import suite_root
from tests.mutation.aims import Aim, Effect, Outcome
from tests.mutation.mutants import Mutant
from tests.mutation.outcomes import Outcomes

FILE = Path(__file__).resolve().parent / "proof.json"
# Claimed, but not tested: not supported by the reference's dialect, or not possible on the local cluster.
NOT_TESTED = {"QUE-06", "QUE-15", "QUE-16", "TNT-13"}


class Control(StrEnum):
    """What a kill is compared with: the same scenario on the component without the fault."""

    SAME = "with a control with the same time limits"
    SHORTER = "with a control with shorter ones"
    UNKNOWN = "from before time limits were kept"
    NONE = "without a control"


class Proof(msgspec.Struct):
    """Outcomes by mutant, baseline and variant, then by scenario."""

    mutants: dict[str, Outcomes] = {}
    baseline: dict[str, Outcomes] = {}  # by scheduler
    variants: dict[str, Outcomes] = {}

    @classmethod
    def read(cls) -> Proof:
        return msgspec.json.decode(FILE.read_bytes(), type=cls) if FILE.exists() else cls()

    def save(self) -> None:
        FILE.write_text(_lines(msgspec.to_builtins(self, order="sorted")) + "\n", encoding="utf-8")

    def keep_baseline(self, scheduler: str, new: Outcomes) -> None:
        """In place of those at the same scale, and of those whose scale is not known."""
        kept = self.baseline.setdefault(scheduler, {})
        for id_, rows in new.items():
            replaced = {"", *(one.scale for one in rows)}
            kept[id_] = [*(one for one in kept.get(id_, ()) if one.scale not in replaced), *rows]

    def control(self, mutant: Mutant, aim: Aim) -> Control:
        """Whether the same component passes the scenario without the fault, with which time limits."""
        outcome, rows = self.outcome(mutant, aim), self.baseline.get(component(mutant), {}).get(aim.id, [])
        scales = {one.scale for one in rows if one.scale} - {one.scale for one in rows if one.verdict != "passed"}
        scale = outcome.scale if outcome else ""
        if not scale:
            return Control.UNKNOWN
        if scale in scales:
            return Control.SAME
        return Control.SHORTER if any(float(one) < float(scale) for one in scales) else Control.NONE

    def outcome(self, mutant: Mutant, aim: Aim) -> Outcome | None:
        """Of the rows of an outline the one that was aimed at."""
        found = self.mutants.get(mutant.name, {}).get(aim.id, [])
        order = list(Effect)
        return min(found, key=lambda one: order.index(aim.effect(one)), default=None)

    def effects(self, mutant: Mutant) -> dict[Aim, Effect]:
        return {aim: aim.effect(self.outcome(mutant, aim)) for aim in mutant.aims}


def component(mutant: Mutant) -> str:
    """The scheduler whose baseline a mutant is compared with."""
    return mutant.scheduler.partition(":")[0]


def claimed_behaviours() -> list[Behaviour]:
    """What the reference or kube-scheduler is tested on. A variant repeats a walk-through with other tools."""
    claims = Reference.claims("default").keys() | KubeScheduler.claims("default").keys()
    found = read_features(suite_root() / "features").behaviours
    return [one for one in found if not one.variants and set(one.capabilities) <= claims and one.id not in NOT_TESTED]


def reference_claims(behaviour: Behaviour) -> bool:
    return set(behaviour.capabilities) <= Reference.claims("default").keys()


def not_passed(outcomes: Outcomes) -> list[str]:
    """The scenarios of a baseline or variant that did not pass, with the step."""
    return [
        f"{id_} {one.verdict} at {one.step!r}: {one.seen}"
        for id_, rows in sorted(outcomes.items())
        for one in rows
        if one.verdict != "passed"
    ]


def survivors(mutants: Sequence[Mutant], proof: Proof) -> list[str]:
    """Scenarios that no mutant kills; one that fails at a step that is not declared yet is not counted here."""
    best: dict[str, bool] = {}
    for mutant in mutants:
        for aim, effect in proof.effects(mutant).items() if not mutant.general else ():
            best[aim.id] = best.get(aim.id, False) or effect in (Effect.KILLED, Effect.UNDECLARED)
    return sorted(id_ for id_, killed in best.items() if not killed)


class ThenCoverage(msgspec.Struct):
    """One Then of a MUST, and the mutants that fail it: those aimed at it, and general ones."""

    id: str
    position: int
    text: str
    killed_by: list[str] = []
    general: list[str] = []


def then_coverage(mutants: Sequence[Mutant], proof: Proof) -> Iterator[ThenCoverage]:
    kills = _failing_steps(mutants, proof)
    for behaviour in claimed_behaviours():
        for position, step in enumerate(behaviour.steps if behaviour.level == "must" else ()):
            if step.type != "then":
                continue
            found = ThenCoverage(behaviour.id, position, step.text)
            for mutant in kills.get((behaviour.id, position), ()):
                (found.general if mutant.general else found.killed_by).append(mutant.name)
            yield found


def _failing_steps(mutants: Sequence[Mutant], proof: Proof) -> Mapping[tuple[str, int], list[Mutant]]:
    """By scenario and position. A general mutant kills wherever it fails a Then, others only where they are aimed."""
    found: dict[tuple[str, int], list[Mutant]] = {}
    behaviours = {one.id: one for one in claimed_behaviours()}
    for mutant in mutants:
        for id_, rows in proof.mutants.get(mutant.name, {}).items():
            aims = [aim for aim in mutant.aims if aim.id == id_]
            failed = [one for one in rows if one.failed and not one.invariant]
            kills = [one for one in failed if mutant.general or any(aim.effect(one) is Effect.KILLED for aim in aims)]
            positions = {position_of(one, behaviours[id_]) for one in kills} if id_ in behaviours else set()
            for position in positions:
                if position is not None:
                    found.setdefault((id_, position), []).append(mutant)
    return found


def position_of(outcome: Outcome, behaviour: Behaviour) -> int | None:
    """Of the failing step among the steps of the scenario; None where it has no such step any more."""
    for row in behaviour.examples or ({},):
        texts = [with_first_line(step.text, step.text_block) for step in behaviour.steps_of(row)]
        positions = [number for number, text in enumerate(texts) if text == outcome.step]
        if len(positions) >= outcome.occurrence:
            return positions[outcome.occurrence - 1]
    return None


def _lines(value: object, depth: int = 0) -> str:
    """JSON with a line for each outcome, so that a difference shows what changed."""
    if not isinstance(value, dict | list) or not value or (isinstance(value, dict) and "verdict" in value):
        return msgspec.json.encode(value).decode()
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        if len(value) == 1:
            return f"[{_lines(value[0], depth)}]"
        return "[" + ",".join(inner + _lines(one, depth + 1) for one in value) + outer + "]"
    pairs = (f"{inner}{msgspec.json.encode(name).decode()}: {_lines(one, depth + 1)}" for name, one in value.items())
    return "{" + ",".join(pairs) + outer + "}"
