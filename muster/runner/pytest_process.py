"""pytest as a process, with the suite's own settings and nothing of the user's.

Run inside this process it would adopt the user's pyproject and clash with a package of theirs that is called `steps`.
Plugins of their environment stay out as well: two that add the same option end pytest before it begins.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from muster import lifeline, progress
from muster.report.results import LOG_FILE
from muster.suite import suite_root

PLUGINS = ("pytest_bdd.plugin", "allure_pytest.plugin", "xdist.plugin")
STOP = 30.0  # seconds from an interrupt to SIGKILL: workers stop their clusters in parallel, each within a few
_GIVEN_UP = re.compile(r"^!+ _pytest\.outcomes\.Exit: (.+?) !+$", re.MULTILINE)  # by a sentence of our own
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]


class PytestProcess:
    """Started on entering; on leaving it is gone, with everything in its session."""

    def __init__(self, arguments: Sequence[str], results: Path, progress_address: str) -> None:
        self._arguments = arguments
        self._log = results / LOG_FILE
        self._progress_address = progress_address
        self._kill_at: float | None = None
        self._started = time.monotonic()
        self.seconds = 0.0

    def __enter__(self) -> PytestProcess:
        reading, self._lifeline = os.pipe()
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*self._command(), *self._arguments],
                cwd=suite_root(),
                env=self._environment(reading),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[reading],
                start_new_session=True,
            )
        os.close(reading)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:  # something went wrong on our side: it still may clean up
            self.interrupt()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(STOP)
        self.kill()
        self._process.wait()
        os.close(self._lifeline)
        self.seconds = time.monotonic() - self._started

    def wait(self) -> int:
        """Block until it has ended; its exit code."""
        return self._process.wait()

    def interrupt(self) -> None:
        """As ctrl-C would: scenarios end, fixtures clean up. It gets its time, but not forever."""
        self._kill_at = time.monotonic() + STOP
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """At once; the clusters' own watchdogs clear away what is left."""
        self._signal(signal.SIGKILL)

    def kill_if_overdue(self) -> None:
        """An interrupted process that does not end is not waited for any longer."""
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self.kill()

    def complaint(self) -> str:
        """Why it did nothing useful: what it said itself, and where to read on."""
        text = self._log.read_text(encoding="utf-8", errors="replace")
        if given_up := _GIVEN_UP.search(text):
            return given_up[1]
        lines = text.splitlines()
        said = [line for line in lines if line.strip()]
        errors = [number for number, line in enumerate(said) if line.startswith(("ERROR: ", "INTERNALERROR> ", "E  "))]
        shown = said[errors[0] :][:40] if errors else said[-15:]
        quoted = [f"  {line.removeprefix('ERROR: ')}" for line in shown]
        return "\n".join(["pytest said:", *quoted, f"all of it: {self._log}"])

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _command(self) -> list[str]:
        suite = suite_root()
        plugins = [word for plugin in PLUGINS for word in ("-p", plugin)]
        settings = ["-c", str(suite / "pytest.ini"), "--rootdir", str(suite), "-p", "no:cacheprovider", "-rA"]
        return [sys.executable, "-m", "pytest", *settings, *plugins, str(suite / "features" / "test_features.py")]

    def _environment(self, lifeline_descriptor: int) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        paths = [str(suite_root()), str(_PACKAGE_PARENT), os.environ.get("PYTHONPATH", "")]
        environment = inherited | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, paths))),
            "PYTHONUNBUFFERED": "1",
            progress.ENVIRONMENT_VARIABLE: self._progress_address,
            lifeline.ENVIRONMENT_VARIABLE: str(lifeline_descriptor),
        }
        if not os.access(suite_root(), os.W_OK):
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return environment
