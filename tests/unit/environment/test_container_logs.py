"""The logs of containers on real nodes, and the GPUs that their first lines name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from muster.environment.container_logs import ContainerLogs
from muster.errors import HarnessError
from tests.support.history_builder import HistoryBuilder


class Stream:
    """What an API server sends of a log, in parts."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield from self._parts

    def close(self) -> None:
        return


class Logs:
    """An API with one log, or with an error."""

    def __init__(self, *parts: bytes) -> None:
        self.parts = parts
        self.asked: list[str] = []

    def stream(self, path: str, query: dict[str, str], *, idle: float) -> Stream:
        self.asked.append(path)
        if not self.parts:
            raise HarnessError("container is waiting to start")
        return Stream(*self.parts)


def follow(api: Any) -> tuple[ContainerLogs, HistoryBuilder]:
    builder = HistoryBuilder().node("w", 2).running_pod("p", "w", 2).pod("pending", 1)
    logs = ContainerLogs(api)
    with builder.history.changed:
        logs.follow(builder.history, builder.history.pods)
    for thread in threading.enumerate():
        if thread.name == "log-p":
            thread.join()
    return logs, builder


def test_the_first_line_names_the_gpus_even_if_it_comes_in_parts() -> None:
    api = Logs(b"sleep 30 on p, GP", b"Us: gpu-1,gpu-3\nstep 1\nGPUs: gpu-9\n")
    logs, builder = follow(api)
    (pod, _) = builder.history.pods
    assert builder.history.gpu_ids == {pod.uid: ("gpu-1", "gpu-3")}
    assert logs.text().startswith("p on w:\nsleep 30 on p, GPUs: gpu-1,gpu-3\nstep 1")
    assert len(api.asked) == 1


def test_a_container_without_gpus_has_none() -> None:
    _, builder = follow(Logs(b"sleep 30 on p, GPUs: \n"))
    assert list(builder.history.gpu_ids.values()) == [()]


def test_a_container_that_had_not_started_is_asked_again() -> None:
    api = Logs()
    logs, builder = follow(api)
    assert logs.text() == ""
    api.parts = (b"late, GPUs: gpu-0\n",)
    with builder.history.changed:
        logs.follow(builder.history, builder.history.pods)
    for thread in threading.enumerate():
        if thread.name == "log-p":
            thread.join()
    assert len(api.asked) == 2
    assert "late" in logs.text()
