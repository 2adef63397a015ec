"""Leader election in virtual time: one holder whatever happens, and take-over in time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest

from scheduler.runtime.leader_election import LeaderElection
from tests.support.lease_api import ANSWER_LOST, CONFLICT, NOT_SENT, UNAVAILABLE, Candidate, LeaseApi, LeaseClient
from tests.support.virtual_time import run_in_virtual_time

SETTINGS = LeaderElection("it")  # 15 s, 10 s, 2 s
LATENCY = 0.01
_FAULTS = (NOT_SENT, ANSWER_LOST, UNAVAILABLE, CONFLICT)


def now() -> float:
    return asyncio.get_running_loop().time()


def candidate(name: str, api: LeaseApi, **options: Any) -> Candidate:
    return Candidate(name, SETTINGS, LeaseClient(api), **options)


async def leads(one: Candidate, within: float = 1000.0) -> float:
    """The moment from which it may write."""
    deadline = now() + within
    while not one.write_deadline.is_ahead:
        assert now() < deadline, f"{one.name} did not become the leader within {within} s"
        await asyncio.sleep(0.01)
    return now()


async def together(*work: Coroutine[Any, Any, Any]) -> list[asyncio.Task[Any]]:
    tasks = [asyncio.create_task(one) for one in work]
    await asyncio.sleep(0)
    return tasks


async def ended(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def test_the_lease_tells_who_holds_it_and_is_renewed() -> None:
    async def go() -> list[dict[str, Any]]:
        specs: list[dict[str, Any]] = []
        api = LeaseApi(written=specs.append)
        tasks = await together(candidate("a", api).run())
        await asyncio.sleep(9)
        await ended(tasks)
        return specs

    specs = run_in_virtual_time(go())
    assert len(specs) == 5  # created, and renewed every 2 s
    assert {spec["holderIdentity"] for spec in specs} == {"a"}
    assert {(spec["leaseDurationSeconds"], spec["leaseTransitions"]) for spec in specs} == {(15, 0)}
    assert len({spec["acquireTime"] for spec in specs}) == 1


@pytest.mark.parametrize("killed_after", [0.0, 0.7, 1.99])
@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
def test_a_killed_leader_is_replaced_within_the_duration_and_one_retry_period(
    killed_after: float, jitter: float
) -> None:
    async def go() -> None:
        renewed: list[float] = []
        api = LeaseApi(written=lambda _: renewed.append(now()))
        first, second = candidate("first", api), candidate("second", api, draw=lambda: jitter, offset=-500.0)
        tasks = await together(first.run())
        await leads(first)
        tasks += await together(second.run())
        await asyncio.sleep(30 + killed_after)
        await ended(tasks[:1])
        killed, last = now(), renewed[-1]
        taken_over = await leads(second)
        assert taken_over - killed <= SETTINGS.lease_duration + SETTINGS.retry_period + 4 * LATENCY
        assert taken_over - last >= SETTINGS.lease_duration
        assert api.lease is not None
        assert api.lease["spec"]["leaseTransitions"] == 1
        await ended(tasks)

    run_in_virtual_time(go())


def test_a_released_lease_is_taken_within_one_retry_period() -> None:
    async def go() -> None:
        specs: list[dict[str, Any]] = []
        api = LeaseApi(written=specs.append)
        first, second = candidate("first", api), candidate("second", api)
        tasks = await together(first.run())
        await leads(first)
        tasks += await together(second.run())
        await asyncio.sleep(7)
        await ended(tasks[:1])
        await first.elector.release()
        assert not first.write_deadline.is_ahead
        assert (specs[-1]["holderIdentity"], specs[-1]["leaseDurationSeconds"]) == ("", 1)
        released = now()
        assert await leads(second) - released <= SETTINGS.retry_period + 4 * LATENCY
        await first.elector.release()  # it is not the holder any more
        assert specs[-1]["holderIdentity"] == "second"
        await ended(tasks)

    run_in_virtual_time(go())


def test_only_the_holder_releases() -> None:
    async def go() -> None:
        api = LeaseApi()
        tasks = await together(candidate("holder", api).run())
        await asyncio.sleep(1)
        await candidate("other", api).elector.release()
        assert api.lease is not None
        assert api.lease["spec"]["holderIdentity"] == "holder"
        await ended(tasks)

    run_in_virtual_time(go())


def test_a_leader_that_cannot_renew_writes_nothing_after_the_deadline() -> None:
    async def go() -> None:
        faults: list[str] = []
        api = LeaseApi()
        one = Candidate("a", SETTINGS, LeaseClient(api, lambda: (LATENCY, faults[0] if faults else "")))
        tasks = await together(one.run())
        began = await leads(one)
        await asyncio.sleep(4.5)
        faults.append(UNAVAILABLE)
        await asyncio.sleep(began + 4 + SETTINGS.renew_deadline - now() - 0.1)
        assert one.write_deadline.is_ahead
        await asyncio.sleep(0.3)
        assert not one.write_deadline.is_ahead
        await asyncio.gather(*tasks)
        assert one.lost == "not renewed for 10 s: 503 ServiceUnavailable: "

    run_in_virtual_time(go())


def test_a_lost_answer_does_not_lose_the_lease() -> None:
    async def go() -> None:
        faults = ["", "", "", ANSWER_LOST]  # of the requests to come
        api = LeaseApi()
        one = Candidate("a", SETTINGS, LeaseClient(api, lambda: (LATENCY, faults.pop(0) if faults else "")))
        tasks = await together(one.run())
        await asyncio.sleep(60)
        assert one.write_deadline.is_ahead
        assert api.lease is not None
        assert api.lease["spec"]["leaseTransitions"] == 0
        await ended(tasks)

    run_in_virtual_time(go())


def test_a_leader_that_was_stopped_writes_nothing_when_it_resumes() -> None:
    async def go() -> None:
        api = LeaseApi()
        first, second = candidate("first", api), candidate("second", api)
        tasks = await together(first.run())
        await leads(first)
        tasks += await together(second.run())
        await asyncio.sleep(5)
        pause = asyncio.create_task(first.client.pause(40))
        await leads(second)
        assert not first.write_deadline.is_ahead
        await pause
        assert not first.write_deadline.is_ahead
        await tasks[0]
        assert first.lost.startswith("not renewed for 10 s")
        assert second.write_deadline.is_ahead
        await ended(tasks)

    run_in_virtual_time(go())


def test_a_stuck_process_gives_up_the_lease() -> None:
    async def go() -> None:
        api, stuck = LeaseApi(), [False]
        one = candidate("a", api)
        one.elector._may_renew = lambda: not stuck[0]
        tasks = await together(one.run())
        await asyncio.sleep(5)
        stuck[0] = True
        await asyncio.gather(*tasks)
        assert one.lost == "the event loop is stuck"

    run_in_virtual_time(go())


def test_a_deleted_lease_counts_as_held_by_those_who_have_seen_it() -> None:
    async def go() -> None:
        api = LeaseApi()
        first, second = candidate("first", api), candidate("second", api)
        tasks = await together(first.run())
        await leads(first)
        tasks += await together(second.run())
        await asyncio.sleep(5)
        api.lease = None
        assert await leads(second) > now() - 1
        assert not first.write_deadline.is_ahead
        assert first.lost == "it was deleted"
        await ended(tasks)

    run_in_virtual_time(go())


@pytest.mark.parametrize("seed", range(20))
def test_there_are_never_two_leaders(seed: int) -> None:
    """Three candidates with slow requests, errors, lost answers, pauses and clocks that differ."""

    async def go() -> int:
        rng, terms, holders = random.Random(seed), 0, [""]
        running: dict[str, tuple[Candidate, asyncio.Task[None]]] = {}
        deadlines: dict[str, float] = {}  # until when a write of a holder may come into effect

        def written(spec: dict[str, Any]) -> None:
            nonlocal terms
            holder = spec["holderIdentity"]
            if holder != holders[0]:
                terms += 1
                until = max([moment for name, moment in deadlines.items() if name != holder], default=0.0)
                assert until <= now() + 1e-6, f"{holder} took over {until - now()} s too early"
            holders[0] = holder

        def fault() -> tuple[float, str]:
            wrong = rng.choice(_FAULTS) if rng.random() < 0.2 else ""
            return rng.choice((0.01, 0.01, 0.5, 4.0)), wrong

        api = LeaseApi(written=written)
        for number in range(1500):  # 200 ms each
            for slot in ("a", "b", "c"):
                if slot not in running or running[slot][1].done():
                    name = f"{slot}-{number}"
                    one = Candidate(name, SETTINGS, LeaseClient(api, fault), rng.uniform(-1e4, 1e4), rng.random)
                    running[slot] = one, asyncio.create_task(one.run())
            open_now = [one for one, _ in running.values() if one.write_deadline.is_ahead]
            assert len(open_now) <= 1
            for one in open_now:
                deadlines[one.name] = now() + one.write_deadline.seconds_left + one.write_deadline.write_seconds
            if rng.random() < 0.04:
                paused = rng.choice(list(running.values()))[0]
                pauses.append(asyncio.create_task(paused.client.pause(rng.uniform(1, 40))))
            if rng.random() < 0.01:
                slot = rng.choice(list(running))
                await ended([running.pop(slot)[1]])
            await asyncio.sleep(0.2)
        await ended([*(task for _, task in running.values()), *pauses])
        return terms

    pauses: list[asyncio.Task[None]] = []
    assert run_in_virtual_time(go()) > 3
