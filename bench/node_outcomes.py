"""The verdicts of behaviours on real and on simulated nodes of one kind cluster, kept as data of the suite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from muster.environment.node_plan import OUTCOMES
from muster.run_options import NODE_TYPES

REAL, SIMULATED = NODE_TYPES
# Why a verdict is another one on real nodes, by behaviour and scheduler.
DIFFERENCES: Mapping[tuple[str, str], str] = {}


class Outcome(msgspec.Struct, frozen=True):
    """All rounds and rows of one behaviour with one scheduler on one type of nodes."""

    id: str
    scheduler: str
    nodes: str  # REAL or SIMULATED
    verdicts: dict[str, int]  # how many rounds and rows had which verdict
    seconds: float  # of all of them together

    @property
    def runs(self) -> int:
        return sum(self.verdicts.values())


def read_outcomes(file: Path = OUTCOMES) -> list[Outcome]:
    """One for each behaviour, scheduler and type of nodes."""
    return msgspec.json.decode(file.read_bytes(), type=list[Outcome])


def write_outcomes(outcomes: Iterable[Outcome], file: Path = OUTCOMES) -> None:
    """One line each, so that a change of one is a change of one line."""
    ordered = sorted(outcomes, key=lambda one: (one.id, one.scheduler, one.nodes))
    lines = ",\n".join(msgspec.json.encode(one).decode() for one in ordered)
    file.write_text(f"[\n{lines}\n]\n")


def combined(before: Iterable[Outcome], new: Iterable[Outcome], *, add: bool) -> list[Outcome]:
    """With new outcomes in the place of older ones, or added to them."""
    found = {(one.id, one.scheduler, one.nodes): one for one in before}
    for one in new:
        key = one.id, one.scheduler, one.nodes
        old = found.get(key)
        if add and old:
            names = [*old.verdicts, *(name for name in one.verdicts if name not in old.verdicts)]
            verdicts = {name: old.verdicts.get(name, 0) + one.verdicts.get(name, 0) for name in names}
            found[key] = Outcome(*key, verdicts, round(old.seconds + one.seconds, 1))
        else:
            found[key] = one
    return list(found.values())


def pairs(outcomes: Iterable[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """Each behaviour that one scheduler has a verdict for on both: on simulated nodes, and on real ones."""
    found = {(one.id, one.scheduler, one.nodes): one for one in outcomes}
    return [
        (one, found[one.id, one.scheduler, REAL])
        for one in found.values()
        if one.nodes == SIMULATED and (one.id, one.scheduler, REAL) in found
    ]


def same_verdict(one: Outcome, other: Outcome) -> bool:
    """A verdict that is not the same in every round is not the same as any other."""
    return len(one.verdicts) == 1 and one.verdicts.keys() == other.verdicts.keys()
