"""Binaries that are already on this machine: named by the user, in KUBEBUILDER_ASSETS, or on PATH.

A named one is used whatever its version. The others are used only when --version says exactly the pinned release: a
control plane of mixed versions gives no valid verdicts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from muster import timeouts
from muster.assets.components import Component
from muster.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Found:
    """A binary that can be run now."""

    path: Path
    version: str
    source: str


def named_by_user(component: Component, binary: str) -> Found | None:
    """The binary of MUSTER_ASSET_<NAME>, or of TEST_ASSET_<NAME> as other test environments call it."""
    suffix = binary.upper().replace("-", "_")
    for variable in (f"MUSTER_ASSET_{suffix}", f"TEST_ASSET_{suffix}"):
        if not (value := os.environ.get(variable)):
            continue
        path = Path(value).expanduser().absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise UsageError(f"{variable} names {path}, which is not an executable file: correct or unset it.")
        answer = version_output(path)
        fits = component.is_version_of(answer)
        version = component.version if fits else (answer.splitlines() or ["no version"])[0]
        return Found(path=path, version=version, source=variable)
    return None


def installed(component: Component, binary: str, print_line: Callable[[str], None]) -> Found | None:
    """In KUBEBUILDER_ASSETS or on PATH, if it is the pinned release; one without --version is never used."""
    if not component.answers:
        return None
    if folder := os.environ.get("KUBEBUILDER_ASSETS"):
        path = Path(folder).absolute() / binary
        if os.access(path, os.X_OK):
            if component.is_version_of(version_output(path)):
                return Found(path=path, version=component.version, source="KUBEBUILDER_ASSETS")
            print_line(f"{binary} in KUBEBUILDER_ASSETS is not {component.version}: skipped")
    on_path = shutil.which(binary)
    if on_path and component.is_version_of(version_output(Path(on_path))):
        return Found(path=Path(on_path).absolute(), version=component.version, source="PATH")
    return None


def version_output(path: Path) -> str:
    """The output of --version; empty when the binary cannot be run."""
    try:
        answer = subprocess.run(
            [path, "--version"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeouts.VERSION_QUERY,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode(errors="replace")
