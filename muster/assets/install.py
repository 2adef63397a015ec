"""What is missing is downloaded, or else built; one component at a time, one process at a time."""

from __future__ import annotations

import os
import time
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path

from muster.assets import builds, cache, downloads, golang, locks, places
from muster.assets.catalogue import Component
from muster.errors import HarnessError, UsageError


def cached(component: Component, binary: str, say: Callable[[str], None]) -> cache.Stored | None:
    """From the cache: the official release first, then a build by whatever Go."""
    keys = [f"release-{component.downloads[binary].sha256[:20]}"] if binary in component.downloads else []
    for key in [*keys, f"built-{component.fingerprint}-go*"]:
        if stored := cache.look_up(key, binary, say):
            return stored
    return None


def obtain(component: Component, binaries: Sequence[str], say: Callable[[str], None]) -> dict[str, Path]:
    """Download or build the binaries, all of one component, into the cache."""
    policy = _download_policy()
    had: dict[str, Path] = {}
    title = f"{component.name} {component.version}"
    with locks.alone(component.name, title, say), cache.workplace(component.name) as work:
        for binary in binaries:  # somebody may have been quicker while we waited for the lock
            if stored := cached(component, binary, lambda _: None):
                had[binary] = stored.path
        if policy != "never":
            had |= _download_all(component, [name for name in binaries if name not in had], work, say)
        if missing := [name for name in binaries if name not in had]:
            if policy == "only":
                raise HarnessError(
                    f"{', '.join(missing)} {component.version} could not be downloaded and MUSTER_DOWNLOADS=only "
                    f"forbids building: unset it, or check the network."
                )
            had |= _build_all(component, missing, work, say)
    return had


def _download_policy() -> str:
    policy = os.environ.get("MUSTER_DOWNLOADS", "")
    if policy not in ("", "never", "only"):
        raise UsageError(f"MUSTER_DOWNLOADS is {policy!r}: set it to 'never' or 'only', or unset it.")
    return policy


def _download_all(
    component: Component, binaries: Sequence[str], work: Path, say: Callable[[str], None]
) -> dict[str, Path]:
    had: dict[str, Path] = {}
    reasons: set[str] = set()
    for binary in binaries:
        if not (download := component.downloads.get(binary)):
            continue
        title = f"{binary} {component.version}"
        host = urllib.parse.urlsplit(download.url).netloc
        try:
            downloads.fetch(download, work / binary, _download_progress(title, host, download.megabytes, say))
        except downloads.DownloadError as problem:
            if str(problem) not in reasons:  # a host that is not there is not there for the next binary either
                say(f"{title}: no download, {problem}")
            reasons.add(str(problem))
            continue
        source = f"downloaded from {host}"
        had[binary] = cache.store(work / binary, f"release-{download.sha256[:20]}", source=source)
        say(f"{title}: {source}, checksum correct")
    return had


def _download_progress(title: str, host: str, megabytes: int, say: Callable[[str], None]) -> Callable[[int, int], None]:
    due = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + builds.HEARTBEAT
        say(f"{title}: downloading from {host}, {done >> 20} of {total >> 20 or megabytes} MB")

    return tell


def _build_all(
    component: Component, binaries: Sequence[str], work: Path, say: Callable[[str], None]
) -> dict[str, Path]:
    go = golang.ensure(component.go_needed, say)
    start = time.monotonic()
    key = f"built-{component.fingerprint}-go{go.version}"
    had: dict[str, Path] = {}
    files = [name for name in binaries if name in component.files]
    if files:
        builds.gather(component, files, go, work, say)
        source = f"taken from the module {component.module}"
        had |= {name: cache.store(work / name, key, source=source) for name in files}
    binaries = [name for name in binaries if name not in files]
    if not binaries:
        return had
    builds.build(component, binaries, go, work, say)
    for binary in binaries:
        answer = places.ask_version(work / binary)
        if component.answers and not component.is_version_of(answer):
            raise HarnessError(
                f"{binary} was built, but answers --version with {answer.strip()[:80]!r} "
                f"instead of {component.answers!r}: correct {component.directory}/component.toml."
            )
        had[binary] = cache.store(work / binary, key, source=f"built with Go {go.version}")
    say(f"{', '.join(binaries)} {component.version}: built in {time.monotonic() - start:.0f} s")
    return had
