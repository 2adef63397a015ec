"""The cache directory: `bin/<key>/<binary>` with a manifest beside it, scratch directories, and locks.

The key says what a binary was made from. A binary counts only with its manifest, which is written last, so that an
incomplete one is never run. Size and times are compared at every start; the full hash is taken only when they differ,
for instance after the cache was copied. Locks are flocks, not pid files: the kernel releases them when the holder ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from muster.errors import HarnessError
from muster.processes import Reaper

_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, kw_only=True)
class CachedBinary:
    """An undamaged binary in the cache, and where it came from."""

    path: Path
    source: str


def directory() -> Path:
    """MUSTER_CACHE, or `muster` in the user's cache directory."""
    if chosen := os.environ.get("MUSTER_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "muster"


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Turn an OSError while writing the cache into a HarnessError that says what to do."""
    try:
        yield
    except OSError as problem:
        raise unwritable(problem.strerror or str(problem), full=problem.errno in _FULL) from None


def unwritable(reason: str, *, full: bool) -> HarnessError:
    """The error for a cache that cannot be written."""
    what, fix = ("is full", "free some space") if full else ("cannot be written", "make it writable")
    return HarnessError(
        f"The cache directory {directory()} {what} ({reason}): {fix}, or use another one: MUSTER_CACHE=/some/directory."
    )


@contextlib.contextmanager
def scratch_directory(owner: str) -> Iterator[Path]:
    """A directory on the cache's file system that is removed on every exit. Use it under the owner's lock only.

    Other directories of the same owner are then leftovers of a machine crash, and are removed. A disk that gets full
    meanwhile is an error of the cache, whatever was being written.
    """
    base = directory() / "tmp"
    with writing():
        base.mkdir(parents=True, exist_ok=True)
        for leftover in base.glob(f"{owner}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        path = Path(tempfile.mkdtemp(prefix=f"{owner}-", dir=base))
    Reaper.current().remember_directory(path)
    try:
        yield path
    except OSError as problem:
        if problem.errno not in _FULL:
            raise
        raise unwritable(problem.strerror or str(problem), full=True) from None
    finally:
        Reaper.current().remove_directory(path)


def look_up(keys: str, binary: str, print_line: Callable[[str], None]) -> CachedBinary | None:
    """The binary under a key (or a pattern such as `built-…-*`), if it is undamaged."""
    for place in sorted((directory() / "bin").glob(keys), reverse=True):
        path, manifest = place / binary, _manifest(place / binary)
        try:
            recorded = json.loads(manifest.read_text())
            if _is_undamaged(path, recorded, manifest):
                return CachedBinary(path=path, source=recorded["source"])
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, OSError):
            pass
        print_line(f"{binary} in the cache is damaged and will be replaced: {path}")
    return None


def store(finished: Path, key: str, *, source: str) -> Path:
    """Move a finished binary into the cache, then write its manifest."""
    place = directory() / "bin" / key
    with writing():
        place.mkdir(parents=True, exist_ok=True)
        finished.chmod(0o755)
        digest = file_hash(finished)
        path = place / finished.name
        _manifest(path).unlink(missing_ok=True)
        finished.replace(path)
        _write_manifest(_manifest(path), {"sha256": digest, "source": source, "stamp": _stamp(path)})
    return path


def file_hash(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_undamaged(path: Path, recorded: dict[str, object], manifest: Path) -> bool:
    stamp = _stamp(path)
    if recorded["stamp"] == stamp:
        return os.access(path, os.X_OK)
    if not isinstance(recorded["stamp"], list) or recorded["stamp"][:1] != stamp[:1]:
        return False  # another size: no need to read it
    if recorded["sha256"] != file_hash(path) or not os.access(path, os.X_OK):
        return False
    with contextlib.suppress(OSError):  # a read-only cache is good enough to run from
        _write_manifest(manifest, {**recorded, "stamp": stamp})
    return True


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _manifest(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _write_manifest(manifest: Path, content: dict[str, object]) -> None:
    new = manifest.with_name(f"{manifest.name}.{os.getpid()}")
    new.write_text(json.dumps(content, indent=1))
    new.replace(manifest)


@contextlib.contextmanager
def install_lock(name: str, title: str, print_line: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of this name while installing; a process that waits for it says for what."""
    with file_lock(
        name, lambda holder: print_line(f"{title}: waiting for process {holder}, which is getting it ready")
    ):
        yield


@contextlib.contextmanager
def file_lock(name: str, on_busy: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of this name; if another process holds it, call `on_busy` with its pid, then wait."""
    path = directory() / "locks" / f"{name}.lock"
    with writing():
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_busy(os.pread(descriptor, 20, 0).decode(errors="replace").strip() or "unknown")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with writing():
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
