"""The components that can be installed: one `ci/toolchain/<component>/component.toml` each, beside its go.mod.

A component is what is released and built together (kubernetes); a binary is one program of it (kube-apiserver).
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muster.errors import UsageError
from muster.suite import paths

_RELEASE_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, kw_only=True)
class Download:
    """The official release file of one binary for one architecture."""

    url: str
    sha256: str
    member: str = ""  # the file inside the archive, when the release is a .tar.gz
    megabytes: int


@dataclass(frozen=True, kw_only=True)
class Component:
    """One upstream release: its version, and how to build it."""

    name: str
    version: str
    answers: str  # what its binaries print for --version, up to a space or the end of the line; empty: they have none
    cpu_seconds: int
    directory: Path
    build: dict[str, Any]
    packages: dict[str, str]  # binary -> Go package
    module: str  # the Go module that carries the files below
    files: dict[str, str]  # name in the cache -> files of the module, joined to one (CRDs, configurations)
    downloads: dict[str, Download]  # binary -> the release file for this machine, if there is one

    @property
    def go_needed(self) -> tuple[int, ...]:
        """The `go` line of its go.mod."""
        found = re.search(r"^go ([\d.]+)", (self.directory / "go.mod").read_text(), re.MULTILINE)
        return version_numbers(found[1]) if found else ()

    @property
    def fingerprint(self) -> str:
        """Changes whenever a build could come out different, the Go version apart."""
        digest = hashlib.sha256()
        for file in ("go.mod", "go.sum", *sorted(path.name for path in self.directory.glob("*.go"))):
            digest.update(hashlib.sha256((self.directory / file).read_bytes()).digest())
        recipe = [self.build, self.packages, platform.machine(), *([self.files] if self.files else [])]
        digest.update(json.dumps(recipe, sort_keys=True).encode())
        return digest.hexdigest()[:20]

    def is_version_of(self, output: str) -> bool:
        """Whether a binary that printed this for --version is of exactly this release; never where it has none."""
        return self.answers != "" and re.search(rf"^{re.escape(self.answers)}(\s|$)", output, re.MULTILINE) is not None


def version_numbers(text: str) -> tuple[int, ...]:
    """'1.26.0' or 'go1.26rc1' as numbers that compare."""
    found = re.search(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def components() -> list[Component]:
    """All components, sorted by name."""
    return [_read(file) for file in sorted(paths.toolchain().glob("*/component.toml"))]


def component_of(name: str) -> Component:
    """The component that a binary, or a file that comes with it, belongs to."""
    known = components()
    for component in known:
        if name in component.packages or name in component.files:
            return component
    names = ", ".join(sorted(name for component in known for name in component.packages))
    raise UsageError(f"There is no binary {name!r}: choose from {names}.")


def _read(file: Path) -> Component:
    table = tomllib.loads(file.read_text())
    if "version_of" in table:  # a component of the same release: the version stands in one place
        released_with = file.parent.parent / table["version_of"] / file.name
        table["version"] = tomllib.loads(released_with.read_text())["version"]
    table = _with_version(table, table["version"])
    binaries = table["binaries"]
    architecture = _RELEASE_ARCHITECTURES.get(platform.machine(), "") if sys.platform == "linux" else ""
    return Component(
        name=file.parent.name,
        version=table["version"],
        answers=table["answers"],
        cpu_seconds=table["cpu_seconds"],
        directory=file.parent,
        build=table["build"],
        packages={name: binary["package"] for name, binary in binaries.items()},
        module=table.get("files", {}).get("module", ""),
        files=table.get("files", {}).get("paths", {}),
        downloads={
            name: Download(megabytes=binary["download_mb"], **binary["downloads"][architecture])
            for name, binary in binaries.items()
            if architecture in binary.get("downloads", {})
        },
    )


def _with_version(value: Any, version: str) -> Any:
    """The same table with {version}, {major} and {minor} filled in, so that an upgrade changes one line."""
    if isinstance(value, dict):
        return {key: _with_version(item, version) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_version(item, version) for item in value]
    if not isinstance(value, str):
        return value
    major, minor, *_ = (*version.split("."), "", "")
    return value.replace("{version}", version).replace("{major}", major).replace("{minor}", minor)
