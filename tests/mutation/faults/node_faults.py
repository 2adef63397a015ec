"""Faults about nodes: who may enter, who would rather not, and whether there is room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scheduler.core import nodes
from scheduler.core.model import Node, Pod, Shape, Taint, Toleration
from scheduler.core.nodes import Mask
from scheduler.core.room import Room
from scheduler.runtime import reading
from scheduler.runtime.objects import ApiNode, ApiPod
from tests.broken.faults import Patch, fault

_CORDON = "node.kubernetes.io/unschedulable"  # the node controller's word for the same
_tolerates = nodes._tolerates


@fault("DOC-4", "TNT-01", "TNT-02", "TNT-07")
def taints_are_ignored(patch: Patch) -> None:
    """Every pod may go to every node, whatever its taints say."""
    patch.function(nodes.tolerated, lambda *_: True)


@fault("TNT-03")
def values_are_ignored(patch: Patch) -> None:
    """A toleration of any value of a key tolerates them all."""

    def any_value(toleration: Toleration, taint: Taint) -> bool:
        return _tolerates(replace(toleration, value=taint.value), taint)

    patch.function(_tolerates, any_value)


@fault("TNT-05")
def effects_are_ignored(patch: Patch) -> None:
    """A toleration of one effect tolerates them all."""

    def any_effect(toleration: Toleration, taint: Taint) -> bool:
        return _tolerates(replace(toleration, effect=""), taint)

    patch.function(_tolerates, any_effect)


@fault("DOC-4", "TNT-04")
def all_means_nothing(patch: Patch) -> None:
    """A toleration without a key tolerates nothing."""

    def with_a_key(toleration: Toleration, taint: Taint) -> bool:
        return bool(toleration.key) and _tolerates(toleration, taint)

    patch.function(_tolerates, with_a_key)


@fault("TNT-06")
def preferences_are_ignored(patch: Patch) -> None:
    """A node that pods should rather not use is as good as any."""
    read = reading.read_node

    def without_preferences(found: ApiNode) -> Node:
        node = read(found)
        return replace(node, taints=tuple(taint for taint in node.taints if taint.effect != "PreferNoSchedule"))

    patch.function(read, without_preferences)


@fault("TNT-14")
def cordons_are_ignored(patch: Patch) -> None:
    """A node that is cordoned takes pods like others."""
    read = reading.read_node

    def uncordoned(found: ApiNode) -> Node:
        node = read(found)
        return replace(node, cordoned=False, taints=tuple(taint for taint in node.taints if taint.key != _CORDON))

    patch.function(read, uncordoned)


@fault("PRE-26")
def gates_are_ignored(patch: Patch) -> None:
    """A pod that is gated is looked at like any other."""
    read = reading.read_pod

    def opened(found: ApiPod) -> Pod:
        return replace(read(found), gated=False)

    patch.function(read, opened)


@fault("PRE-25", "PRE-29")
def room_is_summed_up(patch: Patch) -> None:
    """A pod fits on a node when there is enough free on all nodes together."""
    fitting = Room.fitting

    def together(room: Room, shape: Shape) -> Mask:
        columns = room.table.columns(shape)
        allowed = room.table.eligibility(shape).allowed
        if not columns or not allowed.any():
            return fitting(room, shape)
        enough = all(layer[column][allowed].sum() >= amount for layer in room.layers for column, amount in columns)
        return allowed & np.bool_(enough)

    patch.attribute(Room, "fitting", together)
