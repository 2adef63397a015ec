"""A child process with a log: in a session of its own, awaited by its pidfd, gone when we say so or when we die.

The session of its own matters: ctrl-C in a terminal goes to the whole foreground group, and a child that gets it before
the orderly stop dies in the wrong order (kube-apiserver lingers for minutes once etcd is gone).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from muster.errors import HarnessError
from muster.processes.janitor import Janitor

_TAIL_BYTES = 16_384


class Process:
    """One child. `start` may be called once; every other method is safe at any time, on a dead child too."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str | Path],
        *,
        directory: Path,
        log: Path,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.argv = [str(word) for word in argv]
        self.directory = directory
        self.log = log
        self._env = dict(os.environ if env is None else env)
        self._child: subprocess.Popen[bytes] | None = None
        self._pidfd = -1

    def start(self) -> None:
        try:
            with self.log.open("ab") as log:
                self._child = subprocess.Popen(
                    self.argv,
                    cwd=self.directory,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env=Janitor.current().tagged(self._env),
                    start_new_session=True,
                )
            self._pidfd = os.pidfd_open(self._child.pid)
        except OSError as problem:
            raise HarnessError(f"cannot start {self.name} ({self.argv[0]}): {problem.strerror or problem}") from None

    def run_to_end(self) -> int:
        """Start it and wait; its exit code. It does not outlive us, whatever interrupts the waiting."""
        try:
            self.start()
            self.wait()
        finally:
            self.kill()
        assert self.exit_code is not None
        return self.exit_code

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    @property
    def alive(self) -> bool:
        return self._child is not None and self._child.poll() is None

    @property
    def exit_code(self) -> int | None:
        """As subprocess has it: negative for a signal, None while it runs or before it was started."""
        return self._child.poll() if self._child else None

    def wait(self, seconds: float | None = None) -> bool:
        """True as soon as the process has ended, false when the time is over first."""
        return first_to_end([self], seconds) is not None

    def stop(self, grace: float) -> None:
        """SIGTERM, then SIGKILL when the grace is over; a paused process is woken up to hear it."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        self.wait(grace)
        self.kill()

    def kill(self) -> None:
        """SIGKILL to the process and to whatever it started in its session; returns when it is gone."""
        if self._child is None:
            return
        if self._child.returncode is None:  # not reaped yet, so that the group id cannot belong to anybody else
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def log_tail(self, lines: int) -> str:
        """The last lines of its log: the first thing to show when it died."""
        try:
            with self.log.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
                text = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def how_it_ended(self) -> str:
        """'exited with code 1' or 'was ended by SIGKILL'."""
        code = self.exit_code
        if code is None:
            return "is running" if self._child else "was not started"
        return f"exited with code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"

    def _signal(self, number: signal.Signals) -> None:
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, number)


def first_to_end(processes: Iterable[Process], seconds: float | None) -> Process | None:
    """Wait until one of the processes has ended, and say which; None when the time is over first."""
    poll, watched = select.poll(), {}
    for process in processes:
        if process._pidfd < 0 or not process.alive:
            return process
        poll.register(process._pidfd, select.POLLIN)
        watched[process._pidfd] = process
    ready = poll.poll(None if seconds is None else max(0, round(seconds * 1000)))
    return watched[ready[0][0]] if ready else None
