"""A run ends with whoever started it, even when that one was killed with SIGKILL and could tell nobody.

`muster run` keeps the writing end of a pipe; its pytest process watches the reading end. When the pipe closes, the
whole process group is interrupted, so that workers stop their clusters as after ctrl-C. A pipe, not PR_SET_PDEATHSIG:
that signal would reach only one process, and it also fires when merely the thread that started the process ends.
"""

from __future__ import annotations

import os
import signal
import threading

ENVIRONMENT_VARIABLE = "MUSTER_LIFELINE"
GRACE = 20.0  # seconds from the interrupt to SIGKILL: enough to stop a control plane on a busy machine


def interrupt_when_the_parent_is_gone() -> None:
    """Watch the pipe named in the environment, if there is one; children do not inherit the duty."""
    descriptor = os.environ.pop(ENVIRONMENT_VARIABLE, None)
    if descriptor is not None:
        threading.Thread(target=_watch, args=(int(descriptor),), name="lifeline", daemon=True).start()


def _watch(descriptor: int) -> None:
    os.read(descriptor, 1)  # nobody ever writes: it returns when the other end is closed
    os.killpg(os.getpgrp(), signal.SIGINT)
    threading.Event().wait(GRACE)
    os.killpg(os.getpgrp(), signal.SIGKILL)
