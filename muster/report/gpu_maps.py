"""GPU map of a running scenario: one line of the live progress display.

A letter is a job, a small letter a terminating pod, a dot a free GPU; on nodes without GPUs a letter is a pod.
The map is sent when it has changed, at most a few times a second: it must not slow the scenario down.
"""

from __future__ import annotations

import os
import threading
from string import ascii_uppercase

from muster import progress
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.report.sanitize import one_line
from muster.report.timeline.lanes import gpus_of, gpus_requested, job_of

_EVERY = 0.25  # seconds between two maps
_MOST_NODES = 6
_MOST_CELLS = 16
_LONGEST_NAME = 12

NodeCells = list[tuple[str, str]]  # name of a node, and its cells


def gpu_map(history: History) -> tuple[NodeCells, int]:
    """Nodes with their cells, and the number of pending pods; call it with `history.changed` held."""
    pods = history.pods
    present = [node for node in history.nodes.values() if node.gone is None]
    nodes = [node for node in present if not node.is_probe]
    pending = sum(pod.bound is None and pod.deleting is None for pod in pods)
    by_node: dict[str, list[PodHistory]] = {}
    for pod in pods:
        if pod.bound and pod.released is None:
            by_node.setdefault(pod.node, []).append(pod)
    gpus = {node.name: gpus_of(node.latest) for node in nodes}
    shown = [node for node in nodes if gpus[node.name]] if any(gpus.values()) else nodes
    if len(shown) > _MOST_NODES:
        used = sum(gpus_requested(pod) for name in by_node for pod in by_node[name] if gpus.get(name))
        return [(f"{len(shown)} nodes", f"{used}/{sum(gpus.values())} GPUs")], pending
    letters = _letters(history, pods)
    of_pod = {pod.uid: letters[job_of(history, pod)] for pod in pods}
    cells = [_cells(by_node.get(node.name, []), gpus[node.name], of_pod) for node in shown]
    return [(one_line(node.name, _LONGEST_NAME), row) for node, row in zip(shown, cells, strict=True)], pending


def _letters(history: History, pods: list[PodHistory]) -> dict[str, str]:
    """In the order in which the jobs were created; after Z comes A again."""
    jobs = dict.fromkeys(job_of(history, pod) for pod in pods)
    return {job: ascii_uppercase[number % len(ascii_uppercase)] for number, job in enumerate(jobs)}


def _cells(pods: list[PodHistory], gpus: int, letters: dict[str, str]) -> str:
    if gpus > _MOST_CELLS:
        return f"{sum(map(gpus_requested, pods))}/{gpus}"
    cells = ""
    for pod in pods:
        letter = letters[pod.uid]
        cells += (letter.lower() if pod.deleting else letter) * (min(gpus_requested(pod), _MOST_CELLS) if gpus else 1)
    return cells.ljust(gpus, ".")


class GpuMapSender:
    """Sends the map of one scenario until it is stopped; does nothing where no progress display is open."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._stopped = threading.Event()
        if os.environ.get(progress.ENVIRONMENT_VARIABLE):
            threading.Thread(target=self._send_changes, name="gpu-map", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        with self._history.changed:
            self._history.changed.notify_all()

    def _send_changes(self) -> None:
        sent: tuple[NodeCells, int] | None = None
        known = -1
        while not self._stopped.wait(_EVERY):
            with self._history.changed:
                while self._record_count() == known and not self._stopped.is_set():
                    self._history.changed.wait()
                known, now = self._record_count(), gpu_map(self._history)
            if now != sent:
                sent = now
                progress.send("map", nodes=now[0], pending=now[1])

    def _record_count(self) -> int:
        return sum(map(len, self._history.records.values()))
