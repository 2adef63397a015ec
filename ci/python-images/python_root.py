"""A root file system with Python and the packages of a lock: Debian packages that are unpacked and not installed.

apt resolves Python's dependencies against an empty system, so that all are fetched, whatever this machine has. The
image has the Python of this machine's Debian or Ubuntu; wheels are chosen for it, whichever Python runs this script.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
import tomllib
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from muster.assets import cache, image_archive
from muster.errors import HarnessError
from muster.processes import Process

_PACKAGES = ("python3-minimal", "libpython3-stdlib", "libstdc++6")  # the last one for numpy
_SITE = "usr/lib/python3/dist-packages"  # which Debian's Python searches by itself
_UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian")
_LIBRARIES = ("manylinux2014", "manylinux_2_17", "manylinux_2_24", "manylinux_2_28", "manylinux_2_34")
_WRITABLE = ("tmp", "work")
_LAST_LINES = 5
_RELEASE = Path("/etc/os-release")


def files(work: Path, checkout: Path, lock: str, distribution: str) -> dict[str, Path]:
    """Every file of the image by its place; `work` is a scratch directory."""
    root = work / "root"
    _unpack_packages(root, work)
    (root / "usr/bin/python").symlink_to("python3")
    version = (root / "usr/bin/python3").readlink().name.removeprefix("python")
    requirements = (checkout / lock).read_text()
    if distribution:
        requirements = part_of(requirements, needed_by(distribution))
    (work / "requirements.lock").write_text(requirements)
    wheels = ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}", *_platforms()]
    _install(work, root / _SITE, [*wheels, "--require-hashes", f"--requirement={work / 'requirements.lock'}"])
    if distribution:
        built = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(work)]
        _perform(built, work, cwd=checkout)
        _install(work, root / _SITE, ["--no-deps", str(next(work.glob("*.whl")))])
    for place in _WRITABLE:
        (root / place).mkdir()
        (root / place).chmod(0o1777)
    return image_archive.tree(root)


def needed_by(distribution: str) -> set[str]:
    """The names of everything that an installed distribution needs when it runs, extras not counted."""
    needed: set[str] = set()
    asked = [distribution]
    while asked:
        for text in metadata.requires(asked.pop()) or ():
            name = _canonical(re.split(r"[^\w.-]", text, maxsplit=1)[0])
            if "extra ==" not in text and name not in needed and _is_installed(name):
                needed.add(name)
                asked.append(name)
    return needed


def part_of(lock: str, names: set[str]) -> str:
    """The entries of these names, with their hashes."""
    entries = re.split(r"^(?=[A-Za-z])", lock, flags=re.MULTILINE)
    return "".join(entry for entry in entries if _canonical(entry.partition("==")[0]) in names)


def packed(checkout: Path) -> Sequence[str]:
    """What a wheel of the checkout is made from."""
    settings = tomllib.loads((checkout / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    return ["pyproject.toml", *settings["packages"], *settings["force-include"]]


def release() -> str:
    """The release of Debian or Ubuntu whose packages are used."""
    return _RELEASE.read_text() if _RELEASE.exists() else ""


def _unpack_packages(root: Path, work: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise HarnessError("Images without a registry need apt-get (Debian, Ubuntu): use the Dockerfile instead.")
    fetched, nothing = work / "archives", work / "status"
    (fetched / "partial").mkdir(parents=True)
    nothing.touch()
    options = [f"Dir::State::status={nothing}", f"Dir::Cache::archives={fetched}", "APT::Sandbox::User=root"]
    asked = ["install", "--download-only", "--no-install-recommends", "--yes", *_PACKAGES]
    _perform(["apt-get", "--quiet", *(f"--option={option}" for option in options), *asked], work)
    for package in sorted(fetched.glob("*.deb")):
        _perform(["dpkg-deb", "--extract", str(package), str(root)], work)
    for place in _UNREAD:
        shutil.rmtree(root / place, ignore_errors=True)


def _install(work: Path, site: Path, arguments: Sequence[str]) -> None:
    settings = ["--quiet", "--no-compile", f"--cache-dir={cache.directory() / 'pip'}", f"--target={site}", "--upgrade"]
    _perform([sys.executable, "-m", "pip", "install", *settings, *arguments], work)


def _platforms() -> list[str]:
    return [f"--platform={libraries}_{platform.machine()}" for libraries in _LIBRARIES]


def _perform(argv: Sequence[str], work: Path, cwd: Path | None = None) -> None:
    """Run a program to its end; its output is logged, and shown when it fails."""
    name = Path(argv[0]).name
    process = Process(name, argv, directory=cwd or work, log=work / f"{name}.log")
    if process.run_to_end():
        raise HarnessError(f"{name} {process.how_it_ended()}; its last lines:\n{process.log_tail(_LAST_LINES)}")


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
