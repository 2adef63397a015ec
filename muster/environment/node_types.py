"""Which behaviours were run on real and on simulated nodes of one kind cluster, and what came of it.

`node_types.json` holds the verdicts; `python -m bench.node_types` writes them. A behaviour runs on real nodes once it
was compared there: until then a difference would be found by a user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec

from muster.run_options import NODE_TYPES

REAL, SIMULATED = NODE_TYPES
PASSED = "passed"
FILE = Path(str(resources.files("muster.environment"))) / "node_types.json"

# Behaviours that workers could hold, and that differ there.
_RESTARTED = "a kubelet restarts the container of a failed pod with restartPolicy OnFailure, and the steps count pods"
_WEBHOOK = "the admission webhook of the operator is reached on a local cluster only"
NOT_HELD = {"JOB-03": _RESTARTED, "JOB-16": _RESTARTED, "TRO-9": _WEBHOOK, "TRO-12": _WEBHOOK}
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


def read_outcomes(file: Path = FILE) -> list[Outcome]:
    """One for each behaviour, scheduler and type of nodes."""
    return msgspec.json.decode(file.read_bytes(), type=list[Outcome])


def write_outcomes(outcomes: Iterable[Outcome], file: Path = FILE) -> None:
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


@cache
def compared() -> frozenset[str]:
    """The behaviours that run on real nodes without being asked to: some scheduler has a verdict for them on both."""
    return frozenset(simulated.id for simulated, _ in pairs(read_outcomes()))
