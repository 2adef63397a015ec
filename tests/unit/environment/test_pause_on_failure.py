"""A failed scenario that is left as it is: somebody is told how to look at it, and ctrl-C goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from muster import progress
from tests.leftovers import PATIENCE, wait_for_state

HOLDER = """
from pathlib import Path
from types import SimpleNamespace
from muster.stage.holding import hold

scene = SimpleNamespace(failure="wanted   urgent running\\nseen     it waits", namespace="muster-1-1")
cluster = SimpleNamespace(client_kubeconfig=lambda user: Path("/there") / user, directory=Path("/there"))
hold(scene, cluster)
print("goes on")
"""


def test_a_scenario_is_left_as_it_is_until_ctrl_c() -> None:
    receiver, address = progress.listener()
    receiver.settimeout(PATIENCE)
    held = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        env={**os.environ, progress.ENVIRONMENT_VARIABLE: address},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        told, awaited = (json.loads(receiver.recv(65536)) for _ in range(2))
        assert told["event"] == "kept"
        assert told["lines"][:2] == ["wanted   urgent running", "seen     it waits"]
        assert "export KUBECONFIG=/there/admin" in told["lines"]
        assert "kubectl get pods,events -n muster-1-1" in told["lines"]
        assert (awaited["event"], awaited["text"]) == ("waits", "ctrl-C")
        assert held.poll() is None
        wait_for_state(held.pid, "S")  # what it says last is that it waits: it may not have begun to
        held.send_signal(signal.SIGINT)
        assert held.communicate(timeout=PATIENCE)[0] == "goes on\n"
    finally:
        held.kill()
        receiver.close()
