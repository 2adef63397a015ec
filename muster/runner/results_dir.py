"""Where a run writes. Never over another run's files, and never found out after an hour that it cannot be written."""

from __future__ import annotations

import os
from datetime import datetime
from itertools import count
from pathlib import Path

from muster.errors import UsageError

DEFAULT = Path("results")
LATEST = "latest"


def check_results(asked: Path | None) -> None:
    """The directory can be made and holds nothing yet."""
    directory = (asked or DEFAULT).absolute()
    if asked and directory.is_dir() and any(directory.iterdir()):
        raise UsageError(f"--results {asked} is not empty: name another directory, or remove it")
    _check_writable(directory, f"--results {asked}" if asked else f"the directory {directory} for the results")


def results_directory(asked: Path | None, scheduler: str) -> Path:
    """A fresh directory; the usual place also gets a link `latest`."""
    if asked:
        directory = asked.absolute()
        directory.mkdir(parents=True, exist_ok=True)
        return directory
    parent = DEFAULT.absolute()
    parent.mkdir(exist_ok=True)
    name = f"{datetime.now():%Y%m%d-%H%M%S}-{scheduler.replace(':', '-').replace('/', '-')}"
    for attempt in count(1):
        directory = parent / (name if attempt == 1 else f"{name}-{attempt}")
        try:
            directory.mkdir()
        except FileExistsError:
            continue
        _link(parent / LATEST, directory.name)
        return directory
    raise AssertionError("count never ends")


def junit_file(asked: Path) -> Path:
    """The absolute path, once it is clear that it can be written."""
    file = asked.absolute()
    if file.is_dir():
        raise UsageError(f"--junit {asked} is a directory: name a file")
    _check_writable(file.parent, f"the directory of --junit {asked}")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _check_writable(directory: Path, what: str) -> None:
    existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
    if not existing.is_dir():
        raise UsageError(f"{what}: {existing} is not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise UsageError(f"{what} cannot be written: make {existing} writable, or name another place")


def _link(link: Path, target: str) -> None:
    """A convenience: where something else is in its place, that stays."""
    if link.is_symlink() or not link.exists():
        draft = link.with_name(f".{link.name}.{os.getpid()}")
        draft.symlink_to(target)
        draft.replace(link)
