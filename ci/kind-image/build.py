"""A kind node image from package registries alone: Go modules and Debian packages, no image registry, no engine.

    python ci/kind-image/build.py

Prints the path of an archive for `docker load` or `muster run --cluster kind --kind-image`. It is kept in Muster's
cache under a key of everything that it is made from: versions, build recipes, these scripts and files.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import debian
import node

from muster import assets
from muster.assets import cache
from muster.assets import image_archive as archive
from muster.assets.components import Component, component_of
from muster.errors import HarnessError, MusterError

_NAME = "muster/kind-node"
_ENTRYPOINT = ["/usr/local/bin/entrypoint", "/sbin/init"]
_SETTINGS = {
    "Env": ["container=docker", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
    "Entrypoint": _ENTRYPOINT,
    "StopSignal": "SIGRTMIN+3",  # what systemd takes for a shutdown
}


def node_image(print_line: Callable[[str], None]) -> Path:
    """The archive, from the cache or newly made."""
    programs = [*(name for names in node.NODE_PROGRAMS.values() for name in names), *node.POD_PROGRAMS]
    kind, kubernetes = component_of("kind"), component_of("kube-apiserver")
    components = {component.name: component for component in map(component_of, ("kind", *programs))}
    kept = cache.directory() / "kind" / f"node-v{kubernetes.version}-{_key(components)}.tar"
    if kept.is_file():
        return kept
    _check_root()
    start = time.monotonic()
    files = assets.ensure([*programs, *kind.files], print_line=print_line)
    with (
        cache.install_lock("kind-image", "the kind node image", print_line),
        cache.scratch_directory("kind-image") as work,
    ):
        if kept.is_file():  # another process made it while this one waited
            return kept
        root = work / "root"
        debian.unpack_root(root, work, print_line)
        print_line(f"kind node v{kubernetes.version}: putting it together")
        node.furnish(root, kind, files, kubernetes.version)
        node.preload(root, files, kubernetes.version, work)
        reference = f"{_NAME}:{kept.stem.removeprefix('node-')}"
        image = archive.Image(references=[reference], files=archive.tree(root), settings=_SETTINGS)
        archive.write([image], work / kept.name)
        with cache.writing():
            for outdated in kept.parent.glob("node-*.tar"):
                outdated.unlink()
            (work / kept.name).replace(kept)
    print_line(f"{reference}: made in {time.monotonic() - start:.0f} s, {kept.stat().st_size >> 20} MB")
    return kept


def _key(components: dict[str, Component]) -> str:
    digest = hashlib.sha256()
    for name, component in sorted(components.items()):
        digest.update(f"{name} {component.fingerprint}\n".encode())
    own = sorted(path for path in Path(__file__).parent.rglob("*") if path.is_file() and path.suffix != ".pyc")
    for file in (*own, Path(archive.__file__)):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _check_root() -> None:
    if os.geteuid() != 0:
        raise HarnessError(
            "Making a kind node image needs root, because debootstrap does: run it as root with MUSTER_CACHE set to "
            "your cache, or take kind's stock image where a registry can be reached."
        )


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    try:
        print(node_image(_print_line))
    except MusterError as error:
        _print_line(str(error))
        sys.exit(error.exit_code)
