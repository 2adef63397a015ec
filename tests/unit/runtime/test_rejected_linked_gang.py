"""Linked gangs, of which a member's binding is always rejected: none of them starts."""

from __future__ import annotations

import asyncio
import json

from scheduler.client import ApiError
from tests.support.scheduling_loop import SchedulingLoop
from tests.support.virtual_time import run_in_virtual_time

_LINKED = {"gang.scheduling.koordinator.sh/groups": json.dumps(["ns/a", "ns/b"])}


def test_no_linked_gang_starts_while_one_cannot() -> None:
    async def go() -> None:
        loop = SchedulingLoop({"/b-1/binding": ApiError(403, "Forbidden", "no")})
        for name in "ab":
            loop.add_gang(name, min_member=2, members=2, **_LINKED)
        await asyncio.sleep(600)
        assert loop.bound == []
        assert loop.phases == {"Inqueue"}
        written = [one.body["status"]["phase"] for one in loop.requests if "/podgroups/" in one.path]
        assert "Running" not in written
        loop.errors.clear()
        await asyncio.sleep(60)
        assert loop.bound == ["a-0", "a-1", "b-0", "b-1"]
        assert loop.phases == {"Running"}

    run_in_virtual_time(go())
