"""A gang with a member whose binding is always rejected: it is released once, and does not stay partially bound."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from scheduler.client import ADDED, DELETED, ApiError
from scheduler.core.actions import Bind
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from tests.support.scheduler_requests import RecordingClient, observe_node, observe_pod
from tests.support.scheduling_loop import SchedulingLoop
from tests.support.virtual_time import run_in_virtual_time

_MEMBERS = ("m-0", "m-1", "m-2", "m-3")


def loop_with_gang(min_member: int, status: int = 403) -> SchedulingLoop:
    loop = SchedulingLoop({"/m-3/binding": ApiError(status, "Rejected", "no")})
    loop.add_gang("m", min_member, members=len(_MEMBERS))
    return loop


@pytest.mark.parametrize("status", [403, 404, 409])
def test_the_other_members_are_released_once_and_the_gang_stays_pending(status: int) -> None:
    async def go() -> None:
        loop = loop_with_gang(min_member=4, status=status)
        await asyncio.sleep(600)
        assert loop.bound == []
        assert sorted(loop.deleted) == ["m-0", "m-1", "m-2"]
        attempts = len(loop.sent("/m-3/binding"))
        assert 20 < attempts < 40  # it is still tried, at the longest backoff
        assert [len(loop.sent(f"/{name}/binding")) for name in _MEMBERS[:3]] == [1, 1, 1]

        loop.errors.clear()
        await asyncio.sleep(60)
        assert loop.bound == list(_MEMBERS)
        assert len(loop.deleted) == 3

    run_in_virtual_time(go())


def test_nothing_is_remembered_of_pods_and_groups_that_are_gone() -> None:
    async def go() -> None:
        cache = Cache(lambda: None)
        api = RecordingClient(cache=cache, errors={"/binding": ApiError(404, "NotFound", "gone")})
        executor = Executor(api, EventRecorder(api), cache, Metrics())
        observe_node(cache, "n", cpu="8")
        observe_pod(cache, "p", cpu="1")
        executor.start(Bind(cache.cluster.pods["p"], "n"))
        cache.observe_pod(DELETED, cache.api_pods["p"])
        metadata = {"name": "g", "namespace": "ns", "uid": "g", "resourceVersion": "5"}
        group = {"metadata": metadata, "spec": {"minMember": 1}, "status": {"phase": "Inqueue"}}
        cache.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))
        observe_pod(cache, "bound-before", gang="g", node="n", cpu="1")
        for action in plan(cache.cluster, Policy()):
            executor.start(action)
        await executor.drain()
        assert (executor._failures, executor._gang_bindings) == ({}, {})

    run_in_virtual_time(go())


def test_a_gang_that_does_not_need_the_member_runs_without_it() -> None:
    async def go() -> None:
        loop = loop_with_gang(min_member=3)
        await asyncio.sleep(120)
        assert (loop.bound, loop.deleted) == (["m-0", "m-1", "m-2"], [])

    run_in_virtual_time(go())


def test_a_binding_that_is_rejected_twice_does_not_release_the_gang() -> None:
    async def go() -> None:
        loop = loop_with_gang(min_member=4)
        await asyncio.sleep(0.5)  # the second attempt comes after 0.4 s
        assert len(loop.sent("/m-3/binding")) == 2
        loop.errors.clear()
        await asyncio.sleep(60)
        assert (loop.bound, loop.deleted) == (list(_MEMBERS), [])

    run_in_virtual_time(go())
