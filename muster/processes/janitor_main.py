"""The janitor's own process: waits for the end of its standard input, then removes what the dead harness left behind.

A plain script that needs the standard library only; janitor.py says why. Usage: janitor_main.py VARIABLE TAG
"""

import os
import shutil
import signal
import sys
import time

_SETTLE_SECONDS = 0.1  # a child caught between fork and exec shows its tag only afterwards: look again


def directories_to_remove() -> list[str]:
    """Listen until the harness is gone; what it registered and did not take back, newest first."""
    registered: list[str] = []
    text = b""
    while chunk := os.read(0, 65536):
        *messages, text = (text + chunk).split(b"\0")
        for message in messages:
            verb, _, path = os.fsdecode(message).partition(" ")
            if verb == "dir":
                registered.append(path)
            elif path in registered:
                registered.remove(path)
    return registered[::-1]


def tagged_processes(marker: bytes) -> list[int]:
    """Process ids whose environment carries the marker, youngest first, so that clients go before their servers."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as environ:
                if marker not in environ.read().split(b"\0"):
                    continue
            with open(f"/proc/{entry}/stat", "rb") as stat:
                started = int(stat.read().rpartition(b")")[2].split()[19])
        except OSError:  # another user's process, or one that ended while we looked
            continue
        found.append((started, int(entry)))
    return [pid for _, pid in sorted(found, reverse=True)]


def kill_all(marker: bytes) -> bool:
    """Kill whatever carries the marker; true if there was anything."""
    victims = tagged_processes(marker)
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    return bool(victims)


def main(variable: str, tag: str) -> None:
    directories = directories_to_remove()
    marker = os.fsencode(f"{variable}={tag}")
    crashed = kill_all(marker) or bool(directories)
    while crashed:
        time.sleep(_SETTLE_SECONDS)
        crashed = kill_all(marker)
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
