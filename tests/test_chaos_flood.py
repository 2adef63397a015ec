"""What pods are told while a gang arrives: a few words each, not one for every member that comes."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from scheduler.client import Client
from scheduler.core.actions import Report
from scheduler.core.model import Pod, Shape
from scheduler.runtime import effects
from scheduler.runtime.effects import Effects
from scheduler.runtime.events import Events
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.world import World


class Listener:
    """Takes the place of the API server's ear: it notes what would be sent."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def request(
        self, _method: str, _path: str, body: dict[str, dict[str, list[dict[str, str]]]], **_: str
    ) -> bytes:
        self.heard.append(body["status"]["conditions"][0]["message"])
        return b"{}"


def test_a_word_that_keeps_changing_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects, "_FIRST_SILENCE", 0.5)  # a stall that is longer would end it
    heard = asyncio.run(_tell([f"{number} of 200 pods exist" for number in range(200)]))
    assert heard[0] == "0 of 200 pods exist"
    assert heard[-1] == "199 of 200 pods exist"
    assert len(heard) < 20


async def _tell(words: list[str]) -> list[str]:
    listener = Listener()
    client = cast(Client, listener)
    told = Effects(client, Events(client), World(lambda: None), Metrics())
    pod = Pod(("ns", "pod"), "uid", Shape((("pods", 1),)), 0.0, scheduler="muster-scheduler")
    for word in words:
        told.start(Report(pod, word))
        await asyncio.sleep(0.001)
    while listener.heard[-1:] != words[-1:]:
        await asyncio.sleep(0.01)
    return listener.heard
