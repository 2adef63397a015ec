"""A Docker engine of Debian's packages, unpacked into the cache and not installed: no service, no user.

apt says which packages this machine lacks for docker.io; programs find their libraries by the environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from muster.assets import cache
from muster.errors import HarnessError
from muster.processes import Reaper

_PACKAGE = "docker.io"
# The names are links that the package's installation would have made.
_FIREWALL = ("iptables", "iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore")


def engine_environment(print_line: Callable[[str], None]) -> dict[str, str]:
    """The environment in which `dockerd`, `containerd`, `runc` and `iptables` can be run."""
    if shutil.which("dockerd"):
        return dict(os.environ)
    home = cache.directory() / "kind" / "engine"
    with cache.install_lock("kind-engine", "the Docker engine", print_line):
        if not home.is_dir():
            print_line(f"no Docker engine here: fetching {_PACKAGE} and what it needs from Debian (about 70 MB)")
            _unpack(home)
    libraries = [str(path) for path in (*home.glob("usr/lib/*-linux-gnu"), *home.glob("lib/*-linux-gnu"))]
    places = [str(home / place) for place in ("usr/sbin", "usr/bin", "sbin", "bin")]
    return {
        **os.environ,
        "PATH": os.pathsep.join([*places, os.environ.get("PATH", os.defpath)]),
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "XTABLES_LIBDIR": next((str(path) for path in home.glob("usr/lib/*/xtables")), ""),
    }


def _unpack(home: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise HarnessError("There is no Docker engine here and no apt-get to fetch one with: install Docker.")
    with cache.scratch_directory("kind-engine") as work:
        fetched, tree = work / "archives", work / "engine"
        (fetched / "partial").mkdir(parents=True)
        options = ["-o", f"Dir::Cache::archives={fetched}", "-o", "APT::Sandbox::User=root"]
        wanted = ["install", "--download-only", "--no-install-recommends", "--yes", _PACKAGE]
        _run(["apt-get", "--quiet", *options, *wanted])
        for package in sorted(fetched.glob("*.deb")):
            _run(["dpkg-deb", "--extract", str(package), str(tree)])
        if (tree / "usr/sbin/xtables-nft-multi").exists():
            for name in _FIREWALL:
                (tree / "usr/sbin" / name).symlink_to("xtables-nft-multi")
        with cache.writing():
            home.parent.mkdir(parents=True, exist_ok=True)
            tree.replace(home)


def _run(argv: list[str]) -> None:
    outcome = subprocess.run(argv, env=Reaper.current().tagged(os.environ), capture_output=True, text=True, check=False)
    if outcome.returncode:
        said = (outcome.stderr or outcome.stdout).strip().splitlines() or ["no output"]
        raise HarnessError(f"{_PACKAGE} cannot be had: {argv[0]} ended with {outcome.returncode}: {said[-1]}")
