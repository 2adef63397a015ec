"""A scheduler, an operator or both, installed in a kind cluster: images, manifests, and which Deployment is which.

`muster run --cluster kind --installation FILE` reads the file for a built-in scheduler; a description of the user's own
scheduler (docs/your-scheduler.md) has the same keys.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from muster.cluster.description_file import PAGE, read_description
from muster.cluster.resources import DEPLOYMENT
from muster.errors import UsageError
from muster.processes import Process

KEYS: dict[str, tuple[type, ...]] = {
    "images": (list,),
    "manifests": (list,),
    "deployment": (str,),
    "operator": (str,),
}
KUBECTL = "kubectl"
_FIRST = ("Namespace", "CustomResourceDefinition")  # what other objects need
_ARCHIVE = ".tar"
Manifest = dict[str, Any]


@dataclass(frozen=True)
class DeploymentName:
    """Written as `namespace/name`."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Installation:
    """Paths are absolute. `objects` are manifests that Muster has written itself."""

    title: str  # for messages
    images: tuple[str, ...] = ()  # references that Docker has or can pull, and archives
    manifests: tuple[Path, ...] = ()  # files, and directories with a kustomization
    deployment: str = ""  # of the scheduler; not needed where there is only one, and no operator
    operator: str = ""  # the Deployment of the operator that creates the pods of jobs
    objects: tuple[Manifest, ...] = ()

    @classmethod
    def read(cls, path: str) -> Installation:
        """From a file of its own."""
        file = Path(path).resolve()
        return cls.given(file, read_description(file, KEYS, "an installation"))

    @classmethod
    def given(cls, file: Path, keys: Mapping[str, Any]) -> Installation:
        """From the keys of a file; what is not KEYS is ignored."""
        manifests = tuple(file.parent / str(place) for place in keys.get("manifests", ()))
        for manifest in manifests:
            if not manifest.exists():
                raise UsageError(f"{file}: there is no {manifest}: see {PAGE}")
        return cls(
            title=file.name,
            images=tuple(_image(file, str(image)) for image in keys.get("images", ())),
            manifests=manifests,
            deployment=keys.get("deployment", ""),
            operator=keys.get("operator", ""),
        )

    @property
    def has_scheduler(self) -> bool:
        """Else it has an operator only, and the scheduler is the cluster's own or runs beside it."""
        return bool(self.deployment or not self.operator)

    @property
    def assets(self) -> tuple[str, ...]:
        """The binaries that `render` needs."""
        return (KUBECTL,) if any(place.is_dir() for place in self.manifests) else ()

    def render(self, programs: Mapping[str, Path], scratch: Path) -> list[Manifest]:
        """All manifests; kubectl renders kustomizations, and writes to `scratch`."""
        found = list(self.objects)
        for place in self.manifests:
            text = _kustomized(programs[KUBECTL], place, scratch) if place.is_dir() else place.read_text()
            try:
                found += [one for one in yaml.safe_load_all(text) if one]
            except yaml.YAMLError as problem:
                raise UsageError(f"{place} is not YAML: {str(problem).replace(chr(10), ' ')}") from None
        if not all(isinstance(one, dict) and one.get("kind") and one.get("metadata") for one in found):
            raise UsageError(f"{self.title}: a manifest without kind and metadata")
        return found

    def scheduler_deployment(self, manifests: Sequence[Manifest]) -> DeploymentName | None:
        """The Deployment that schedules: the one that is named, or the only one."""
        if not self.has_scheduler:
            return None
        names = workloads(manifests, DEPLOYMENT.kind)
        if self.deployment:
            names = [name for name in names if str(name) == self.deployment]
        if len(names) != 1:
            known = ", ".join(map(str, workloads(manifests, DEPLOYMENT.kind))) or "none"
            raise UsageError(
                f"{self.title}: which Deployment schedules? Name it with `deployment: namespace/name`; its manifests "
                f"have {known}"
            )
        return names[0]


def workloads(manifests: Sequence[Manifest], kind: str) -> list[DeploymentName]:
    """The names of all objects of a kind that live in a namespace."""
    found = [one["metadata"] for one in manifests if one["kind"] == kind]
    return [DeploymentName(metadata.get("namespace", "default"), metadata["name"]) for metadata in found]


def in_order(manifests: Sequence[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """Those that others need, and the others."""
    first = [one for one in manifests if one["kind"] in _FIRST]
    return first, [one for one in manifests if one["kind"] not in _FIRST]


def is_archive(image: str) -> bool:
    return image.endswith(_ARCHIVE)


def image_reference(image: str) -> str:
    """The reference of an image that is given by itself or as an archive of `docker save`."""
    if not is_archive(image):
        return image
    try:
        with tarfile.open(image) as archive:
            listed = archive.extractfile("manifest.json")
            return str(json.load(listed)[0]["RepoTags"][0]) if listed else ""
    except (OSError, tarfile.TarError, KeyError, ValueError, IndexError, TypeError) as problem:
        raise UsageError(f"{image} is no archive of an image: {problem}") from None


def _image(file: Path, image: str) -> str:
    if not is_archive(image):
        return image
    archive = file.parent / image
    if not archive.is_file():
        raise UsageError(f"{file}: there is no archive {archive}: see {PAGE}")
    return str(archive)


def _kustomized(kubectl: Path, place: Path, scratch: Path) -> str:
    output = scratch / "kustomized.yaml"
    argv = [str(kubectl), "kustomize", str(place), f"--output={output}"]
    process = Process(KUBECTL, argv, directory=scratch, log=scratch / "kustomize.log")
    if process.run_to_end():
        raise UsageError(f"{place} cannot be rendered: {process.log_tail(1)}")
    return output.read_text()
