"""The GPU map of a running scenario: its content, when it is sent, how a terminal shows it."""

import io
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from muster import progress
from muster.report.gpu_maps import GpuMapSender, gpu_map
from muster.runner.live_view import LiveView
from tests.support.history_builder import HistoryBuilder
from tests.support.timeline_histories import GangHistoryBuilder, crowd, gangs


def test_a_letter_per_job_small_when_terminating_and_a_dot_per_free_gpu() -> None:
    builder = GangHistoryBuilder()
    builder.node("gpu-1", 4).node("gpu-2", 2).node("master", 0)
    builder.running_pod("left", "gpu-1", 2).running_pod("right", "gpu-1", 1).pod("urgent", 2, 100)
    assert gpu_map(builder.history) == ([("gpu-1", "AAB."), ("gpu-2", "..")], 1)
    builder.preempt("left", "urgent")
    assert gpu_map(builder.history) == ([("gpu-1", "aaB."), ("gpu-2", "..")], 1)
    builder.gone("left").run("urgent", "gpu-1")
    assert gpu_map(builder.history) == ([("gpu-1", "BCC."), ("gpu-2", "..")], 0)


def test_a_gang_has_one_letter() -> None:
    history, _ = gangs()
    assert gpu_map(history) == ([("gpu-1", "BBB."), ("gpu-2", "BBB.")], 4)


def test_without_gpus_a_letter_is_a_pod() -> None:
    builder = (
        HistoryBuilder().node("one").node("two").running_pod("a", "one").running_pod("b", "one").running_pod("c", "two")
    )
    assert gpu_map(builder.history) == ([("one", "AB"), ("two", "C")], 0)


def test_many_nodes_are_counted_and_so_are_many_gpus() -> None:
    history, _ = crowd(100)
    ((name, counted),), pending = gpu_map(history)
    assert (name, pending) == ("100 nodes", 0)
    assert counted.endswith("/800 GPUs")
    builder = HistoryBuilder().node("dgx", 64).running_pod("a", "dgx", 40)
    assert gpu_map(builder.history) == ([("dgx", "40/64")], 0)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    listening, address = progress.listener()
    listening.settimeout(30)
    monkeypatch.setenv(progress.ENVIRONMENT_VARIABLE, address)
    yield listening
    listening.close()


def test_it_is_sent_when_it_has_changed_until_stopped(receiver: socket.socket) -> None:
    builder = HistoryBuilder().node("gpu-1", 2)
    sender = GpuMapSender(builder.history)
    first = json.loads(receiver.recv(65536))
    assert (first["event"], first["nodes"], first["pending"]) == ("map", [["gpu-1", ".."]], 0)
    builder.running_pod("left", "gpu-1", 1)
    while json.loads(receiver.recv(65536))["nodes"] != [["gpu-1", "A."]]:  # an intermediate map may come first
        pass
    sender.stop()
    for thread in threading.enumerate():
        if thread.name == "gpu-map":
            thread.join(30)
            assert not thread.is_alive()


def test_without_a_receiver_no_thread_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.ENVIRONMENT_VARIABLE, raising=False)
    GpuMapSender(HistoryBuilder().history).stop()
    assert "gpu-map" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_shows_it_below_its_scenario(tmp_path: Path, width: int) -> None:
    with LiveView(planned=2, results=tmp_path) as live:
        live._take({"event": "starts", "worker": "gw0", "at": 0.0, "id": "DOC-1", "title": "A critical job"})
        nodes = [[f"worker-{number}", "AAAa" if number == 1 else "B..."] for number in range(1, 7)]
        live._take({"event": "map", "worker": "gw0", "at": 0.0, "nodes": nodes, "pending": 3})
        live._take({"event": "map", "worker": "gone", "at": 0.0, "nodes": nodes, "pending": 3})
        shown = io.StringIO()
        Console(file=shown, width=width).print(live._render())
    head, scenario, gpus = shown.getvalue().splitlines()
    assert head.startswith("0/2")
    assert scenario.startswith("  DOC-1")
    assert gpus.startswith("    worker-1 AAAa  worker-2 B...")
    assert all(len(line) <= width for line in (head, scenario, gpus))
    assert gpus.endswith("3 pending" if width == 200 else "…")
