"""Node faults: taints, cordons, scheduling gates, and free resources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from scheduler.core import node_table
from scheduler.core.capacity import Capacity
from scheduler.core.node_table import Mask
from scheduler.core.scheduling_types import Node, Pod, PodRequirements, Taint, Toleration
from scheduler.runtime import convert
from scheduler.runtime.api_types import ApiNode, ApiPod
from tests.mutation.aims import Aim
from tests.mutation.faults.registry import Patch, fault

_CORDON = "node.kubernetes.io/unschedulable"  # the node controller adds it to cordoned nodes
_tolerates = node_table._tolerates


@fault(
    'DOC-4: "plain-master-0" is reported unschedulable, and the condition contains',
    'TNT-01: "intolerant" is reported unschedulable, and the condition contains',
    Aim("TNT-02", '"tolerant" runs on "tainted"', seen="intolerant was bound to tainted against its taint gpu"),
    'TNT-07: "intolerant" stays pending',
)
def taints_are_ignored(patch: Patch) -> None:
    """Taints are ignored."""
    patch.function(node_table.tolerated, lambda *_: True)


@fault(
    'TNT-01: "intolerant" is reported unschedulable',
    Aim("TNT-02", '"tolerant" runs on "tainted"', seen="intolerant was bound to tainted against its taint gpu"),
    'TNT-03: "other-value" stays pending',
)
def no_schedule_is_ignored(patch: Patch) -> None:
    """Taints with the effect NoSchedule are ignored."""
    _ignore_effect(patch, "NoSchedule")


@fault('TNT-07: "intolerant" stays pending')
def no_execute_is_ignored(patch: Patch) -> None:
    """Taints with the effect NoExecute do not prevent scheduling."""
    _ignore_effect(patch, "NoExecute")


@fault(
    'TNT-02: "tolerant" runs on "tainted"',
    'TNT-03: "tolerant" runs on "tainted"',
    'TNT-07: "tolerant" runs on "tainted"',
)
def equal_matches_nothing(patch: Patch) -> None:
    """A toleration with operator Equal matches no taint; only Exists does."""

    def exists_only(toleration: Toleration, taint: Taint) -> bool:
        return toleration.operator == "Exists" and _tolerates(toleration, taint)

    patch.function(_tolerates, exists_only)


@fault('TNT-03: "other-value" stays pending')
def toleration_values_are_ignored(patch: Patch) -> None:
    """A toleration matches every value of its key."""

    def any_value(toleration: Toleration, taint: Taint) -> bool:
        return _tolerates(replace(toleration, value=taint.value), taint)

    patch.function(_tolerates, any_value)


@fault(
    Aim("TNT-05", '"without-effect" runs on "tainted"', seen="one-effect was bound to tainted against its taint gpu")
)
def toleration_effects_are_ignored(patch: Patch) -> None:
    """A toleration matches every effect."""

    def any_effect(toleration: Toleration, taint: Taint) -> bool:
        return _tolerates(replace(toleration, effect=""), taint)

    patch.function(_tolerates, any_effect)


@fault('DOC-4: job "pytorch-toleration-all" is Running', 'TNT-04: "one", "two" run on two different nodes')
def exists_without_key_is_ignored(patch: Patch) -> None:
    """A toleration without a key matches no taint."""

    def with_a_key(toleration: Toleration, taint: Taint) -> bool:
        return bool(toleration.key) and _tolerates(toleration, taint)

    patch.function(_tolerates, with_a_key)


@fault('TNT-06: "first" runs on "preferred"')
def prefer_no_schedule_is_ignored(patch: Patch) -> None:
    """PreferNoSchedule taints are ignored."""
    read = convert.convert_node

    def without_preferences(found: ApiNode) -> Node:
        node = read(found)
        return replace(node, taints=tuple(taint for taint in node.taints if taint.effect != "PreferNoSchedule"))

    patch.function(read, without_preferences)


@fault('TNT-14: "new" stays pending')
def cordons_are_ignored(patch: Patch) -> None:
    """Cordoned nodes accept pods."""
    read = convert.convert_node

    def uncordoned(found: ApiNode) -> Node:
        node = read(found)
        return replace(node, cordoned=False, taints=tuple(taint for taint in node.taints if taint.key != _CORDON))

    patch.function(read, uncordoned)


@fault("PRE-26: no pod was preempted")
def scheduling_gates_are_ignored(patch: Patch) -> None:
    """Pods with scheduling gates are scheduled."""
    read = convert.convert_pod

    def ungated(found: ApiPod) -> Pod:
        return replace(read(found), gated=False)

    patch.function(read, ungated)


@fault('PRE-25: "large" is reported unschedulable, and the condition contains', 'PRE-29: "patient" stays pending')
def free_resources_are_summed(patch: Patch) -> None:
    """A pod fits when the free resources of all nodes together are enough."""
    fitting = Capacity.fitting

    def together(capacity: Capacity, requirements: PodRequirements) -> Mask:
        columns = capacity.table.columns(requirements)
        allowed = capacity.table.eligibility(requirements).allowed
        if not columns or not allowed.any():
            return fitting(capacity, requirements)
        enough = all(layer[column][allowed].sum() >= amount for layer in capacity.layers for column, amount in columns)
        return allowed & np.bool_(enough)

    patch.attribute(Capacity, "fitting", together)


def _ignore_effect(patch: Patch, effect: str) -> None:
    tolerated = node_table.tolerated

    def or_ignored(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
        return taint.effect == effect or tolerated(taint, tolerations)

    patch.function(tolerated, or_ignored)
