"""Images of Muster's own Python programs without an image registry: packages of Debian and of PyPI, and no engine.

    python ci/python-images/build.py scheduler      # the reference scheduler and operator: muster-scheduler:0.2.0
    python ci/python-images/build.py suite          # the suite with its control plane: muster:0.2.0

Prints the path of an archive for `docker load` or `kind load image-archive`. It is kept in Muster's cache under a key
of everything that it is made from. Where a registry can be reached, scheduler/Dockerfile and Dockerfile make the same.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import python_root

from muster import __version__, assets
from muster.assets import cache, image_archive
from muster.assets.components import component_of
from muster.errors import MusterError

ROOT = Path(__file__).resolve().parents[2]
_PROGRAMS = "usr/local/bin"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One image: the lock of its Python packages, what is copied from the checkout, and its configuration."""

    reference: str
    lock: str
    distribution: str = ""  # only what this distribution needs of the lock, and the distribution itself
    copied: str = ""  # a directory of the checkout, into /app
    programs: tuple[str, ...] = ()  # binaries of ci/toolchain
    settings: dict[str, Any] = field(default_factory=dict)


RECIPES = {
    "scheduler": Recipe(
        reference=f"docker.io/library/muster-scheduler:{__version__}",
        lock="scheduler/requirements.lock",
        copied="scheduler",
        settings={"Entrypoint": ["python", "-m", "scheduler"], "User": "65532:65532", "WorkingDir": "/app"},
    ),
    "suite": Recipe(
        reference=f"docker.io/library/muster:{__version__}",
        lock="requirements.lock",
        distribution="passmuster",
        programs=assets.CONTROL_PLANE,
        settings={
            "Entrypoint": ["python", "-m", "muster"],
            "Cmd": ["run"],
            "User": "65534:65534",
            "WorkingDir": "/work",
            "Env": [f"PATH=/{_PROGRAMS}:/usr/bin:/bin", "HOME=/tmp"],
        },
    ),
}


def image(name: str, print_line: Callable[[str], None]) -> Path:
    """The archive, from the cache or newly made."""
    recipe = RECIPES[name]
    kept = cache.directory() / "images" / f"{name}-{_key(recipe)}.tar"
    if kept.is_file():
        return kept
    programs = assets.ensure(recipe.programs, print_line=print_line)
    title = f"the image {recipe.reference}"
    with cache.install_lock(f"image-{name}", title, print_line), cache.scratch_directory(f"image-{name}") as work:
        if kept.is_file():  # another process made it while this one waited
            return kept
        print_line(f"{recipe.reference}: fetching packages of Debian and of PyPI, and putting them together")
        start = time.monotonic()
        files = python_root.files(work, ROOT, recipe.lock, recipe.distribution)
        files |= {f"{_PROGRAMS}/{program}": path for program, path in programs.items()}
        files |= _copied(recipe)
        one = image_archive.Image(references=[recipe.reference], files=files, settings=recipe.settings)
        image_archive.write([one], work / kept.name)
        with cache.writing():
            kept.parent.mkdir(parents=True, exist_ok=True)
            for outdated in kept.parent.glob(f"{name}-*.tar"):
                outdated.unlink()
            (work / kept.name).replace(kept)
    print_line(f"{recipe.reference}: made in {time.monotonic() - start:.0f} s, {kept.stat().st_size >> 20} MB")
    return kept


def _copied(recipe: Recipe) -> dict[str, Path]:
    return {f"app/{path.relative_to(ROOT)}": path for path in _sources(recipe.copied)} if recipe.copied else {}


def _sources(place: str) -> list[Path]:
    found = (ROOT / place).rglob("*")
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def _key(recipe: Recipe) -> str:
    digest = hashlib.sha256(repr((recipe, python_root.release())).encode())
    for program in recipe.programs:
        digest.update(component_of(program).fingerprint.encode())
    copied = [recipe.copied] if recipe.copied else python_root.packed(ROOT)
    for place in (recipe.lock, *copied, str(Path(__file__).parent.relative_to(ROOT))):
        for file in [ROOT / place] if (ROOT / place).is_file() else _sources(place):
            digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make an image without a registry; prints the path of its archive.")
    parser.add_argument("image", choices=RECIPES)
    try:
        print(image(parser.parse_args().image, _print_line))
    except MusterError as error:
        _print_line(str(error))
        sys.exit(error.exit_code)
