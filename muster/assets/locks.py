"""One process at a time makes a thing; the others say whom they wait for, and then find it made.

flock and not a pid file: the kernel releases it however the holder ends, so nobody ever waits for the dead.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator

from muster.assets import cache


@contextlib.contextmanager
def alone(name: str, title: str, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of this name; the title is what a waiter is told to wait for."""
    with held(name, lambda holder: say(f"{title}: waiting for process {holder}, which is getting it ready")):
        yield


@contextlib.contextmanager
def held(name: str, taken: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of this name; when somebody else does, `taken` hears who, and waiting begins unless it raises."""
    path = cache.directory() / "locks" / f"{name}.lock"
    with cache.writing():
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            taken(os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with cache.writing():
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
