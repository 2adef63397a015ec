"""A small Debian root file system, made by debootstrap from Debian's own mirror, and kept in the cache as it is.

Bookworm, not its successor: the systemd of later releases refuses machines with cgroup v1. debootstrap mounts /proc
below the new root; it runs in a mount namespace of its own, so that an interrupted one leaves nothing mounted.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from muster.assets import cache
from muster.errors import HarnessError
from muster.processes import Process

_RELEASE = "bookworm"
_MIRROR = "http://deb.debian.org/debian"
# What kind's own base image installs, less storage clients and rootless support; runc, the network plugins and the
# process that holds a pod's namespaces come from Debian, too.
_PACKAGES = (
    "systemd,systemd-sysv,dbus,conntrack,iptables,nftables,iproute2,ethtool,util-linux,mount,kmod,libseccomp2,pigz,"
    "e2fsprogs,bash,ca-certificates,curl,jq,procps,hostname,runc,containernetworking-plugins,catatonit"
)
_UNREAD = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info", "var/lib/apt/lists", "var/cache/apt")
_LAST_LINES = 5


def unpack_root(into: Path, work: Path, print_line: Callable[[str], None]) -> None:
    """The root file system at `into`, from the cache or from Debian's mirror."""
    recipe = f"{_RELEASE} {_MIRROR} {_PACKAGES} {_UNREAD} {platform.machine()}"
    kept = cache.directory() / "kind" / f"debian-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}.tar"
    if not kept.is_file():
        print_line(f"Debian {_RELEASE}: fetching and unpacking about 150 packages (some minutes)")
        fresh = work / "fresh"
        _bootstrap(fresh, work)
        for place in _UNREAD:
            shutil.rmtree(fresh / place, ignore_errors=True)
        perform("tar", ["tar", "--numeric-owner", "--exclude=./dev/*", "-C", fresh, "-cf", work / kept.name, "."], work)
        with cache.writing():
            kept.parent.mkdir(parents=True, exist_ok=True)
            (work / kept.name).replace(kept)
        shutil.rmtree(fresh)
    into.mkdir()
    perform("tar", ["tar", "--numeric-owner", "-C", into, "-xpf", kept], work)


def perform(name: str, argv: Sequence[str | Path], work: Path, env: Mapping[str, str] | None = None) -> None:
    """Run a program to its end; its output is logged, and shown when it fails."""
    process = Process(name, argv, directory=work, log=work / f"{name}.log", env=env)
    if process.run_to_end():
        raise HarnessError(f"{name} {process.how_it_ended()}; its last lines:\n{process.log_tail(_LAST_LINES)}")


def _bootstrap(into: Path, work: Path) -> None:
    program, environment = _debootstrap(work)
    alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    options = ["--variant=minbase", "--force-check-gpg", f"--include={_PACKAGES}"]
    perform("debootstrap", [*alone, program, *options, _RELEASE, into, _MIRROR], work, environment)


def _debootstrap(work: Path) -> tuple[str | Path, Mapping[str, str]]:
    """The installed debootstrap, or else its unpacked package: a few scripts that need no installation."""
    if installed := shutil.which("debootstrap"):
        return installed, os.environ
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise HarnessError("Making a node image needs debootstrap, and there is no apt-get to fetch it: install it.")
    perform("apt-get", ["apt-get", "download", "debootstrap"], work)
    package = next(work.glob("debootstrap_*.deb"))
    perform("dpkg-deb", ["dpkg-deb", "-x", package, work / "debootstrap"], work)
    home = work / "debootstrap" / "usr"
    return home / "sbin" / "debootstrap", {**os.environ, "DEBOOTSTRAP_DIR": str(home / "share" / "debootstrap")}
