"""While gangs wait for their turn to be searched for, one cycle follows the other, without any change."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from aiohttp import web

from scheduler.client import Client
from scheduler.core.actions import Action
from scheduler.core.cluster_state import ClusterState
from scheduler.core.policy import Policy
from scheduler.core.search_turns import SearchTurns
from scheduler.runtime.scheduler import Scheduler
from tests.unit.runtime.test_client import listed, served, streamed


async def _nothing(request: web.Request) -> web.StreamResponse:
    return await (streamed(forever=True) if "watch" in request.query else listed(10))(request)


def test_cycles_follow_each_other_until_the_round_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [False, True, True, True]
    cycles: list[SearchTurns] = []
    complete = asyncio.Event()

    def decisions(_: ClusterState, __: Policy, turns: SearchTurns) -> list[Sequence[Action]]:
        cycles.append(turns)
        turns.is_incomplete = left.pop() if left else False
        if not turns.is_incomplete:
            complete.set()
        return []

    async def go() -> None:
        stop = asyncio.Event()
        async with served(_nothing) as client, Client(client._access) as events, asyncio.timeout(20):
            scheduler = Scheduler(client, events, Policy())
            running = asyncio.create_task(scheduler.run(stop))
            while not scheduler.ready:
                await asyncio.sleep(0.01)
            scheduler._on_change()
            await complete.wait()
            assert len(set(map(id, cycles))) == 1
            assert not left
            stop.set()
            await running

    monkeypatch.setattr("scheduler.runtime.scheduler.decisions", decisions)
    asyncio.run(go())
