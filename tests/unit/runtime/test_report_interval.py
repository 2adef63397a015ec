"""Status writes while a gang is created: a few per pod, not one for every new member."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from scheduler.client import Client
from scheduler.core.actions import Report
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.runtime import executor
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics


class RecordingClient:
    """Records the condition messages that would be written."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    async def request(
        self, _method: str, _path: str, body: dict[str, dict[str, list[dict[str, str]]]], **_: str
    ) -> bytes:
        self.messages.append(body["status"]["conditions"][0]["message"])
        return b"{}"


def test_a_reason_that_keeps_changing_is_written_at_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "_FIRST_REPORT_INTERVAL", 0.5)  # longer than a usual stall of the machine
    messages = asyncio.run(_report([f"{number} of 200 pods exist" for number in range(200)]))
    assert messages[0] == "0 of 200 pods exist"
    assert messages[-1] == "199 of 200 pods exist"
    assert len(messages) < 20


async def _report(reasons: list[str]) -> list[str]:
    client_double = RecordingClient()
    client = cast(Client, client_double)
    executor_under_test = Executor(client, EventRecorder(client), Cache(lambda: None), Metrics())
    pod = Pod(("ns", "pod"), "uid", PodRequirements((("pods", 1),)), 0.0, scheduler="muster-scheduler")
    for reason in reasons:
        executor_under_test.start(Report(pod, reason))
        await asyncio.sleep(0.001)
    while client_double.messages[-1:] != reasons[-1:]:
        await asyncio.sleep(0.01)
    return client_double.messages
