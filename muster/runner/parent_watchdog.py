"""pytest ends when the process that started it ends, even when that one was killed with SIGKILL.

`muster run` keeps the writing end of a pipe; its pytest process watches the reading end. When the pipe closes, the
whole process group is interrupted, so that workers stop their clusters as after ctrl-C. A pipe, not PR_SET_PDEATHSIG:
that signal would reach only one process, and it also fires when merely the thread that started the process ends.
"""

from __future__ import annotations

import os
import signal
import threading

from muster import timeouts

ENVIRONMENT_VARIABLE = "MUSTER_PARENT_PIPE"


def interrupt_when_the_parent_is_gone() -> None:
    """Watch the pipe named in the environment, if there is one; child processes do not inherit it."""
    descriptor = os.environ.pop(ENVIRONMENT_VARIABLE, None)
    if descriptor is not None:
        threading.Thread(target=_watch, args=(int(descriptor),), name="parent-watchdog", daemon=True).start()


def _watch(descriptor: int) -> None:
    os.read(descriptor, 1)  # nothing is ever written: it returns when the other end is closed
    os.killpg(os.getpgrp(), signal.SIGINT)
    threading.Event().wait(timeouts.WATCHDOG_GRACE)
    os.killpg(os.getpgrp(), signal.SIGKILL)
