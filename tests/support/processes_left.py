"""What is left of a process that should be gone, by what the kernel says."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 60  # seconds: a guard for busy machines, never the point of a test


def until(condition: Callable[[], object]) -> None:
    """For changes without a notification: files and entries of /proc."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def state(pid: int) -> str:
    """One letter of the kernel's: R runs, S waits for something, T is stopped, Z has ended."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for_state(pid: int, letter: str) -> None:
    until(lambda: state(pid) == letter)


def gone(pid: int) -> bool:
    try:
        return state(pid) == "Z"
    except OSError:
        return True


def wait_for_end(pid: int) -> None:
    """Of a process that need not be a child of ours; the kernel tells."""
    with contextlib.suppress(ProcessLookupError):  # it has ended already
        descriptor = os.pidfd_open(pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            assert poll.poll(PATIENCE * 1000), f"process {pid} is still there"
        finally:
            os.close(descriptor)


def tag_of(pid: int) -> bytes:
    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(one for one in variables if one.startswith(b"MUSTER_REAPER_TAG="))


def carriers(tag: bytes) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if tag in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found
