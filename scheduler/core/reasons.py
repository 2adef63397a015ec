"""Why somebody waits, in the words that people know from kube-scheduler: how many nodes, and what each is short of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.core.draft import Draft
from scheduler.core.model import PODS, Pod, Shape, shown
from scheduler.core.nodes import Mask
from scheduler.core.room import Room


def shortage(shape: Shape, room: Room) -> str:
    """What keeps such a pod from every node, summed up."""
    table = room.table
    if not len(table):
        return "no nodes are available"
    who = table.eligibility(shape)
    tainted = who.tainted & ~who.cordoned
    unmatched = who.unmatched & ~who.tainted & ~who.cordoned
    parts = [
        (int(who.cordoned.sum()), "node(s) were unschedulable"),
        (int(tainted.sum()), "node(s) had untolerated taint(s)"),
        (int(unmatched.sum()), "node(s) didn't match Pod's node affinity/selector"),
    ]
    for resource, amount in shape.requests:
        if amount > 0:
            lacking = int((who.allowed & ~_enough(room, resource, amount)).sum())
            parts.append((lacking, "Too many pods" if resource == PODS else f"Insufficient {resource}"))
    told = ", ".join(f"{count} {what}" for count, what in parts if count)
    return f"0/{len(table)} nodes are available: {told or 'the rest is spoken for'}"


def gang_shortage(members: Sequence[Pod], draft: Draft) -> str:
    """How far the members come that must start together, and what the first that finds no place is short of."""
    room = Room(draft.table, *(layer.copy() for layer in draft.now.layers))
    for placed, pod in enumerate(members):
        if room.take_best(pod.shape) is None:
            told = shortage(pod.shape, room)
            return f"room for {placed} of the {len(members)} pods that start together; then {told}"
    return f"its {len(members)} pods do not fit together"


def over_share(members: Sequence[Pod], draft: Draft) -> str:
    """Which limit of which queue stands in the way; empty when none does."""
    over = draft.shares.excess(members, later=False)
    if over is None:
        return ""
    queue, resource = over
    asked = sum(dict(pod.requests).get(resource, 0) for pod in members if draft.cluster.queue_of(pod) == queue)
    used, limit = draft.shares.used(queue, resource), draft.shares.capability(queue)[resource]
    told = f"{shown(resource, used)} of {shown(resource, limit)} {resource}"
    return f"queue {queue} uses {told}, {shown(resource, asked)} more are asked for"


def _enough(room: Room, resource: str, amount: int) -> Mask:
    column = room.table.column.get(resource)
    if column is None:
        return np.zeros(len(room.table), np.bool_)
    enough: Mask = np.logical_and.reduce([layer[column] >= amount for layer in room.layers])
    return enough
