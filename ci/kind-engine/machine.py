"""Settings that an engine and a node change for the whole machine: saved before, restored after.

Networks, firewall rules and mounts are in namespaces that vanish. Kernel settings outside networking are not, nor are
cgroups: a kubelet sets how the kernel overcommits and panics, the systemd of a node applies Debian's defaults.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_SETTINGS = Path("/proc/sys")
_TREES = ("fs", "kernel", "vm")
_EVER_CHANGING = ("kernel/ns_last_pid", "kernel/random/")
_CGROUPS = Path("/sys/fs/cgroup")
_DYING_SECONDS = 15.0
_MOUNT_POINTS = (Path("/lib/modules"),)  # kind mounts it into a node, and Docker makes what it is to mount


def settings() -> dict[str, str]:
    """Every writable kernel setting except those of networks, which belong to a namespace."""
    found: dict[str, str] = {}
    for tree in _TREES:
        for directory, _, files in os.walk(_SETTINGS / tree):
            for name in files:
                path = Path(directory, name)
                place = str(path.relative_to(_SETTINGS))
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    if path.stat().st_mode & 0o200 and not place.startswith(_EVER_CHANGING):
                        found[place] = path.read_text()
    return found


def restore(before: dict[str, str]) -> list[str]:
    """Restore the settings that have changed since; return their names."""
    now = settings()
    changed = [place for place, value in before.items() if place in now and now[place] != value]
    for place in changed:
        with contextlib.suppress(OSError):
            (_SETTINGS / place).write_text(before[place])
    return changed


def remove_cgroups(name: str) -> None:
    """The cgroups below one of ours, in every hierarchy. Processes that were killed just now still die in them."""
    deadline = time.monotonic() + _DYING_SECONDS
    while tops := [top for top in (*_CGROUPS.glob(f"*/{name}"), _CGROUPS / name) if top.exists()]:
        for top in tops:
            for directory, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(directory)
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)


def absent_mount_points() -> list[Path]:
    return [path for path in _MOUNT_POINTS if not path.exists()]


def remove_mount_points(absent: list[Path]) -> None:
    """New directories that are empty."""
    for path in absent:
        with contextlib.suppress(OSError):
            path.rmdir()
