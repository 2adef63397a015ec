"""All mutants: schedulers, operators and controllers with one fault each, and the steps that must fail on them.

A mutant is the reference scheduler or operator with a fault of tests/mutation/faults, or kube-scheduler with a faulty
configuration (tests/mutation/configurations), with the fault injector beside it, or with both; or a control plane in
which the fault injector stands in for a controller. General mutants (tests/mutation/general_mutants.py) are made from
the features and kill positive controls.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutation.aims import Aim, aims_of
from tests.mutation.faults import FAULTS, OPERATOR, Fault
from tests.mutation.injection.registry import Injection

_MUTATION = Path(__file__).resolve().parent
REFERENCE = "reference"
KUBE_SCHEDULER = "kube-scheduler"
CONTROLLERS = "kube-controller-manager"
_TAINT_EVICTION = "taint-eviction-controller"


@dataclass(frozen=True)
class Mutant:
    """A component with a fault; `kind` is the component that has it."""

    name: str
    description: str
    aims: tuple[Aim, ...]
    kind: str
    configuration: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    without_controllers: tuple[str, ...] = ()  # of kube-controller-manager
    controller_flags: tuple[str, ...] = ()  # of kube-controller-manager; they override those of the control plane
    beside: str = ""  # the scheduler that it runs with, where its kind does not say it
    injections: Mapping[str, Injection] = field(default_factory=dict)  # by scenario
    general: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(aim.id for aim in self.aims))

    @property
    def scheduler(self) -> str:
        """The scheduler to run with: other faulty components run beside the reference scheduler."""
        if self.kind != KUBE_SCHEDULER:
            return self.beside or REFERENCE
        return f"{self.kind}:{self.configuration}" if self.configuration else self.kind

    @property
    def needs_own_plane(self) -> bool:
        """Whether it cannot share a control plane with other mutants."""
        return self.kind in (KUBE_SCHEDULER, CONTROLLERS)


def _reference_mutant(fault: Fault) -> Mutant:
    kind, variable = (OPERATOR, "MUSTER_OPERATOR") if fault.part == OPERATOR else (REFERENCE, "MUSTER_REFERENCE")
    return Mutant(
        fault.name, fault.description, fault.aims, kind, environment={variable: f"tests.mutation.faults {fault.name}"}
    )


def _kube_scheduler_mutant(
    name: str, description: str, *aims: str | Aim, configuration: str = "", inject: str = ""
) -> Mutant:
    file = str(_MUTATION / "configurations" / configuration) if configuration else ""
    return Mutant(name, description, aims_of(*aims), KUBE_SCHEDULER, file, _injector(inject))


def _taint_eviction_mutant(name: str, description: str, *aims: str | Aim) -> Mutant:
    """The fault injector stands in for the taint eviction of kube-controller-manager, and has the fault."""
    return Mutant(
        name,
        description,
        aims_of(*aims),
        CONTROLLERS,
        environment=_injector(name),
        without_controllers=(_TAINT_EVICTION,),
    )


def _injector(mode: str) -> dict[str, str]:
    command = f"{sys.executable} {_MUTATION / 'fault_injector.py'} {mode}"
    return {"MUSTER_FAULT_INJECTOR": command} if mode else {}


MUTANTS = (
    *map(_reference_mutant, FAULTS.values()),
    _kube_scheduler_mutant(
        "no-preemption",
        "The plugin DefaultPreemption is disabled.",
        'DOC-1: job "pytorch-priority-critical" is Running',
        'PRE-01: "urgent" runs',
        'PRE-05: "urgent" runs',
        'PRE-11: "urgent" runs',
        'PRE-13: "urgent" runs',
        'PRE-23: "guardian" runs',
        'PRE-38: "urgent" runs',
        configuration="no-preemption.yaml",
    ),
    _kube_scheduler_mutant(
        "no-taints",
        "The plugins TaintToleration and NodeUnschedulable are disabled.",
        'DOC-4: "plain-master-0" is reported unschedulable',
        'TNT-01: "intolerant" is reported unschedulable',
        Aim("TNT-02", '"tolerant" runs on "tainted"', seen="intolerant was bound to tainted against its taint gpu"),
        'TNT-03: "other-value" stays pending',
        Aim("TNT-05", '"without-effect" runs on "tainted"', seen="one-effect was bound to tainted against its taint"),
        'TNT-07: "intolerant" stays pending',
        'TNT-12: "urgent" stays pending',
        'TNT-14: "new" stays pending',
        configuration="no-taints.yaml",
    ),
    _kube_scheduler_mutant(
        "no-pod-affinity",
        "The plugin InterPodAffinity is disabled.",
        'PRE-35: "urgent" stays pending',
        configuration="no-pod-affinity.yaml",
    ),
    _kube_scheduler_mutant(
        "no-topology-spread",
        "The plugin PodTopologySpread is disabled.",
        'PRE-36: "urgent" stays pending',
        configuration="no-topology-spread.yaml",
    ),
    _kube_scheduler_mutant(
        "binds-every-pod",
        "Every new pod is bound at once to the newest node, whatever its free resources and taints.",
        'PRE-24: "low", "high" stay pending',
        Aim("PRE-25", '"large" is reported unschedulable', seen="although it did not fit"),
        Aim("PRE-28", '"slow" was preempted for "urgent"', seen="although it did not fit"),
        'TNT-06: "first" runs on "preferred"',
        inject="binds-every-pod",
    ),
    _kube_scheduler_mutant(
        "evicts-all-lower-priority-pods",
        "When one pod is preempted, all lower-priority pods are evicted as well.",
        'PRE-04: "middle", "high" were not evicted',
        'PRE-06: every victim of "urgent" was necessary',
        'PRE-09: "oldest", "older" were not evicted',
        'PRE-10: "protected", "guarded" were not evicted',
        'PRE-17: "urgent" stays pending while exactly one of "first", "second" terminates',
        'PRE-29: exactly one of "east-half", "west-half" was preempted for "urgent"',
        inject="evicts-all-lower-priority-pods",
    ),
    _kube_scheduler_mutant(
        "evicts-for-every-pending-pod",
        "A running pod is evicted for every pending pod.",
        Aim("PRE-02", '"urgent" runs on "free"', seen="low was preempted at"),
        Aim("PRE-03", '"equal" stays pending', seen="was preempted while no pending pod had a higher priority"),
        Aim(
            "PRE-12", '"ordinary", "policy-never" stay pending', seen="was preempted while no pending pod had a higher"
        ),
        Aim("PRE-19", '"huge" stays pending', seen="was preempted while no pending pod had a higher priority"),
        "PRE-26: no pod was preempted",
        inject="evicts-for-every-pending-pod",
    ),
    _kube_scheduler_mutant(
        "evicts-without-condition",
        "A running pod is deleted for a pending one, without condition, event and nomination.",
        'PRE-14: "victim" has DisruptionTarget=PreemptionByScheduler before deletion',
        'PRE-15: a Preempted event on "victim" names "urgent" and the node',
        'PRE-16: "urgent" is nominated to the node of "victim" while "victim" terminates',
        'PRE-21: "victim" was preempted',
        'PRE-22: "urgent" is nominated to the node of "victim" while "victim" terminates',
        'PRE-27: "batch" was preempted for "urgent"',
        configuration="no-preemption.yaml",
        inject="evicts-without-condition",
    ),
    _kube_scheduler_mutant(
        "evicts-tolerating-pods",
        "A NoExecute taint evicts every pod at once, whatever it tolerates.",
        'TNT-04: "one", "two" were not evicted',
        'TNT-08: "tolerant" was not evicted',
        'TNT-09: "tolerant" is evicted from "tainted" by the taint after 3 s',
        'TNT-10: "tolerant" is evicted from "tainted" by the taint after 2 s',
        'TNT-11: "evicted-early" is evicted from "taint-removed" by the taint after 1 s',
        'TNT-15: "two-seconds" is evicted from "remote" by the taint after 2 s',
        inject="evicts-tolerating-pods",
    ),
    _taint_eviction_mutant(
        "taint-eviction-without-condition",
        "A pod that a taint evicts gets no DisruptionTarget condition.",
        'TNT-08: "intolerant" has DisruptionTarget=DeletionByTaintManager before deletion',
    ),
    _taint_eviction_mutant(
        "taint-eviction-without-event",
        "No event is recorded for a pod that a taint evicts.",
        'TNT-08: a "TaintManagerEviction" event on "intolerant"',
    ),
    _taint_eviction_mutant(
        "first-eviction-evicts-the-whole-node",
        "When a taint evicts one pod, it evicts all pods of the node, whatever they tolerate.",
        'TNT-08: "tolerant" was not evicted',
        'TNT-09: "steady" was not evicted',
        'TNT-15: "default-toleration" was not evicted',
    ),
    _taint_eviction_mutant(
        "toleration-seconds-mean-forever",
        "A pod that tolerates a taint for some seconds is never evicted.",
        'TNT-09: "tolerant" is evicted from "tainted" by the taint after 3 s',
        'TNT-11: "evicted-early" is evicted from "taint-removed" by the taint after 1 s',
        'TNT-15: "two-seconds" is evicted from "remote" by the taint after 2 s',
    ),
    _taint_eviction_mutant(
        "longest-toleration-applies",
        "Of several tolerations the longest tolerationSeconds applies.",
        'TNT-10: "tolerant" is evicted from "tainted" by the taint after 2 s',
    ),
    _taint_eviction_mutant(
        "removed-taints-evict",
        "An eviction is not cancelled when the taint is removed.",
        'TNT-11: a "TaintManagerEviction" event on "kept" contains "Cancelling deletion"',
    ),
    _taint_eviction_mutant(
        "cancelled-evictions-evict",
        "A cancelled eviction is reported as such, and the pod is evicted nevertheless.",
        'TNT-11: "kept" was not evicted',
    ),
    _taint_eviction_mutant(
        "one-removed-taint-cancels-all-evictions",
        "A taint that is removed from one node cancels the evictions of all nodes.",
        'TNT-11: "evicted" is evicted from "taint-kept" by the taint after 4 s',
    ),
    Mutant(
        "unreachable-nodes-are-not-tainted",
        "The node lifecycle controller does not look at the health of nodes.",
        aims_of('TNT-15: node "remote" has the taint'),
        CONTROLLERS,
        controller_flags=("--node-monitor-period=24h",),
    ),
)
