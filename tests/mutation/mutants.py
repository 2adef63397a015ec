"""All schedulers and operators that are broken on purpose, each with the scenarios that must notice.

A mutant is the reference scheduler or operator with a fault of this package, or kube-scheduler with a broken
configuration (tests/mutants/), with a saboteur beside it (tests/saboteur.py), or with both.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.broken import FAULTS, OPERATOR, Fault

_TESTS = Path(__file__).resolve().parents[1]
REFERENCE = "reference"
KUBE_SCHEDULER = "kube-scheduler"


@dataclass(frozen=True)
class Mutant:
    """A scheduler or an operator broken on purpose; `kind` is what it would be if it were not."""

    name: str
    what: str
    aims: tuple[str, ...]
    kind: str
    configuration: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def scheduler(self) -> str:
        """The one to run with: a broken operator has the reference scheduler beside it."""
        if self.kind == OPERATOR:
            return REFERENCE
        return f"{self.kind}:{self.configuration}" if self.configuration else self.kind


def _faulty(fault: Fault) -> Mutant:
    kind, variable = (OPERATOR, "MUSTER_OPERATOR") if fault.part == OPERATOR else (REFERENCE, "MUSTER_REFERENCE")
    return Mutant(fault.name, fault.what, fault.aims, kind, environment={variable: f"tests.broken {fault.name}"})


def _sabotaged(name: str, what: str, aims: str, configuration: str = "", sabotage: str = "") -> Mutant:
    file = str(_TESTS / "mutants" / configuration) if configuration else ""
    beside = {"MUSTER_SABOTEUR": f"{sys.executable} {_TESTS / 'saboteur.py'} {sabotage}"} if sabotage else {}
    return Mutant(name, what, tuple(aims.split()), KUBE_SCHEDULER, file, beside)


MUTANTS = (
    *map(_faulty, FAULTS.values()),
    _sabotaged(
        "no-preemption",
        "The plugin DefaultPreemption is off.",
        "DOC-1 PRE-01 PRE-05 PRE-11 PRE-13 PRE-23",
        configuration="no-preemption.yaml",
    ),
    _sabotaged(
        "no-taints",
        "The plugins TaintToleration and NodeUnschedulable are off.",
        "DOC-4 TNT-01 TNT-02 TNT-03 TNT-05 TNT-07 TNT-12 TNT-14",
        configuration="no-taints.yaml",
    ),
    _sabotaged(
        "reckless",
        "Every new pod is bound at once to the newest node, whatever room and taints say.",
        "PRE-24 PRE-25 PRE-28 TNT-06",
        sabotage="reckless",
    ),
    _sabotaged(
        "massacre",
        "When one pod is preempted, all less important ones are evicted as well.",
        "PRE-04 PRE-06 PRE-07 PRE-08 PRE-09 PRE-10 PRE-17 PRE-29",
        sabotage="massacre",
    ),
    _sabotaged(
        "trigger-happy",
        "A running pod is evicted as soon as another one asks.",
        "PRE-02 PRE-03 PRE-12 PRE-19 PRE-26",
        sabotage="trigger-happy",
    ),
    _sabotaged(
        "silent",
        "A pod is deleted for a waiting one, without condition or event.",
        "PRE-14 PRE-15 PRE-16 PRE-21 PRE-22 PRE-27",
        configuration="no-preemption.yaml",
        sabotage="silent",
    ),
    _sabotaged(
        "merciless",
        "A NoExecute taint drives every pod out at once, whatever it tolerates.",
        "TNT-04 TNT-08 TNT-09 TNT-10 TNT-11 TNT-15",
        sabotage="merciless",
    ),
)
