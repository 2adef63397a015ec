"""A child process with a log, in a session of its own, awaited by its pidfd, and ended with this process at the latest.

The session matters: ctrl-C in a terminal goes to the whole foreground group, and children that get it before the
orderly stop end in the wrong order (kube-apiserver takes minutes once etcd has ended).
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
from muster.processes.reaper import Reaper

_TAIL_BYTES = 16_384


class Process:
    """One child. `start` may be called once; every other method may be called at any time, also on an ended child."""

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
        self.argv = [str(argument) for argument in argv]
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
                    env=Reaper.current().tagged(self._env),
                    start_new_session=True,
                )
            self._pidfd = os.pidfd_open(self._child.pid)
        except OSError as problem:
            raise HarnessError(f"cannot start {self.name} ({self.argv[0]}): {problem.strerror or problem}") from None

    def run_to_end(self) -> int:
        """Start it, wait, and return its exit code. It is killed when the wait is interrupted."""
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
        """As in subprocess: negative for a signal, None while it runs or before it was started."""
        return self._child.poll() if self._child else None

    @property
    def was_killed(self) -> bool:
        """It was ended from outside, by SIGTERM, SIGINT or SIGKILL; the kernel does the latter when memory is short."""
        return self.exit_code in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL)

    def wait(self, seconds: float | None = None) -> bool:
        """True as soon as the process has ended, false when the time is over first."""
        return wait_for_first_exit([self], seconds) is not None

    def stop(self, grace: float) -> None:
        """SIGTERM, then SIGKILL when the grace is over; a paused process is resumed to receive it."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        self.wait(grace)
        self.kill()

    def kill(self) -> None:
        """SIGKILL to the process and to all others of its session; returns when it has ended."""
        if self._child is None:
            return
        if self._child.returncode is None:  # not reaped yet, so that the group id cannot be reused
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


def wait_for_first_exit(processes: Iterable[Process], seconds: float | None) -> Process | None:
    """Wait until one of the processes has ended, and return it; None when the time is over first."""
    poll, watched = select.poll(), {}
    for process in processes:
        if process._pidfd < 0 or not process.alive:
            return process
        poll.register(process._pidfd, select.POLLIN)
        watched[process._pidfd] = process
    ready = poll.poll(None if seconds is None else max(0, round(seconds * 1000)))
    return watched[ready[0][0]] if ready else None
