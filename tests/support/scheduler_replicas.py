"""Replicas of the reference scheduler as processes, with a short lease and the lines that they log."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.processes_left import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
LEASE_SECONDS = 3
_CONFIGURATION = f"""
apiVersion: scheduler.muster.dev/v1
kind: SchedulerConfiguration
schedulerNames: [muster-scheduler]
leaderElection: {{leaseDuration: {LEASE_SECONDS}s, renewDeadline: 2s, retryPeriod: 500ms}}
"""


class Replica:
    """One process; `module` is what runs instead of the scheduler, with its arguments."""

    def __init__(self, kubeconfig: Path, directory: Path, *module: str) -> None:
        directory.mkdir(exist_ok=True)
        config = directory / "config.yaml"
        config.write_text(_CONFIGURATION)
        flags = ["--kubeconfig", str(kubeconfig), "--config", str(config)]
        argv = [sys.executable, "-m", *(module or ("scheduler",)), *flags]
        environment = {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(argv, cwd=directory, stderr=subprocess.PIPE, text=True, env=environment)
        self.lines: list[dict[str, Any]] = []  # read so far
        self.until(lambda line: line["message"] == "ready")

    def until(self, holds: Callable[[dict[str, Any]], bool]) -> None:
        """Read on until a line matches."""
        assert self.process.stderr is not None
        for text in self.process.stderr:
            self.lines.append(json.loads(text))
            if holds(self.lines[-1]):
                return
        raise AssertionError(f"the scheduler ended with {self.process.wait(PATIENCE)}: {self.lines[-3:]}")

    def until_leading(self) -> None:
        self.until(lambda line: line["message"] == "leading")

    def decisions(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["message"] == "decision"]

    def pause(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code after the signal."""
        self.process.send_signal(number)
        _, rest = self.process.communicate(timeout=PATIENCE)
        self.lines += [json.loads(line) for line in rest.splitlines()]
        return self.process.returncode
