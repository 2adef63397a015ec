"""pytest as a process, with the suite's own settings and nothing of the user's, and the signals that end it.

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
from types import FrameType

from muster import progress, timeouts
from muster.report.results import LOG_FILE
from muster.runner import parent_watchdog
from muster.suite.paths import suite_root

PLUGINS = ("pytest_bdd.plugin", "allure_pytest.plugin", "xdist.plugin")
_EXIT_MESSAGE = re.compile(r"^!+ _pytest\.outcomes\.Exit: (.+?) !+$", re.MULTILINE)  # of pytest.exit
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
        reading, self._parent_pipe = os.pipe()
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
        if self._process.poll() is None:  # an error in this process: pytest may still clean up
            self.interrupt()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeouts.WORKERS_STOP)
        self.kill()
        self._process.wait()
        os.close(self._parent_pipe)
        self.seconds = time.monotonic() - self._started

    def wait(self) -> int:
        """Block until it has ended; its exit code."""
        return self._process.wait()

    def interrupt(self) -> None:
        """As ctrl-C would: scenarios end, fixtures clean up. It gets its time, but not forever."""
        self._kill_at = time.monotonic() + timeouts.WORKERS_STOP
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """At once; the reaper of each cluster removes what is left."""
        self._signal(signal.SIGKILL)

    def kill_if_overdue(self) -> None:
        """An interrupted process that does not end is not waited for any longer."""
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self.kill()

    def complaint(self) -> str:
        """Why it ran no scenario: its error message, and where the log is."""
        text = self._log.read_text(encoding="utf-8", errors="replace")
        if message := _EXIT_MESSAGE.search(text):
            return message[1]
        lines = text.splitlines()
        printed = [line for line in lines if line.strip()]
        errors = [
            number for number, line in enumerate(printed) if line.startswith(("ERROR: ", "INTERNALERROR> ", "E  "))
        ]
        shown = printed[errors[0] :][:40] if errors else printed[-15:]
        quoted = [f"  {line.removeprefix('ERROR: ')}" for line in shown]
        return "\n".join(["pytest said:", *quoted, f"all of it: {self._log}"])

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _command(self) -> list[str]:
        suite = suite_root()
        plugins = [argument for plugin in PLUGINS for argument in ("-p", plugin)]
        settings = ["-c", str(suite / "pytest.ini"), "--rootdir", str(suite), "-p", "no:cacheprovider", "-rA"]
        return [sys.executable, "-m", "pytest", *settings, *plugins, str(suite / "features" / "test_features.py")]

    def _environment(self, parent_pipe: int) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        paths = [str(suite_root()), str(_PACKAGE_PARENT), os.environ.get("PYTHONPATH", "")]
        environment = inherited | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(filter(None, paths))),
            "PYTHONUNBUFFERED": "1",
            progress.ENVIRONMENT_VARIABLE: self._progress_address,
            parent_watchdog.ENVIRONMENT_VARIABLE: str(parent_pipe),
        }
        if not os.access(suite_root(), os.W_OK):
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return environment


class SignalForwarder:
    """SIGINT and SIGTERM, from now until the end of this process, lead to the same orderly end in every phase of a run.

    Before pytest runs they raise KeyboardInterrupt. While it runs they are passed on once to its group (it has a
    session of its own, so a terminal's ctrl-C does not reach it directly and workers are not hit twice); a second one
    kills. Afterwards they are ignored: the report takes milliseconds, and half of it is worth nothing.
    """

    def __init__(self) -> None:
        self.received = False
        self._pytest: PytestProcess | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def forward_to(self, pytest: PytestProcess) -> None:
        """From now on signals are for this process."""
        self._pytest = pytest

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        again, self.received = self.received, True
        if self._pytest is None:
            raise KeyboardInterrupt
        if again:
            self._pytest.kill()
        else:
            self._pytest.interrupt()

    def ignore(self) -> None:
        """pytest has ended: nothing is left that could be interrupted."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
