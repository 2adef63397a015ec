"""Binaries that somebody else put on this machine: named by the user, in KUBEBUILDER_ASSETS, or on PATH.

A named one is taken as it is, whatever its version. The others count only when --version says exactly the pinned
release: a control plane of mixed versions judges nobody.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from muster.assets.catalogue import Component
from muster.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Found:
    """A binary that can be run now."""

    path: Path
    version: str
    source: str


def named(component: Component, binary: str) -> Found | None:
    """By MUSTER_ASSET_<NAME>, or by TEST_ASSET_<NAME> as other test environments call it."""
    suffix = binary.upper().replace("-", "_")
    for variable in (f"MUSTER_ASSET_{suffix}", f"TEST_ASSET_{suffix}"):
        if not (value := os.environ.get(variable)):
            continue
        path = Path(value).expanduser().absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise UsageError(f"{variable} names {path}, which is no executable file: correct or unset it.")
        answer = ask_version(path)
        fits = component.is_version_of(answer)
        version = component.version if fits else (answer.splitlines() or ["says no version"])[0]
        return Found(path=path, version=version, source=variable)
    return None


def installed(component: Component, binary: str, say: Callable[[str], None]) -> Found | None:
    """In KUBEBUILDER_ASSETS or on PATH, if it is of the pinned release; nobody is run who could not tell."""
    if not component.answers:
        return None
    if folder := os.environ.get("KUBEBUILDER_ASSETS"):
        path = Path(folder).absolute() / binary
        if os.access(path, os.X_OK):
            if component.is_version_of(ask_version(path)):
                return Found(path=path, version=component.version, source="KUBEBUILDER_ASSETS")
            say(f"{binary} in KUBEBUILDER_ASSETS is not {component.version}: passed over")
    on_path = shutil.which(binary)
    if on_path and component.is_version_of(ask_version(Path(on_path))):
        return Found(path=Path(on_path).absolute(), version=component.version, source="PATH")
    return None


def ask_version(path: Path) -> str:
    """What a binary prints for --version; empty when it cannot be run."""
    try:
        answer = subprocess.run(
            [path, "--version"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace")
