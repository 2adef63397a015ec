"""The volume cache: claims, volumes and storage classes, and which pods a change of one of them concerns.

A pod that mounts a claim is converted again when the claim changes, its volume, or, as long as the claim is unbound,
the free volumes of its class. That waits until the next scheduling cycle: one volume that is taken concerns all pods
whose claims could have used it, and a cycle may take many.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from scheduler.client import DELETED
from scheduler.core.scheduling_types import Key, Node
from scheduler.runtime.assumed_volumes import AssumedObjects, NodeSelection, VolumeChoice, VolumeReservation
from scheduler.runtime.volume_matching import ClassVolumes
from scheduler.runtime.volume_types import (
    ApiClaim,
    ApiStorageClass,
    ApiVolume,
    Claim,
    StorageClass,
    Volume,
    convert_claim,
    convert_storage_class,
    convert_volume,
)

_FIRST_BACKOFF, _LONGEST_BACKOFF = 1.0, 60.0  # seconds, after a provisioner has refused a node


class ProvisioningBackoff:
    """How long a claim waits after a provisioner has refused a node: then `expired` is called with the claim.

    A provisioner refuses by removing the selected node. It may be the best again, and both would write all the time.
    """

    def __init__(self, expired: Callable[[Key], None]) -> None:
        self._expired = expired
        self._refusals: dict[Key, int] = {}
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    def is_waiting(self, claim: Key) -> bool:
        return claim in self._timers

    def refused(self, claim: Key) -> None:
        self._cancel(claim)
        refusals = self._refusals[claim] = self._refusals.get(claim, 0) + 1
        delay = min(_FIRST_BACKOFF * 2 ** min(refusals - 1, 10), _LONGEST_BACKOFF)
        self._timers[claim] = asyncio.get_running_loop().call_later(delay, self._expire, claim)

    def forget(self, claim: Key) -> None:
        """The claim was bound or deleted."""
        self._cancel(claim)
        self._refusals.pop(claim, None)

    def _expire(self, claim: Key) -> None:
        del self._timers[claim]
        self._expired(claim)

    def _cancel(self, claim: Key) -> None:
        if timer := self._timers.pop(claim, None):
            timer.cancel()


class VolumeCache:
    """Calls `changed` when pods have to be converted again: `take_outdated` returns their uids."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.claims = AssumedObjects[Key, Claim](self._claim_changed)
        self.volumes = AssumedObjects[str, Volume](self._volume_changed)
        self.classes: dict[str, StorageClass] = {}
        self.backoff = ProvisioningBackoff(lambda claim: self._mark((claim,)))
        self._changed = changed
        self._outdated: set[str] = set()  # uids of pods
        self._outdated_classes: set[str] = set()  # what can be bound to their unbound claims has changed
        self._pods_of_claim: dict[Key, set[str]] = defaultdict(set)
        self._claims_of_pod: dict[str, frozenset[Key]] = {}
        self._claims_of_volume: dict[str, set[Key]] = defaultdict(set)
        self._unbound_of_class: dict[str, set[Key]] = defaultdict(set)
        self._free: dict[str, ClassVolumes] = defaultdict(ClassVolumes)  # by class
        self._reserved: dict[Key, str] = {}  # volumes by the claim that they are bound to or reserved for

    def observe_claim(self, change: str, found: ApiClaim) -> None:
        key, before = found.metadata.key, self.claims.get(found.metadata.key)
        self.claims.observe(key, None if change == DELETED else convert_claim(found))
        now = self.claims.get(key)
        if now is None or now.is_bound or (before is not None and before.uid != now.uid):
            self.backoff.forget(key)
        elif before is not None and before.selected_node and not now.selected_node:
            self.backoff.refused(key)

    def observe_volume(self, change: str, found: ApiVolume) -> None:
        self.volumes.observe(found.metadata.name, None if change == DELETED else convert_volume(found))

    def observe_class(self, change: str, found: ApiStorageClass) -> None:
        name, storage_class = found.metadata.name, convert_storage_class(found)
        if change == DELETED:
            self.classes.pop(name, None)
        elif self.classes.get(name) == storage_class:
            return
        else:
            self.classes[name] = storage_class
        self._mark_class(name)

    def set_claims(self, uid: str, claims: Iterable[Key]) -> None:
        """Which claims a pod mounts: none when it is gone."""
        before, now = self._claims_of_pod.get(uid, frozenset()), frozenset(claims)
        for claim in before - now:
            _discard(self._pods_of_claim, claim, uid)
        for claim in now - before:
            self._pods_of_claim[claim].add(uid)
        if now:
            self._claims_of_pod[uid] = now
        else:
            self._claims_of_pod.pop(uid, None)
            self._outdated.discard(uid)

    def take_outdated(self) -> list[str]:
        for name in self._outdated_classes:
            self._outdated |= self._pods_of(self._unbound_of_class.get(name, ()))
        outdated, self._outdated, self._outdated_classes = sorted(self._outdated), set(), set()
        return outdated

    def reserved_for(self, claim: Claim) -> Volume | None:
        """The volume that is meant for this unbound claim, if there is one."""
        volume = self.volumes.get(self._reserved.get(claim.key, ""))
        return volume if volume is not None and volume.is_for(claim) else None

    def free(self, storage_class: str) -> ClassVolumes:
        return self._free.get(storage_class) or ClassVolumes()

    def choose(self, claims: Sequence[Claim], node: Node) -> list[VolumeChoice]:
        """Choose and assume a volume for each of these unbound claims, or select the node for its provisioner.

        Empty if one of them can have neither: another pod was faster. What has changed is in the next snapshot.
        """
        matched: dict[Key, Volume] = {}
        for name in {claim.storage_class for claim in claims}:
            of_class = [claim for claim in claims if claim.storage_class == name]
            matched |= self.free(name).match(of_class, node)
        provisioned = [claim for claim in claims if claim.key not in matched]
        if any(claim.storage_class not in self.classes for claim in claims):
            return []
        if not all(self.classes[claim.storage_class].provisions_on(node) for claim in provisioned):
            return []
        chosen: list[VolumeChoice] = []
        for claim in claims:
            if volume := matched.get(claim.key):
                reserved = self.volumes.assume(volume.name, claim=(claim.key, claim.uid))
                chosen.append(VolumeReservation(claim, volume, reserved))
            else:
                chosen.append(NodeSelection(claim, node.name, self.claims.assume(claim.key, selected_node=node.name)))
        return chosen

    def confirm(self, choice: VolumeChoice, version: int) -> None:
        """The write was accepted, with this resourceVersion."""
        match choice:
            case VolumeReservation(_, volume, reserved):
                self.volumes.confirm(volume.name, reserved, version)
            case NodeSelection(claim, _, selected):
                self.claims.confirm(claim.key, selected, version)

    def forget(self, choices: Iterable[VolumeChoice]) -> None:
        """The writes have failed; those that were confirmed stay."""
        for choice in choices:
            match choice:
                case VolumeReservation(_, volume, reserved):
                    self.volumes.forget(volume.name, reserved)
                case NodeSelection(claim, _, selected):
                    self.claims.forget(claim.key, selected)

    def _claim_changed(self, key: Key, before: Claim | None, now: Claim | None) -> None:
        if before is not None:
            _discard(self._claims_of_volume, before.volume, key)
            _discard(self._unbound_of_class, before.storage_class, key)
        if now is not None and now.volume:
            self._claims_of_volume[now.volume].add(key)
        elif now is not None:
            self._unbound_of_class[now.storage_class].add(key)
        self._mark((key,))

    def _volume_changed(self, name: str, before: Volume | None, now: Volume | None) -> None:
        claims = set(self._claims_of_volume.get(name, ()))
        classes: set[str] = set()
        for volume in (before, now):
            if volume is not None and volume.claim is not None:
                claims.add(volume.claim[0])
        if before is not None:
            if before.claim is not None and self._reserved.get(before.claim[0]) == name:
                del self._reserved[before.claim[0]]
            if _is_free(before):
                classes.add(before.storage_class)
                self._free[before.storage_class].remove(before)
        if now is not None:
            if now.claim is not None:
                self._reserved[now.claim[0]] = name
            if _is_free(now):
                classes.add(now.storage_class)
                self._free[now.storage_class].add(now)
        for storage_class in classes:
            self._mark_class(storage_class)
            if not self._free[storage_class]:
                del self._free[storage_class]
        self._mark(claims)

    def _mark_class(self, name: str) -> None:
        """Thousands of volumes may change before the next cycle: which pods that concerns is found out then."""
        unbound = self._unbound_of_class.get(name, ())
        if name not in self._outdated_classes and any(claim in self._pods_of_claim for claim in unbound):
            self._outdated_classes.add(name)
            self._changed()

    def _mark(self, claims: Iterable[Key]) -> None:
        if pods := self._pods_of(claims):
            self._outdated |= pods
            self._changed()

    def _pods_of(self, claims: Iterable[Key]) -> set[str]:
        return {uid for claim in claims for uid in self._pods_of_claim.get(claim, ())}


def _is_free(volume: Volume) -> bool:
    return volume.claim is None and volume.is_available and not volume.is_terminating


def _discard(index: dict[Key, set[str]] | dict[str, set[Key]], key: object, item: object) -> None:
    found = index.get(key)  # type: ignore[call-overload]
    if found is not None:
        found.discard(item)
        if not found:
            del index[key]  # type: ignore[arg-type]
