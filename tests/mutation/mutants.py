"""All mutants: schedulers and operators with one fault each, and the scenarios that must fail on them.

A mutant is the reference scheduler or operator with a fault of tests/mutation/faults, or kube-scheduler with a faulty
configuration (tests/mutation/configurations), with the fault injector beside it, or with both.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation.faults import FAULTS, OPERATOR, Fault

_MUTATION = Path(__file__).resolve().parent
REFERENCE = "reference"
KUBE_SCHEDULER = "kube-scheduler"


@dataclass(frozen=True)
class Mutant:
    """A scheduler or operator with a fault; `kind` is the component that has it."""

    name: str
    description: str
    aims: tuple[str, ...]
    kind: str
    configuration: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def scheduler(self) -> str:
        """The scheduler to run with: a faulty operator runs beside the reference scheduler."""
        if self.kind == OPERATOR:
            return REFERENCE
        return f"{self.kind}:{self.configuration}" if self.configuration else self.kind


def _reference_mutant(fault: Fault) -> Mutant:
    kind, variable = (OPERATOR, "MUSTER_OPERATOR") if fault.part == OPERATOR else (REFERENCE, "MUSTER_REFERENCE")
    return Mutant(
        fault.name, fault.description, fault.aims, kind, environment={variable: f"tests.mutation.faults {fault.name}"}
    )


def _kube_scheduler_mutant(name: str, description: str, aims: str, configuration: str = "", inject: str = "") -> Mutant:
    file = str(_MUTATION / "configurations" / configuration) if configuration else ""
    injector = f"{sys.executable} {_MUTATION / 'fault_injector.py'} {inject}"
    environment = {"MUSTER_FAULT_INJECTOR": injector} if inject else {}
    return Mutant(name, description, tuple(aims.split()), KUBE_SCHEDULER, file, environment)


MUTANTS = (
    *map(_reference_mutant, FAULTS.values()),
    _kube_scheduler_mutant(
        "no-preemption",
        "The plugin DefaultPreemption is disabled.",
        "DOC-1 PRE-01 PRE-05 PRE-11 PRE-13 PRE-23",
        configuration="no-preemption.yaml",
    ),
    _kube_scheduler_mutant(
        "no-taints",
        "The plugins TaintToleration and NodeUnschedulable are disabled.",
        "DOC-4 TNT-01 TNT-02 TNT-03 TNT-05 TNT-07 TNT-12 TNT-14",
        configuration="no-taints.yaml",
    ),
    _kube_scheduler_mutant(
        "no-pod-affinity",
        "The plugin InterPodAffinity is disabled.",
        "PRE-35",
        configuration="no-pod-affinity.yaml",
    ),
    _kube_scheduler_mutant(
        "no-topology-spread",
        "The plugin PodTopologySpread is disabled.",
        "PRE-36",
        configuration="no-topology-spread.yaml",
    ),
    _kube_scheduler_mutant(
        "binds-every-pod",
        "Every new pod is bound at once to the newest node, whatever its free resources and taints.",
        "PRE-24 PRE-25 PRE-28 TNT-06",
        inject="binds-every-pod",
    ),
    _kube_scheduler_mutant(
        "evicts-all-lower-priority-pods",
        "When one pod is preempted, all lower-priority pods are evicted as well.",
        "PRE-04 PRE-06 PRE-07 PRE-08 PRE-09 PRE-10 PRE-17 PRE-29",
        inject="evicts-all-lower-priority-pods",
    ),
    _kube_scheduler_mutant(
        "evicts-for-every-pending-pod",
        "A running pod is evicted for every pending pod.",
        "PRE-02 PRE-03 PRE-12 PRE-19 PRE-26",
        inject="evicts-for-every-pending-pod",
    ),
    _kube_scheduler_mutant(
        "evicts-without-condition",
        "A running pod is deleted for a pending one, without condition or event.",
        "PRE-14 PRE-15 PRE-16 PRE-21 PRE-22 PRE-27",
        configuration="no-preemption.yaml",
        inject="evicts-without-condition",
    ),
    _kube_scheduler_mutant(
        "evicts-tolerating-pods",
        "A NoExecute taint evicts every pod at once, whatever it tolerates.",
        "TNT-04 TNT-08 TNT-09 TNT-10 TNT-11 TNT-15",
        inject="evicts-tolerating-pods",
    ),
)
