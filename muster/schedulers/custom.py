"""A scheduler that its user describes in a YAML file: how to start it, which objects it reads, and what it claims.

docs/your-scheduler.md shows the file. It is read and checked before anything is started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from muster.cluster.api import Api
from muster.cluster.description_file import PAGE, read_description, yaml_key
from muster.cluster.kind.installation import KEYS, Installation, image_reference
from muster.errors import UsageError
from muster.processes import Process
from muster.schedulers.base import CLAIMS_OF_EVERY_SCHEDULER, ProcessContext, Scheduler
from muster.schedulers.crds import install_crds
from muster.schedulers.deployment_manifests import deployment_manifests, substitute
from muster.schedulers.dialect import Dialect
from muster.schedulers.koordinator import KoordinatorDialect
from muster.schedulers.volcano import VolcanoDialect
from muster.suite.behaviours import CAPABILITIES

_DIALECTS: dict[str, type[Dialect]] = {
    "kubernetes": Dialect,
    "volcano": VolcanoDialect,
    "koordinator": KoordinatorDialect,
}
_TYPES: dict[str, tuple[type, ...]] = {
    "command": (list,),
    "scheduler_name": (str,),
    "claims": (dict,),
    "dialect": (str,),
    "longest_backoff": (int, float),
    "files": (dict,),
    "definitions": (list,),
    **KEYS,
}


@dataclass(frozen=True, kw_only=True)
class SchedulerDescription:
    """The checked content of the file."""

    file: Path
    command: list[str]
    scheduler_name: str
    claims: dict[str, str]
    dialect: str = "kubernetes"
    longest_backoff: float = 10.0
    files: dict[str, str] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    manifests: list[str] = field(default_factory=list)
    deployment: str = ""
    operator: str = ""

    @classmethod
    def read(cls, path: str) -> SchedulerDescription:
        file = Path(path).resolve()
        return cls._checked(file, read_description(file, _TYPES, "a scheduler"))

    @classmethod
    def _checked(cls, file: Path, given: dict[str, Any]) -> SchedulerDescription:
        started_by = () if given.get("manifests") or given.get("images") else ("command",)
        for key in (*started_by, "scheduler_name", "claims"):
            if not given.get(key):
                raise UsageError(f"{file}: {yaml_key(key)!r} is missing: see {PAGE}")
        unknown = [capability for capability in given["claims"] if capability not in CAPABILITIES]
        if unknown:
            raise UsageError(f"{file}: unknown capability {unknown[0]!r}: choose from {', '.join(CAPABILITIES)}")
        if given.get("dialect", "kubernetes") not in _DIALECTS:
            raise UsageError(f"{file}: unknown dialect {given['dialect']!r}: choose from {', '.join(_DIALECTS)}")
        given["command"] = [str(argument) for argument in given.get("command", ())]
        return cls(file=file, **given)

    def installation(self) -> Installation:
        """The user's manifests, or else a Deployment of the image with the command and the files."""
        keys = {name: getattr(self, name) for name in KEYS}
        keys["manifests"] = [*self.definitions, *self.manifests]
        given = Installation.given(self.file, keys)
        if self.manifests:
            return given
        if len(self.images) != 1:
            raise UsageError(f"{self.file}: several images and no 'manifests' that use them: see {PAGE}")
        image = image_reference(given.images[0])
        objects = deployment_manifests(self.scheduler_name, image, self.command, self.files)
        return replace(given, objects=tuple(objects))


class CustomScheduler(Scheduler):
    """`--scheduler mine=my-scheduler.yaml`"""

    name: ClassVar[str] = "mine"
    assets: ClassVar[tuple[str, ...]] = ()

    def __init__(self, configuration: str, context: ProcessContext) -> None:
        self._description = SchedulerDescription.read(configuration)
        super().__init__(configuration, context)
        self.longest_backoff = float(self._description.longest_backoff)

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return {**CLAIMS_OF_EVERY_SCHEDULER, **SchedulerDescription.read(configuration).claims}

    @classmethod
    def resolve(cls, configuration: str) -> str:
        return str(SchedulerDescription.read(configuration).file)

    @classmethod
    def installation(cls, configuration: str, cluster: str) -> Installation | None:
        """What is installed in a cluster of this kind; None: the command is started beside it."""
        description = SchedulerDescription.read(configuration)
        if not (description.images or description.manifests):
            return None
        if cluster != "kind":
            if description.command:
                return None
            raise UsageError(f"{description.file.name} has no command, only images and manifests: use --cluster kind")
        return description.installation()

    def _make_dialect(self) -> Dialect:
        return _DIALECTS[self._description.dialect](self._description.scheduler_name)

    def settings(self) -> dict[str, str]:
        description = self._description
        return {
            "scheduler": f"{description.scheduler_name} as described in {description.file.name}",
            "scheduler longest back-off": f"{self.longest_backoff:g} s",
        }

    def install(self, api: Api) -> None:
        for file in self._description.definitions:
            install_crds(api, self._description.file.parent / file)

    def _prepare(self) -> list[Process]:
        description, directory = self._description, self.context.directory
        values = {"{kubeconfig}": str(self.context.admin_kubeconfig), "{directory}": str(directory)}
        for name, text in description.files.items():
            (directory / Path(name).name).write_text(substitute(str(text), values))
        program, *arguments = (substitute(argument, values) for argument in description.command)
        if "/" in program:
            program = str((description.file.parent / program).absolute())  # not resolved: a venv's python is a link
        log = directory / "scheduler.log"
        return [Process(description.scheduler_name, [program, *arguments], directory=directory, log=log)]
