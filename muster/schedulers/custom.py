"""A scheduler that its user describes in a YAML file: how to start it, which objects it reads, and what it claims.

docs/your-scheduler.md shows the file. It is read and checked before anything is started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.errors import UsageError
from muster.processes import Process
from muster.schedulers.base import CLAIMS_OF_EVERY_SCHEDULER, ProcessContext, Scheduler
from muster.schedulers.crds import install_crds
from muster.schedulers.dialect import Dialect
from muster.schedulers.koordinator import KoordinatorDialect
from muster.schedulers.volcano import VolcanoDialect
from muster.suite.behaviours import CAPABILITIES

_DIALECTS: dict[str, type[Dialect]] = {
    "kubernetes": Dialect,
    "volcano": VolcanoDialect,
    "koordinator": KoordinatorDialect,
}
_PAGE = "docs/your-scheduler.md"
_TYPES: dict[str, tuple[type, ...]] = {
    "command": (list,),
    "scheduler_name": (str,),
    "claims": (dict,),
    "dialect": (str,),
    "longest_backoff": (int, float),
    "files": (dict,),
    "definitions": (list,),
}
_TYPE_NAMES = {list: "a list", dict: "a mapping", str: "a string", int: "a number", float: "a number"}


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

    @classmethod
    def read(cls, path: str) -> SchedulerDescription:
        file = Path(path).resolve()
        try:
            loaded = yaml.safe_load(file.read_text())
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem).replace("\n", " ")
            raise UsageError(f"cannot read the scheduler description {file}: {reason}") from None
        if not isinstance(loaded, dict):
            raise UsageError(f"{file} does not describe a scheduler: {_PAGE} has an example")
        given = {str(key).replace("-", "_"): value for key, value in loaded.items()}
        return cls._checked(file, given)

    @classmethod
    def _checked(cls, file: Path, given: dict[str, Any]) -> SchedulerDescription:
        for key, value in given.items():
            if key not in _TYPES:
                known = ", ".join(sorted(map(_yaml_key, _TYPES)))
                raise UsageError(f"{file}: unknown key {_yaml_key(key)!r}: choose from {known}")
            if not isinstance(value, _TYPES[key]):
                wanted = _TYPE_NAMES[_TYPES[key][0]]
                raise UsageError(
                    f"{file}: {_yaml_key(key)!r} must be {wanted}, not {type(value).__name__}: see {_PAGE}"
                )
        for key in ("command", "scheduler_name", "claims"):
            if not given.get(key):
                raise UsageError(f"{file}: {_yaml_key(key)!r} is missing: see {_PAGE}")
        unknown = [capability for capability in given["claims"] if capability not in CAPABILITIES]
        if unknown:
            raise UsageError(f"{file}: unknown capability {unknown[0]!r}: choose from {', '.join(CAPABILITIES)}")
        if given.get("dialect", "kubernetes") not in _DIALECTS:
            raise UsageError(f"{file}: unknown dialect {given['dialect']!r}: choose from {', '.join(_DIALECTS)}")
        given["command"] = [str(argument) for argument in given["command"]]
        return cls(file=file, **given)


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
            (directory / Path(name).name).write_text(_substitute(str(text), values))
        program, *arguments = (_substitute(argument, values) for argument in description.command)
        if "/" in program:
            program = str((description.file.parent / program).absolute())  # not resolved: a venv's python is a link
        log = directory / "scheduler.log"
        return [Process(description.scheduler_name, [program, *arguments], directory=directory, log=log)]


def _yaml_key(field_name: str) -> str:
    return field_name.replace("_", "-")


def _substitute(text: str, values: Mapping[str, str]) -> str:
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text
