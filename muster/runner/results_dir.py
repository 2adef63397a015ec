"""The results directory of a run: never one with another run's files, and checked for write access before the run."""

from __future__ import annotations

import os
from datetime import datetime
from itertools import count
from pathlib import Path

from muster.errors import UsageError

DEFAULT = Path("results")
LATEST = "latest"


def check_results(asked: Path | None) -> None:
    """Raise unless the directory can be created and is empty."""
    directory = (asked or DEFAULT).absolute()
    if asked and directory.is_dir() and any(directory.iterdir()):
        raise UsageError(f"--results {asked} is not empty: name another directory, or remove it")
    _check_writable(directory, f"--results {asked}" if asked else f"the directory {directory} for the results")


def results_directory(asked: Path | None, scheduler: str) -> Path:
    """Create a new directory; below the default one, update the link `latest`."""
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
    raise AssertionError("itertools.count does not end")


def junit_file(asked: Path) -> Path:
    """The absolute path; raises unless it can be written."""
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
    """Replace the link, but nothing that is not a link."""
    if link.is_symlink() or not link.exists():
        new_link = link.with_name(f".{link.name}.{os.getpid()}")
        new_link.symlink_to(target)
        new_link.replace(link)
