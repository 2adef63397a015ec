"""scheduleTimeoutSeconds: how long a gang may keep capacity reserved before all of it can start.

In Koordinator and scheduler-plugins members that have a node wait for the rest of the gang; those that wait longer are
rejected, and others may use their nodes. Here a gang reserves nothing until all of it fits, with one exception: a
nominated gang, while the pods on its nodes terminate. If that takes longer, its nominations are withdrawn, and for as
long again it neither reserves nor preempts. It starts at any time where it fits.

Times are those of this process: a restart begins to count again.
"""

from __future__ import annotations

import asyncio

from scheduler.core.scheduling_types import Group, Key
from scheduler.core.scheduling_units import has_started
from scheduler.runtime.cache import Cache
from scheduler.runtime.podgroups_and_queues import KOORDINATOR, InvalidField, schedule_timeout


class ScheduleTimeouts:
    """Marks groups as timed out, and ends that again; call `update` before each scheduling cycle."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._nominated: dict[Key, asyncio.TimerHandle] = {}  # until the time is up
        self._timed_out: dict[Key, asyncio.TimerHandle] = {}  # until it may reserve again

    def update(self) -> None:
        """Look at the gangs that have changed since the last cycle."""
        for key in self._cache.cluster.changed_groups:
            group = self._cache.cluster.groups.get(key)
            if group is None and (timer := self._timed_out.pop(key, None)):
                timer.cancel()
            if group is None or not self._is_nominated(group):
                if timer := self._nominated.pop(key, None):
                    timer.cancel()
            elif key not in self._nominated and (seconds := self._timeout(group)):
                self._nominated[key] = asyncio.get_running_loop().call_later(seconds, self._time_out, key, seconds)

    def _is_nominated(self, group: Group) -> bool:
        members = self._cache.cluster.members(group.key)
        return any(pod.nominated and not pod.node for pod in members) and not has_started(group, self._cache.cluster)

    def _timeout(self, group: Group) -> int:
        found = self._cache.podgroups.api_object(group)
        try:
            return schedule_timeout(found) if found is not None and group.kind == KOORDINATOR else 0
        except InvalidField:  # reported on the group
            return 0

    def _time_out(self, key: Key, seconds: int) -> None:
        del self._nominated[key]
        self._timed_out[key] = asyncio.get_running_loop().call_later(seconds, self._allow_again, key)
        self._cache.podgroups.set_timed_out(key, True)

    def _allow_again(self, key: Key) -> None:
        del self._timed_out[key]
        self._cache.podgroups.set_timed_out(key, False)
