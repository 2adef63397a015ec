"""Schedulers and operators for `muster run --cluster kind --installation`, as their own manifests install them.

    python ci/kind-schedulers/assemble.py volcano      # prints the path of an installation.yaml

Programs are built from their modules, manifests are those of the same modules, and images are written without an
engine. What is changed in the manifests is in SOURCES. The result is kept in Muster's cache under a key of all of that.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from sources import SOURCES, Source

from muster import assets
from muster.assets import cache, golang, image_archive
from muster.assets.components import component_of
from muster.errors import HarnessError, MusterError

Manifest = dict[str, Any]
_TAGGED = ":"
_USER = "65532:65532"  # as that of the distroless images that most of them are made from


def installation(name: str, print_line: Callable[[str], None]) -> Path:
    """The file that names images and manifests, from the cache or newly made."""
    source = SOURCES[name]
    kept = cache.directory() / "installations" / f"{name}-{_key(source)}"
    if not (kept / "installation.yaml").is_file():
        programs = assets.ensure(tuple({*source.programs.values(), "kubectl"}), print_line=print_line)
        print_line(f"{name}: putting images and manifests together")
        with cache.install_lock(f"installation-{name}", name, print_line), cache.scratch_directory(name) as work:
            manifests = source.change(_manifests(source, programs["kubectl"], work))
            (work / "manifests.yaml").write_text(yaml.safe_dump_all(manifests, sort_keys=False))
            image_archive.write(_images(source, manifests, programs, work), work / "images.tar")
            content = {"images": ["images.tar"], "manifests": ["manifests.yaml"], **source.keys}
            (work / "installation.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
            with cache.writing():
                kept.mkdir(parents=True, exist_ok=True)
                for file in ("images.tar", "manifests.yaml", "installation.yaml"):
                    (work / file).replace(kept / file)
    return kept / "installation.yaml"


def used_images(manifests: list[Manifest]) -> set[str]:
    """The images of all containers of workloads."""
    found = set()
    for manifest in manifests:
        pod = manifest.get("spec", {}).get("template", {}).get("spec", {})
        for container in (*pod.get("initContainers", ()), *pod.get("containers", ())):
            found.add(container["image"])
    return found


def _images(
    source: Source, manifests: list[Manifest], programs: dict[str, Path], work: Path
) -> list[image_archive.Image]:
    """One for each image that the manifests use, with one program, by the name of its repository."""
    made, temporary = [], work / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    for reference in sorted(used_images(manifests)):
        repository = reference.rpartition("/")[2].partition(_TAGGED)[0]
        if repository not in source.programs:
            raise HarnessError(f"no program is known for the image {reference}: add it to SOURCES")
        place = source.places.get(repository, repository)
        files = {"tmp": temporary, place: programs[source.programs[repository]]}
        settings = {"Entrypoint": [f"/{place}"], "User": _USER}
        tagged = reference if _TAGGED in reference.rpartition("/")[2] else f"{reference}:latest"
        made.append(image_archive.Image(references=[tagged], files=files, settings=settings))
    return made


def _manifests(source: Source, kubectl: Path, work: Path) -> list[Manifest]:
    place = _module_directory(source, work) / source.manifests
    text = _output([kubectl, "kustomize", place], work) if place.is_dir() else place.read_text()
    return [one for one in yaml.safe_load_all(text) if one]


def _module_directory(source: Source, work: Path) -> Path:
    component = component_of(source.component)
    go = golang.ensure(component.go_needed, lambda _: None)
    environment = golang.environment(work)
    for command in (["mod", "download", component.module], ["list", "-m", "-f", "{{.Dir}}", component.module]):
        found = _output([go.path, *command], component.directory, environment)
    return Path(found.strip())


def _output(argv: list[Any], directory: Path, environment: dict[str, str] | None = None) -> str:
    outcome = subprocess.run(argv, cwd=directory, env=environment, capture_output=True, text=True, check=False)
    if outcome.returncode:
        last = (outcome.stderr.strip() or "no output").splitlines()[-1]
        raise HarnessError(f"{' '.join(map(str, argv[:3]))} ended with {outcome.returncode}: {last}")
    return outcome.stdout


def _key(source: Source) -> str:
    digest = hashlib.sha256()
    for program in sorted({*source.programs.values(), source.component}):
        digest.update(component_of(program).fingerprint.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _print_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Make an installation for a kind cluster; prints the path of its file."
    )
    parser.add_argument("name", choices=SOURCES)
    try:
        print(installation(parser.parse_args().name, _print_line))
    except MusterError as error:
        _print_line(str(error))
        sys.exit(error.exit_code)
