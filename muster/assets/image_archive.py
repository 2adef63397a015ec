"""Container images in one archive, written without any engine: `docker load` and `ctr images import` read it.

One layer per image and no time stamps: the same files give the same digests.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muster.assets.cache import file_hash

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True)
class Image:
    """The files of one image, its references, and its configuration."""

    references: Sequence[str]
    files: Mapping[str, Path]  # place in the image -> file, link or directory of this machine
    settings: Mapping[str, Any] = field(default_factory=dict)  # of its configuration: Entrypoint, StopSignal


def write(images: Sequence[Image], into: Path) -> None:
    """Write all images into one archive. Layers are temporary files beside it: twice the space is needed."""
    entries, known = [], set()
    with tarfile.open(into, "w", format=tarfile.GNU_FORMAT) as archive:
        for image in images:
            layer = into.with_suffix(".layer")
            _write_layer(image.files, layer)
            digest = file_hash(layer)
            configuration = json.dumps(_configuration(image, digest), sort_keys=True).encode()
            name = f"{hashlib.sha256(configuration).hexdigest()}.json"
            _add_text(archive, name, configuration)
            if digest not in known:
                archive.add(layer, f"{digest}/layer.tar", filter=_timeless)
            known.add(digest)
            layer.unlink()
            entries.append({"Config": name, "RepoTags": list(image.references), "Layers": [f"{digest}/layer.tar"]})
        _add_text(archive, "manifest.json", json.dumps(entries).encode())


def tree(root: Path) -> dict[str, Path]:
    """Every file, link and directory below a root file system, by its place in it."""
    return {str(path.relative_to(root)): path for path in sorted(root.rglob("*"))}


def _write_layer(files: Mapping[str, Path], into: Path) -> None:
    with tarfile.open(into, "w", format=tarfile.GNU_FORMAT) as layer:
        for place, source in files.items():
            layer.add(source, place.lstrip("/"), recursive=False, filter=_timeless)


def _timeless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def _configuration(image: Image, digest: str) -> dict[str, Any]:
    return {
        "architecture": _ARCHITECTURES[platform.machine()],
        "os": "linux",
        "config": {"Env": [_PATH], **image.settings},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }


def _add_text(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
