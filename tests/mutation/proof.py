"""The proof: what every mutant, baseline and variant did, kept in proof.json, so that a few can be run again.

Trap: features change. A failing step counts only while the scenario still has that step at that position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.reference import Reference
from muster.suite.behaviours import Behaviour, read_features
from muster.suite.paths import suite_root
from tests.mutation.aims import Aim, Effect, Outcome
from tests.mutation.mutants import Mutant
from tests.mutation.runs import Outcomes

FILE = Path(__file__).resolve().parent / "proof.json"
# Claimed, but not tested: not supported by the reference's dialect, or not possible on the local cluster.
NOT_TESTED = {"QUE-06", "QUE-15", "QUE-16", "TNT-13"}


class Proof(msgspec.Struct):
    """Outcomes by mutant, baseline and variant, then by scenario."""

    mutants: dict[str, Outcomes] = {}
    baseline: dict[str, Outcomes] = {}  # by scheduler
    variants: dict[str, Outcomes] = {}
    scale: str = ""
    load: str = ""

    @classmethod
    def read(cls) -> Proof:
        return msgspec.json.decode(FILE.read_bytes(), type=cls) if FILE.exists() else cls()

    def save(self) -> None:
        FILE.write_bytes(msgspec.json.format(msgspec.json.encode(self, order="sorted"), indent=1) + b"\n")

    def outcome(self, mutant: Mutant, aim: Aim) -> Outcome | None:
        """Of the rows of an outline the one that was aimed at."""
        found = self.mutants.get(mutant.name, {}).get(aim.id, [])
        order = list(Effect)
        return min(found, key=lambda one: order.index(aim.effect(one)), default=None)

    def effects(self, mutant: Mutant) -> dict[Aim, Effect]:
        return {aim: aim.effect(self.outcome(mutant, aim)) for aim in mutant.aims}


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
            for mutant, outcome in kills.get((behaviour.id, position), ()):
                if "<" in step.text or outcome.step.startswith(step.text):  # with its doc string
                    (found.general if mutant.general else found.killed_by).append(mutant.name)
            yield found


def _failing_steps(mutants: Sequence[Mutant], proof: Proof) -> Mapping[tuple[str, int], list[tuple[Mutant, Outcome]]]:
    """By scenario and position. A general mutant kills wherever it fails a Then, others only where they are aimed."""
    found: dict[tuple[str, int], list[tuple[Mutant, Outcome]]] = {}
    for mutant in mutants:
        for id_, rows in proof.mutants.get(mutant.name, {}).items():
            aims = [aim for aim in mutant.aims if aim.id == id_]
            failed = [one for one in rows if one.failed and not one.invariant]
            kills = [one for one in failed if mutant.general or any(aim.effect(one) is Effect.KILLED for aim in aims)]
            for position, outcome in {one.position: one for one in kills}.items():
                found.setdefault((id_, position), []).append((mutant, outcome))
    return found
