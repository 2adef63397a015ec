"""Leader election by a Lease of coordination.k8s.io/v1, with client-go's rules.

A candidate takes the lease when it has observed no change of it for the lease's duration, measured with its own clock:
the times written in the lease are for readers only. The resourceVersion decides between candidates. The holder renews,
and writes for at most `renew_deadline` seconds from the beginning of its last successful renewal. That is less than the
duration, which the others count from a later moment: two never write at the same time.

Two things are stricter than in client-go. The deadline counts from the last renewal, not from the first failed one. And
a candidate waits no longer than `retry_period` between two looks, and wakes when the observed lease expires: so it
takes over within the duration and one `retry_period` of the last renewal.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from scheduler.client import ApiError, Client, Unreachable, WriteDeadline
from scheduler.client.write_deadline import seconds_since_boot

_API_VERSION = "coordination.k8s.io/v1"
_SHORTEST_WAIT = 1 / 2.2  # of the retry period: the spread of client-go's jitter, but only towards shorter
_SHORTEST_SLEEP = 0.001  # seconds: a shorter one may end at the same moment of the clock
_RELEASED_SECONDS = 1  # the duration of a released lease; 0 is not valid

_log = logging.getLogger(__name__)
Lease = dict[str, Any]


@dataclass(frozen=True)
class LeaderElection:
    """Settings, by the names of KubeSchedulerConfiguration; times in seconds."""

    resource_name: str
    resource_namespace: str = "kube-system"
    lease_duration: int = 15  # the API has whole seconds
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    @property
    def path(self) -> str:
        return f"/apis/{_API_VERSION}/namespaces/{self.resource_namespace}/leases"

    def new_write_deadline(self, clock: Callable[[], float] = seconds_since_boot) -> WriteDeadline:
        """A write that is sent at the deadline is carried out before the lease expires, or not at all."""
        return WriteDeadline(self.lease_duration - self.renew_deadline, clock)


class Elector:
    """One candidate. `acquire`, then `hold`; `release` at the end, also after a cancelled `acquire`."""

    def __init__(
        self,
        client: Client,
        settings: LeaderElection,
        identity: str,
        write_deadline: WriteDeadline,
        *,
        may_renew: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = seconds_since_boot,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._client, self._settings, self.identity, self._write_deadline = client, settings, identity, write_deadline
        self._may_renew, self._clock, self._draw = may_renew, clock, draw
        self._lease: Lease | None = None  # as last observed or written
        self._observed_at = 0.0
        self._is_current = False  # the lease is this process's own last write

    async def acquire(self) -> None:
        """Returns when this process holds the lease."""
        while True:
            try:
                if await self._attempt(may_take=True) and self._write_deadline.is_ahead:
                    return
            except (ApiError, Unreachable, TimeoutError) as error:
                _log.warning("the lease could not be acquired: %s", error)
            await asyncio.sleep(self._wait())

    async def hold(self) -> str:
        """Renew until the lease is lost; returns why."""
        period, error = self._settings.retry_period, ""
        while True:
            await asyncio.sleep(max(_SHORTEST_SLEEP, min(period, self._write_deadline.seconds_left)))
            if not self._write_deadline.is_ahead:
                return f"not renewed for {self._settings.renew_deadline:g} s{error}"
            if not self._may_renew():
                return "the event loop is stuck"
            try:
                async with asyncio.timeout(self._write_deadline.seconds_left):
                    if not await self._attempt(may_take=False):
                        return "it was deleted" if self._holder == self.identity else f"it was taken by {self._holder}"
            except (ApiError, Unreachable, TimeoutError) as failed:
                error = f": {str(failed) or 'no answer'}"
            else:
                error = ""

    async def release(self) -> None:
        """Let another take over at once. The write deadline passes first; nothing may be in flight any more."""
        self._write_deadline.expire()
        try:
            found = await self._read()
            if found is None or _spec(found).get("holderIdentity") != self.identity:
                return
            now, transitions = _now(), _spec(found).get("leaseTransitions") or 0
            spec = {"holderIdentity": "", "leaseDurationSeconds": _RELEASED_SECONDS, "leaseTransitions": transitions}
            await self._client.replace(self._own_path, found | {"spec": spec | {"renewTime": now, "acquireTime": now}})
            _log.info("the lease was released")
        except (ApiError, Unreachable) as error:
            _log.warning("the lease was not released and has to expire: %s", error)

    async def _attempt(self, *, may_take: bool) -> bool:
        """Acquire or renew once; whether this process holds the lease."""
        began, was_current = self._clock(), self._is_current
        if not was_current:
            found = await self._read()
            if found is not None:
                self._observe(found)
            if (self._holder != self.identity or found is None) and not may_take:
                return False
            if self._holder != self.identity and self._expires_in() > 0:
                return False  # a deleted lease counts as held, too: its holder may not have noticed yet
            if found is None:
                self._accept(await self._client.create(self._settings.path, self._new_lease()), began)
                return True
        assert self._lease is not None
        self._is_current = False  # until the answer says so
        try:
            written = await self._client.replace(self._own_path, self._lease | {"spec": self._next_spec()})
        except ApiError as error:
            if was_current and error.is_conflict:  # a lost answer, or another holder
                return await self._attempt(may_take=may_take)
            raise
        self._accept(written, began)
        return True

    async def _read(self) -> Lease | None:
        try:
            found: Lease = await self._client.get(self._own_path)
        except ApiError as error:
            if error.is_missing:
                return None
            raise
        return found

    def _observe(self, found: Lease) -> None:
        if self._lease is None or _spec(found) != _spec(self._lease):
            self._observed_at = self._clock()
        self._lease = found

    def _accept(self, written: Lease, began: float) -> None:
        self._lease, self._observed_at, self._is_current = written, began, True
        self._write_deadline.extend_to(began + self._settings.renew_deadline)

    @property
    def _holder(self) -> str:
        return _spec(self._lease or {}).get("holderIdentity") or ""

    def _expires_in(self) -> float:
        """Seconds; nothing to wait for where there is no holder."""
        if not self._holder:
            return 0.0
        duration = _spec(self._lease or {}).get("leaseDurationSeconds") or self._settings.lease_duration
        return float(self._observed_at + duration - self._clock())

    def _wait(self) -> float:
        wait = self._settings.retry_period * (_SHORTEST_WAIT + (1 - _SHORTEST_WAIT) * self._draw())
        expires_in = self._expires_in()
        return min(wait, max(expires_in, _SHORTEST_SLEEP)) if expires_in > 0 else wait

    def _next_spec(self) -> Lease:
        now, known = _now(), _spec(self._lease or {})
        own = self._holder == self.identity
        transitions = (known.get("leaseTransitions") or 0) + (0 if own else 1)
        acquired = known.get("acquireTime") if own else now
        return self._spec(now, acquired or now, transitions)

    def _spec(self, renewed: str, acquired: str, transitions: int) -> Lease:
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self._settings.lease_duration,
            "leaseTransitions": transitions,
            "acquireTime": acquired,
            "renewTime": renewed,
        }

    def _new_lease(self) -> Lease:
        settings, now = self._settings, _now()
        metadata = {"name": settings.resource_name, "namespace": settings.resource_namespace}
        return {"apiVersion": _API_VERSION, "kind": "Lease", "metadata": metadata, "spec": self._spec(now, now, 0)}

    @property
    def _own_path(self) -> str:
        return f"{self._settings.path}/{self._settings.resource_name}"


def _spec(lease: Lease) -> Lease:
    return lease.get("spec") or {}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
