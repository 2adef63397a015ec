"""Who holds which GPU just now: the line below a running scenario while somebody watches the run.

A letter is a job, a small one a pod that is asked to go, a dot a free GPU; where nobody has GPUs a letter is a pod.
The map is told when it has changed, and at most a few times a second: it must not cost the scenario anything.
"""

from __future__ import annotations

import os
import threading
from math import ceil
from string import ascii_uppercase

from muster import progress
from muster.chronicle.history import History
from muster.chronicle.lifelines import ROLE_LABEL, NodeLife, PodLife
from muster.chronicle.quantities import GPU, amounts
from muster.report.plain_text import one_line
from muster.report.timeline_names import job_of

_EVERY = 0.25  # seconds between two maps
_MOST_NODES = 6
_MOST_CELLS = 16
_LONGEST_NAME = 12

Told = list[tuple[str, str]]


def gpu_map(history: History) -> tuple[Told, int]:
    """Names of nodes with their cells, and how many pods wait; read it with `history.changed` held."""
    pods = history.pods
    alive = [life for life in history.nodes.values() if life.gone is None]
    nodes = [life for life in alive if ROLE_LABEL not in life.node.metadata.labels]
    waiting = sum(life.bound is None and life.deleting is None for life in pods)
    here: dict[str, list[PodLife]] = {}
    for life in pods:
        if life.bound and life.let_go is None:
            here.setdefault(life.node, []).append(life)
    gpus = {life.name: _gpus(life) for life in nodes}
    shown = [life for life in nodes if gpus[life.name]] if any(gpus.values()) else nodes
    if len(shown) > _MOST_NODES:
        held = sum(_asked(life) for name in here for life in here[name] if gpus.get(name))
        return [(f"{len(shown)} nodes", f"{held}/{sum(gpus.values())} GPUs")], waiting
    letters = _letters(pods)
    cells = [_cells(here.get(life.name, []), gpus[life.name], letters) for life in shown]
    return [(one_line(life.name, _LONGEST_NAME), held) for life, held in zip(shown, cells, strict=True)], waiting


def _letters(pods: list[PodLife]) -> dict[str, str]:
    """In the order in which the jobs came; after Z comes A again."""
    jobs = dict.fromkeys(job_of(life) for life in pods)
    return {job: ascii_uppercase[number % len(ascii_uppercase)] for number, job in enumerate(jobs)}


def _cells(pods: list[PodLife], gpus: int, letters: dict[str, str]) -> str:
    if gpus > _MOST_CELLS:
        return f"{sum(map(_asked, pods))}/{gpus}"
    cells = ""
    for life in pods:
        letter = letters[job_of(life)]
        cells += (letter.lower() if life.deleting else letter) * (min(_asked(life), _MOST_CELLS) if gpus else 1)
    return cells.ljust(gpus, ".")


def _gpus(node: NodeLife) -> int:
    return amounts(node.node.status.allocatable).get(GPU, 0) // 1000


def _asked(life: PodLife) -> int:
    return ceil(life.asks.get(GPU, 0) / 1000)


class MapTeller:
    """Tells the map of one scenario until it is stopped; where nobody watches it does nothing."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._stopped = threading.Event()
        if os.environ.get(progress.ENVIRONMENT_VARIABLE):
            threading.Thread(target=self._tell, name="gpu-map", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        with self._history.changed:
            self._history.changed.notify_all()

    def _tell(self) -> None:
        told: tuple[Told, int] | None = None
        known = -1
        while not self._stopped.wait(_EVERY):
            with self._history.changed:
                while self._grown() == known and not self._stopped.is_set():
                    self._history.changed.wait()
                known, now = self._grown(), gpu_map(self._history)
            if now != told:
                told = now
                progress.send("map", nodes=now[0], waiting=now[1])

    def _grown(self) -> int:
        return sum(map(len, self._history.records.values()))
