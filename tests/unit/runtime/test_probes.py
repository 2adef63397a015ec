"""Probes and metrics answer from a thread of their own, and what they say."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from scheduler.runtime.background_loop import BackgroundLoop
from scheduler.runtime.leader_election import LeaderElection
from scheduler.runtime.replica import STUCK_SECONDS, Addresses, Heartbeat, Replica

LOOPBACK = Addresses("127.0.0.1:0", "127.0.0.1:0")


@dataclass
class State:
    ready: bool = True


def page(address: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=20) as answer:
            return answer.status, answer.read().decode().strip()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode().strip()


def while_serving(
    caplog: pytest.LogCaptureFixture,
    work: Callable[[Replica, State, dict[str, str]], None],
    election: LeaderElection | None = None,
) -> None:
    """Calls the work in the main loop, which is blocked meanwhile."""

    async def go() -> None:
        state = State()
        with BackgroundLoop() as background, caplog.at_level(logging.INFO):
            replica = Replica(background, election)
            async with replica.serving(LOOPBACK, ready=lambda: state.ready, numbers=lambda: "some_total 1\n"):
                work(replica, state, caplog.records[-1].fields)  # type: ignore[attr-defined]

    asyncio.run(go())


def test_they_answer_while_the_main_loop_is_blocked(caplog: pytest.LogCaptureFixture) -> None:
    def work(_: Replica, state: State, at: dict[str, str]) -> None:
        assert page(at["address"], "/healthz") == (200, "ok")
        assert page(at["address"], "/livez") == (200, "ok")
        assert page(at["address"], "/readyz") == (200, "ok")
        state.ready = False
        assert page(at["address"], "/readyz") == (503, "not all objects have been listed")
        assert page(at["metrics"], "/metrics") == (200, "some_total 1")

    while_serving(caplog, work)


def test_metrics_and_probes_are_not_on_the_same_address(caplog: pytest.LogCaptureFixture) -> None:
    def work(_: Replica, __: State, at: dict[str, str]) -> None:
        assert page(at["address"], "/metrics")[0] == 404
        assert page(at["metrics"], "/readyz")[0] == 404

    while_serving(caplog, work)


def test_a_loop_that_is_stuck_is_unhealthy_and_a_long_plan_is_not(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(replica: Replica, _: State, at: dict[str, str]) -> None:
        blocked_since = replica._heartbeat._last
        replica._heartbeat._clock = lambda: blocked_since + 40.0
        assert page(at["address"], "/healthz") == (200, "ok")
        replica._heartbeat._clock = lambda: blocked_since + STUCK_SECONDS
        assert page(at["address"], "/healthz") == (503, "the event loop has been blocked for 60 s")

    while_serving(caplog, work)


def test_the_heartbeat_follows_the_loop() -> None:
    async def go() -> None:
        moments = iter(range(1000))
        beating = Heartbeat(lambda: float(next(moments)))
        beating.start()
        first = beating._last
        while beating._last == first:
            await asyncio.sleep(0.05)

    asyncio.run(go())


def test_a_lease_that_ran_out_is_unhealthy_and_a_standby_is_not(caplog: pytest.LogCaptureFixture) -> None:
    def work(replica: Replica, _: State, at: dict[str, str]) -> None:
        assert replica.leadership is not None
        assert page(at["address"], "/healthz") == (200, "ok")  # a standby
        replica.leadership.elected.set()
        assert page(at["address"], "/healthz") == (503, "the lease could not be renewed")
        replica.leadership.write_deadline.extend_to(time.clock_gettime(time.CLOCK_BOOTTIME) + 60)
        assert page(at["address"], "/healthz") == (200, "ok")

    while_serving(caplog, work, LeaderElection("it"))


def test_the_background_loop_ends_with_its_block() -> None:
    with BackgroundLoop() as background:
        assert asyncio.run(background.call(asyncio.sleep(0, json.dumps("done")))) == '"done"'
    assert not any(thread.name == "background" for thread in threading.enumerate())
