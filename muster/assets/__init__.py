"""The binaries of the control plane and of schedulers: found, downloaded or built.

The order: a path named by the user, KUBEBUILDER_ASSETS and PATH when the version fits exactly, the cache, the official
download with a pinned checksum, `go build`. Environment variables, all optional:

    MUSTER_ASSET_<NAME>   the binary to take, such as MUSTER_ASSET_KUBE_APISERVER (or TEST_ASSET_<NAME>)
    KUBEBUILDER_ASSETS    a directory of binaries
    MUSTER_CACHE          where downloads and builds are kept; otherwise $XDG_CACHE_HOME/muster or ~/.cache/muster
    MUSTER_DOWNLOADS      'never' builds everything, 'only' builds nothing
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from muster.assets.components import component_of
from muster.assets.install import find_cached, install
from muster.assets.local_binaries import Found, installed, named_by_user

__all__ = ["CONTROL_PLANE", "Found", "ensure", "find"]

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def find(name: str, *, print_line: Callable[[str], None] = lambda _: None) -> Found | None:
    """The binary if it is available; nothing is downloaded or built. `print_line` reports skipped binaries."""
    component = component_of(name)
    if found := named_by_user(component, name) or installed(component, name, print_line):
        return found
    if cached := find_cached(component, name, print_line):
        return Found(path=cached.path, version=component.version, source=f"cache, {cached.source}")
    return None


def ensure(names: Sequence[str], *, print_line: Callable[[str], None]) -> dict[str, Path]:
    """The path of every binary; missing ones are downloaded or built, and `print_line` reports the progress."""
    paths: dict[str, Path] = {}
    missing: dict[str, list[str]] = {}
    for name in names:
        if found := find(name, print_line=print_line):
            paths[name] = found.path
        else:
            missing.setdefault(component_of(name).name, []).append(name)
    # The small ones first: a broken network or a full disk then shows within a minute.
    for wanted in sorted(missing.values(), key=lambda wanted: component_of(wanted[0]).cpu_seconds):
        paths |= install(component_of(wanted[0]), wanted, print_line)
    return {name: paths[name] for name in names}
