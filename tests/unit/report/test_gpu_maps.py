"""The map of GPUs below a running scenario: what is in it, when it is told, how it looks on a terminal."""

import io
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from muster import progress
from muster.cli.live import Live
from muster.report.gpu_maps import MapTeller, gpu_map
from tests.tales import Tale
from tests.timeline_tales import GangTale, crowd, gangs


def test_a_letter_per_job_a_small_one_for_who_goes_a_dot_for_what_is_free() -> None:
    tale = GangTale()
    tale.node("gpu-1", 4).node("gpu-2", 2).node("master", 0)
    tale.settled("left", "gpu-1", 2).settled("right", "gpu-1", 1).pod("urgent", 2, 100)
    assert gpu_map(tale.history) == ([("gpu-1", "AAB."), ("gpu-2", "..")], 1)
    tale.preempted("left", "urgent")
    assert gpu_map(tale.history) == ([("gpu-1", "aaB."), ("gpu-2", "..")], 1)
    tale.gone("left").run("urgent", "gpu-1")
    assert gpu_map(tale.history) == ([("gpu-1", "BCC."), ("gpu-2", "..")], 0)


def test_a_gang_has_one_letter() -> None:
    history, _ = gangs()
    assert gpu_map(history) == ([("gpu-1", "BBB."), ("gpu-2", "BBB.")], 4)


def test_without_gpus_a_letter_is_a_pod() -> None:
    tale = Tale().node("one").node("two").settled("a", "one").settled("b", "one").settled("c", "two")
    assert gpu_map(tale.history) == ([("one", "AB"), ("two", "C")], 0)


def test_many_nodes_are_counted_and_so_are_many_gpus() -> None:
    history, _ = crowd(100)
    ((name, counted),), waiting = gpu_map(history)
    assert (name, waiting) == ("100 nodes", 0)
    assert counted.endswith("/800 GPUs")
    tale = Tale().node("dgx", 64).settled("a", "dgx", 40)
    assert gpu_map(tale.history) == ([("dgx", "40/64")], 0)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    receiver, address = progress.listener()
    receiver.settimeout(30)
    monkeypatch.setenv(progress.ENVIRONMENT_VARIABLE, address)
    yield receiver
    receiver.close()


def test_it_is_told_when_it_has_changed_until_it_is_stopped(watched: socket.socket) -> None:
    tale = Tale().node("gpu-1", 2)
    teller = MapTeller(tale.history)
    first = json.loads(watched.recv(65536))
    assert (first["event"], first["nodes"], first["waiting"]) == ("map", [["gpu-1", ".."]], 0)
    tale.settled("left", "gpu-1", 1)
    while json.loads(watched.recv(65536))["nodes"] != [["gpu-1", "A."]]:  # it may have been told half-way, too
        pass
    teller.stop()
    for thread in threading.enumerate():
        if thread.name == "gpu-map":
            thread.join(30)
            assert not thread.is_alive()


def test_where_nobody_watches_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.ENVIRONMENT_VARIABLE, raising=False)
    MapTeller(Tale().history).stop()
    assert "gpu-map" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_shows_it_below_its_scenario(tmp_path: Path, width: int) -> None:
    with Live(planned=2, results=tmp_path) as live:
        live._take({"event": "starts", "worker": "gw0", "at": 0.0, "id": "DOC-1", "title": "A critical job"})
        nodes = [[f"worker-{number}", "AAAa" if number == 1 else "B..."] for number in range(1, 7)]
        live._take({"event": "map", "worker": "gw0", "at": 0.0, "nodes": nodes, "waiting": 3})
        live._take({"event": "map", "worker": "gone", "at": 0.0, "nodes": nodes, "waiting": 3})
        shown = io.StringIO()
        Console(file=shown, width=width).print(live._picture())
    head, scenario, gpus = shown.getvalue().splitlines()
    assert head.startswith("0/2")
    assert scenario.startswith("  DOC-1")
    assert gpus.startswith("    worker-1 AAAa  worker-2 B...")
    assert all(len(line) <= width for line in (head, scenario, gpus))
    assert gpus.endswith("3 waiting" if width == 200 else "…")
