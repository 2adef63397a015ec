"""The reaper's own process: waits for the end of its standard input, then removes what the dead harness left behind.

A plain script that needs the standard library only; reaper.py says why. Usage: reaper_main.py VARIABLE TAG
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

_SETTLE_SECONDS = 0.1  # a child caught in the middle of fork or exec shows its tag only afterwards: look again


def read_registrations() -> list[tuple[str, str]]:
    """Read until the harness has ended; return what it registered and did not withdraw, newest first."""
    registered: list[tuple[str, str]] = []
    text = b""
    while chunk := os.read(0, 65536):
        *messages, text = (text + chunk).split(b"\0")
        for message in messages:
            verb, _, what = os.fsdecode(message).partition(" ")
            if verb == "forget":
                registered = [entry for entry in registered if entry[1] != what]
            else:
                registered.append((verb, what))
    return registered[::-1]


def tagged_processes(marker: bytes) -> list[int]:
    """Process ids whose environment has the marker, youngest first, so that clients end before their servers."""
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
        except OSError:  # another user's process, or one that has just ended
            continue
        found.append((started, int(entry)))
    return [pid for _, pid in sorted(found, reverse=True)]


def kill_all(marker: bytes) -> bool:
    """Kill every process with the marker; true if there was one."""
    pids = tagged_processes(marker)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
    return bool(pids)


def main(variable: str, tag: str) -> None:
    left = read_registrations()
    marker = os.fsencode(f"{variable}={tag}")
    before, now = True, kill_all(marker)
    while before or now:  # two checks in a row must find no process
        time.sleep(_SETTLE_SECONDS)
        before, now = now, kill_all(marker)
    for verb, what in left:
        if verb == "dir":
            shutil.rmtree(what, ignore_errors=True)
        else:
            quiet = subprocess.DEVNULL
            subprocess.run(shlex.split(what), stdin=quiet, stdout=quiet, stderr=quiet, check=False)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
