"""Install missing binaries into the cache: downloaded, or else built; one component and one process at a time."""

from __future__ import annotations

import os
import time
import urllib.parse
from collections.abc import Callable, Sequence
from pathlib import Path

from muster.assets import builds, cache, downloads, golang, local_binaries
from muster.assets.components import Component
from muster.errors import HarnessError, UsageError


def find_cached(component: Component, binary: str, print_line: Callable[[str], None]) -> cache.CachedBinary | None:
    """From the cache: the official release first, then a build with any Go version."""
    keys = [f"release-{component.downloads[binary].sha256[:20]}"] if binary in component.downloads else []
    for key in [*keys, f"built-{component.fingerprint}-go*"]:
        if cached := cache.look_up(key, binary, print_line):
            return cached
    return None


def install(component: Component, binaries: Sequence[str], print_line: Callable[[str], None]) -> dict[str, Path]:
    """Download or build the binaries, all of one component, into the cache."""
    policy = _download_policy()
    installed: dict[str, Path] = {}
    title = f"{component.name} {component.version}"
    with cache.install_lock(component.name, title, print_line), cache.scratch_directory(component.name) as work:
        for binary in binaries:  # another process may have installed it while this one waited for the lock
            if cached := find_cached(component, binary, lambda _: None):
                installed[binary] = cached.path
        if policy != "never":
            installed |= _download_all(
                component, [name for name in binaries if name not in installed], work, print_line
            )
        if missing := [name for name in binaries if name not in installed]:
            if policy == "only":
                raise HarnessError(
                    f"{', '.join(missing)} {component.version} could not be downloaded and MUSTER_DOWNLOADS=only "
                    f"forbids building: unset it, or check the network."
                )
            installed |= _build_all(component, missing, work, print_line)
    return installed


def _download_policy() -> str:
    policy = os.environ.get("MUSTER_DOWNLOADS", "")
    if policy not in ("", "never", "only"):
        raise UsageError(f"MUSTER_DOWNLOADS is {policy!r}: set it to 'never' or 'only', or unset it.")
    return policy


def _download_all(
    component: Component, binaries: Sequence[str], work: Path, print_line: Callable[[str], None]
) -> dict[str, Path]:
    installed: dict[str, Path] = {}
    reasons: set[str] = set()
    for binary in binaries:
        if not (download := component.downloads.get(binary)):
            continue
        title = f"{binary} {component.version}"
        host = urllib.parse.urlsplit(download.url).netloc
        try:
            downloads.fetch(download, work / binary, _download_progress(title, host, download.megabytes, print_line))
        except downloads.DownloadError as problem:
            if str(problem) not in reasons:  # the same host fails for the next binary as well
                print_line(f"{title}: not downloaded, {problem}")
            reasons.add(str(problem))
            continue
        source = f"downloaded from {host}"
        installed[binary] = cache.store(work / binary, f"release-{download.sha256[:20]}", source=source)
        print_line(f"{title}: {source}, checksum correct")
    return installed


def _download_progress(
    title: str, host: str, megabytes: int, print_line: Callable[[str], None]
) -> Callable[[int, int], None]:
    due = 0.0

    def report(done: int, total: int) -> None:
        nonlocal due
        if time.monotonic() < due:
            return
        due = time.monotonic() + builds.HEARTBEAT
        print_line(f"{title}: downloading from {host}, {done >> 20} of {total >> 20 or megabytes} MB")

    return report


def _build_all(
    component: Component, binaries: Sequence[str], work: Path, print_line: Callable[[str], None]
) -> dict[str, Path]:
    go = golang.ensure(component.go_needed, print_line)
    start = time.monotonic()
    key = f"built-{component.fingerprint}-go{go.version}"
    installed: dict[str, Path] = {}
    files = [name for name in binaries if name in component.files]
    if files:
        builds.copy_files(component, files, go, work, print_line)
        source = f"taken from the module {component.module}"
        installed |= {name: cache.store(work / name, key, source=source) for name in files}
    binaries = [name for name in binaries if name not in files]
    if not binaries:
        return installed
    builds.build(component, binaries, go, work, print_line)
    for binary in binaries:
        answer = local_binaries.version_output(work / binary)
        if component.answers and not component.is_version_of(answer):
            raise HarnessError(
                f"{binary} was built, but answers --version with {answer.strip()[:80]!r} "
                f"instead of {component.answers!r}: correct {component.directory}/component.toml."
            )
        installed[binary] = cache.store(work / binary, key, source=f"built with Go {go.version}")
    print_line(f"{', '.join(binaries)} {component.version}: built in {time.monotonic() - start:.0f} s")
    return installed
