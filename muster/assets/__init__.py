"""The real binaries of the control plane and of schedulers: found, downloaded or built.

The order: a path named by the user, KUBEBUILDER_ASSETS and PATH when the version fits exactly, the cache, the official
download with a pinned checksum, `go build`. What steers it, all of it optional:

    MUSTER_ASSET_<NAME>   the binary to take, such as MUSTER_ASSET_KUBE_APISERVER (TEST_ASSET_<NAME> is understood, too)
    KUBEBUILDER_ASSETS    a directory of binaries
    MUSTER_CACHE          where downloads and builds are kept; otherwise $XDG_CACHE_HOME/muster or ~/.cache/muster
    MUSTER_DOWNLOADS      'never' builds everything, 'only' builds nothing
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from muster.assets.catalogue import component_of
from muster.assets.obtaining import cached, obtain
from muster.assets.places import Found, installed, named

__all__ = ["CONTROL_PLANE", "Found", "ensure", "find"]

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


def find(name: str, *, say: Callable[[str], None] = lambda _: None) -> Found | None:
    """The binary if it can be run now; nothing is fetched or made. `say` hears of what was passed over, and why."""
    component = component_of(name)
    if found := named(component, name) or installed(component, name, say):
        return found
    if stored := cached(component, name, say):
        return Found(path=stored.path, version=component.version, source=f"cache, {stored.source}")
    return None


def ensure(names: Sequence[str], *, say: Callable[[str], None]) -> dict[str, Path]:
    """The path of every binary; what is missing is downloaded or built, and `say` hears of it line by line."""
    paths: dict[str, Path] = {}
    missing: dict[str, list[str]] = {}
    for name in names:
        if found := find(name, say=say):
            paths[name] = found.path
        else:
            missing.setdefault(component_of(name).name, []).append(name)
    # The small ones first: whatever is wrong with the network or the disk then shows within a minute.
    for wanted in sorted(missing.values(), key=lambda wanted: component_of(wanted[0]).cpu_seconds):
        paths |= obtain(component_of(wanted[0]), wanted, say)
    return {name: paths[name] for name in names}
