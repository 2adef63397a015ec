"""A failed scenario is left running until ctrl-C, with a message that says how to inspect it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from muster import progress
from tests.support.processes_left import PATIENCE, wait_for_state

PAUSED = """
from pathlib import Path
from types import SimpleNamespace
from muster.environment.scenario import pause_until_interrupt

scenario = SimpleNamespace(failure="wanted   urgent running\\nseen     it is pending", namespace="muster-1-1")
cluster = SimpleNamespace(client_kubeconfig=lambda user: Path("/there") / user, directory=Path("/there"))
pause_until_interrupt(scenario, cluster)
print("goes on")
"""


def test_a_failed_scenario_is_left_running_until_ctrl_c() -> None:
    receiver, address = progress.listener()
    receiver.settimeout(PATIENCE)
    paused = subprocess.Popen(
        [sys.executable, "-c", PAUSED],
        env={**os.environ, progress.ENVIRONMENT_VARIABLE: address},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        message, waiting = (json.loads(receiver.recv(65536)) for _ in range(2))
        assert message["event"] == "kept"
        assert message["lines"][:2] == ["wanted   urgent running", "seen     it is pending"]
        assert "export KUBECONFIG=/there/admin" in message["lines"]
        assert "kubectl get pods,events -n muster-1-1" in message["lines"]
        assert (waiting["event"], waiting["text"]) == ("waits", "ctrl-C")
        assert paused.poll() is None
        wait_for_state(paused.pid, "S")  # its last message is that it waits: it may not have begun to
        paused.send_signal(signal.SIGINT)
        assert paused.communicate(timeout=PATIENCE)[0] == "goes on\n"
    finally:
        paused.kill()
        receiver.close()
