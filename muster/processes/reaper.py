"""Clean-up after the harness was killed, by SIGKILL or by the out-of-memory killer.

One small helper process per harness process reads from a pipe whose only write end belongs to the harness; the pipe
ends when the harness does, however that happens. (PR_SET_PDEATHSIG is no substitute: it fires when the *thread* that
started the child ends.) Children have a tag in their environment instead of being registered one by one, so that no
child can be missed between fork and registration, and no process id can be mistaken.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

TAG = "MUSTER_REAPER_TAG"
_SCRIPT = Path(__file__).with_name("reaper_main.py")
_lock = threading.Lock()
_current: Reaper | None = None


class Reaper:
    """Registers what this process would leave behind with a helper that outlives it."""

    def __init__(self) -> None:
        self.tag = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._owner = os.getpid()
        read_end, self._pipe = os.pipe()
        # It inherits these signals blocked: there is no moment at which they could end it.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        try:
            # -I -S: no site-packages, so that it starts in 10 ms and nothing in the user's environment can break it.
            self._helper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_SCRIPT), TAG, self.tag],
                stdin=read_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
            os.close(read_end)

    @classmethod
    def current(cls) -> Reaper:
        """The reaper of this process, started when it is first needed."""
        global _current
        with _lock:
            if _current is None or _current._owner != os.getpid():
                _current = cls()
            return _current

    @property
    def pid(self) -> int:
        return self._helper.pid

    def tagged(self, env: Mapping[str, str]) -> dict[str, str]:
        """The environment of a child that must not outlive this process."""
        return {**env, TAG: self.tag}

    def make_directory(self, prefix: str, *, keep: bool = False) -> Path:
        """A private temporary directory. The helper knows of it before it is created, unless it is to be kept."""
        path = Path(tempfile.gettempdir()).absolute() / f"{prefix}{secrets.token_hex(8)}"
        if not keep:
            self.remember_directory(path)
        path.mkdir(mode=0o700)
        return path

    def remember_directory(self, path: Path) -> None:
        self._send("dir", str(path))

    def remove_directory(self, path: Path) -> None:
        """Remove it now; what cannot be removed is tried again when this process ends."""
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            self._send("forget", str(path))

    def remember_command(self, argv: Sequence[str]) -> None:
        """A command that removes something else; the helper runs it with an empty environment."""
        self._send("run", shlex.join(argv))

    def forget_command(self, argv: Sequence[str]) -> None:
        self._send("forget", shlex.join(argv))

    def _send(self, verb: str, what: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # the helper was killed: go on without it
            os.write(self._pipe, os.fsencode(f"{verb} {what}\0"))


def _drop_inherited_pipe() -> None:
    """A forked copy of this process must not keep the pipe open: the reaper would wait for the copy as well."""
    global _current
    if _current is not None:
        os.close(_current._pipe)
        _current = None


os.register_at_fork(after_in_child=_drop_inherited_pipe)
