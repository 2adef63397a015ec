"""Claims and volumes as the watch showed them last, with the fields that writes in flight will change.

As with pods (see `assumed_pods`): what is being written is assumed at once, the resourceVersion that the write returns
tells which events are older, and a failed write is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from scheduler.runtime.volume_types import Claim, Volume

K = TypeVar("K")
T = TypeVar("T", Claim, Volume)


@dataclass(slots=True, eq=False)
class Assumption(Generic[T]):
    """The fields that one write changes."""

    observed: T
    fields: dict[str, Any]
    version: int | None = None  # resourceVersion returned by the write; None while in flight

    @property
    def is_confirmed(self) -> bool:
        return self.version is not None and self.observed.version >= self.version


class AssumedObjects(Generic[K, T]):
    """Calls `changed` with the object before and after each change that matters; None where there is none."""

    def __init__(self, changed: Callable[[K, T | None, T | None], None]) -> None:
        self._objects: dict[K, T] = {}
        self._assumptions: dict[K, Assumption[T]] = {}
        self._changed: Callable[[K, T | None, T | None], None] = changed

    def get(self, key: K) -> T | None:
        return self._objects.get(key)

    def observe(self, key: K, found: T | None) -> None:
        """None: it was deleted."""
        assumption = self._assumptions.get(key)
        if found is None or (assumption is not None and assumption.observed.uid != found.uid):
            self._assumptions.pop(key, None)
        elif assumption is not None:
            assumption.observed = found
        self._publish(key, found)

    def assume(self, key: K, **fields: Any) -> Assumption[T]:
        """Of an object that is known."""
        before = self._assumptions.get(key)
        observed = before.observed if before is not None else self._objects[key]
        assumption = self._assumptions[key] = Assumption(observed, fields)
        self._publish(key, assumption.observed)
        return assumption

    def confirm(self, key: K, assumption: Assumption[T], version: int) -> None:
        if self._assumptions.get(key) is assumption:
            assumption.version = version
            self._publish(key, assumption.observed)

    def forget(self, key: K, assumption: Assumption[T]) -> None:
        """The write has failed; one that was confirmed stays."""
        if self._assumptions.get(key) is assumption and assumption.version is None:
            del self._assumptions[key]
            self._publish(key, assumption.observed)

    def _publish(self, key: K, found: T | None) -> None:
        assumption = self._assumptions.get(key)
        if assumption is not None and assumption.is_confirmed:
            del self._assumptions[key]
        elif assumption is not None and found is not None:
            found = replace(found, **assumption.fields)
        before = self._objects.get(key)
        if found is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = found
        if before != found:
            self._changed(key, before, found)


@dataclass(frozen=True, slots=True)
class VolumeReservation:
    """To be written: a volume that exists is reserved for the claim, and the controller binds both."""

    claim: Claim
    volume: Volume
    assumption: Assumption[Volume]


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """To be written: the node on which the provisioner of the claim's class makes a volume."""

    claim: Claim
    node: str
    assumption: Assumption[Claim]


VolumeChoice = VolumeReservation | NodeSelection
