"""A guest for tests to kill: `python -m tests.foreign_guest KUBECONFIG RUN` sets a scene, says so, and waits."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from muster.cluster.connections import Connection
from muster.stage import Scene, Stage
from muster.subject.requests import NodeRequest, PodRequest, QueueRequest


def set_scene(stage: Stage) -> Scene:
    """Something of every kind that a scenario makes; "late" finds no room."""
    scene = stage.scene("TST-01")
    scene.add_nodes([NodeRequest("gpu-1", 1)])
    scene.groups.add_queue(QueueRequest("test", gpus=1))
    scene.running([PodRequest("early", 1, 10)])
    scene.submit(PodRequest("late", 1, 10))
    return scene


def main() -> None:
    stage = Stage("reference", foreign=Connection(Path(sys.argv[1])), run=sys.argv[2])
    stage.start()
    set_scene(stage)
    sys.stdout.write("set\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    main()
