"""The cache: `bin/<key>/<binary>` with a small manifest beside it. The key says what a binary was made from.

A binary counts only with its manifest, and the manifest is written last, so that a half-written one is never run.
Size and times are compared at every start; the full hash is taken only when they differ, for instance after the cache
was copied or restored.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from muster.errors import HarnessError
from muster.processes import Janitor


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A sound binary in the cache, and in words how it got there."""

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
    """Whatever keeps the cache from being written becomes one sentence with the fix."""
    try:
        yield
    except OSError as problem:
        raise unwritable(problem.strerror or str(problem), full=problem.errno in (errno.ENOSPC, errno.EDQUOT)) from None


def unwritable(reason: str, *, full: bool) -> HarnessError:
    """The cache cannot take what it should keep."""
    what, fix = ("is full", "free some space") if full else ("cannot be written", "make it writable")
    return HarnessError(
        f"The cache directory {directory()} {what} ({reason}): {fix}, or use another one: MUSTER_CACHE=/some/directory."
    )


@contextlib.contextmanager
def workplace(owner: str) -> Iterator[Path]:
    """A directory on the cache's file system that goes away whatever happens. To be used under the owner's lock only.

    Who holds the lock is alone, so directories of the same owner are remains of a machine that went down.
    """
    base = directory() / "tmp"
    with writing():
        base.mkdir(parents=True, exist_ok=True)
        for remains in base.glob(f"{owner}-*"):
            shutil.rmtree(remains, ignore_errors=True)
        path = Path(tempfile.mkdtemp(prefix=f"{owner}-", dir=base))
    Janitor.current().remember_directory(path)
    try:
        yield path
    finally:
        Janitor.current().remove_directory(path)


def look_up(keys: str, binary: str, say: Callable[[str], None]) -> Stored | None:
    """The binary under a key (a pattern such as `built-…-*` takes any), if it is still what was put there."""
    for place in sorted((directory() / "bin").glob(keys), reverse=True):
        path, manifest = place / binary, _manifest(place / binary)
        try:
            recorded = json.loads(manifest.read_text())
            if _is_sound(path, recorded, manifest):
                return Stored(path=path, source=recorded["source"])
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, OSError):
            pass
        say(f"{binary} in the cache is damaged and will be replaced: {path}")
    return None


def store(finished: Path, key: str, *, source: str) -> Path:
    """Move a finished binary to its place, then its manifest."""
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


def _is_sound(path: Path, recorded: dict[str, object], manifest: Path) -> bool:
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
    draft = manifest.with_name(f"{manifest.name}.{os.getpid()}")
    draft.write_text(json.dumps(content, indent=1))
    draft.replace(manifest)
