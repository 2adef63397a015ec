"""What is left of a process that should be gone, by what the kernel says."""

from __future__ import annotations

from pathlib import Path


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def tag_of(pid: int) -> bytes:
    variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return next(one for one in variables if one.startswith(b"MUSTER_JANITOR_TAG="))


def carriers(tag: bytes) -> list[int]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if tag in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found
