"""A scheduler that its user describes in a YAML file: how to start it, how to speak to it, and what it claims.

docs/your-scheduler.md shows the file. It is read and checked before anything is started.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import yaml

from muster.catalogue import CAPABILITIES
from muster.cluster.api import Api
from muster.errors import UsageError
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.koordinator_dialect import KoordinatorDialect
from muster.subject.subjects import Subject
from muster.subject.volcano_dialect import VolcanoDialect

_DIALECTS: dict[str, type[Dialect]] = {
    "kubernetes": Dialect,
    "volcano": VolcanoDialect,
    "koordinator": KoordinatorDialect,
}


@dataclass(frozen=True, kw_only=True)
class Description:
    """The file, checked."""

    file: Path
    command: list[str]
    scheduler_name: str
    claims: dict[str, str]
    dialect: str = "kubernetes"
    longest_backoff: float = 10.0
    files: dict[str, str] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: str) -> Description:
        file = Path(path).resolve()
        try:
            loaded = yaml.safe_load(file.read_text())
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem).replace("\n", " ")
            raise UsageError(f"cannot read the description of a scheduler {file}: {reason}") from None
        if not isinstance(loaded, dict):
            raise UsageError(f"{file} does not describe a scheduler: docs/your-scheduler.md shows how")
        given = {str(key).replace("-", "_"): value for key, value in loaded.items()}
        return cls._checked(file, given)

    @classmethod
    def _checked(cls, file: Path, given: dict[str, Any]) -> Description:
        kinds = {
            "command": list,
            "scheduler_name": str,
            "claims": dict,
            "dialect": str,
            "longest_backoff": (int, float),
            "files": dict,
            "definitions": list,
        }
        for key, value in given.items():
            word = key.replace("_", "-")
            if key not in kinds:
                known = ", ".join(sorted(one.replace("_", "-") for one in kinds))
                raise UsageError(f"{file}: there is no {word!r}; a scheduler is described by {known}")
            if not isinstance(value, kinds[key]):  # type: ignore[arg-type]
                raise UsageError(
                    f"{file}: {word!r} is {type(value).__name__}, which it cannot be: see the documentation"
                )
        for key in ("command", "scheduler_name", "claims"):
            if not given.get(key):
                raise UsageError(f"{file}: {key.replace('_', '-')!r} is missing")
        unknown = [capability for capability in given["claims"] if capability not in CAPABILITIES]
        if unknown:
            raise UsageError(f"{file}: nobody can claim {unknown[0]!r}; capabilities are {', '.join(CAPABILITIES)}")
        if given.get("dialect", "kubernetes") not in _DIALECTS:
            raise UsageError(f"{file}: unknown dialect {given['dialect']!r}: choose from {', '.join(_DIALECTS)}")
        given["command"] = [str(word) for word in given["command"]]
        return cls(file=file, **given)


class Described(Subject):
    """`--scheduler mine=my-scheduler.yaml`"""

    name: ClassVar[str] = "mine"
    assets: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return Description.read(configuration).claims

    @classmethod
    def resolve(cls, configuration: str) -> str:
        return str(Description.read(configuration).file)

    @cached_property
    def _description(self) -> Description:
        return Description.read(self.configuration)

    @property
    def dialect(self) -> Dialect:
        description = self._description
        return _DIALECTS[description.dialect](description.scheduler_name)

    @property
    def longest_backoff(self) -> float:
        return float(self._description.longest_backoff)

    def settings(self) -> dict[str, str]:
        description = self._description
        return {
            "scheduler": f"{description.scheduler_name} as described in {description.file.name}",
            "scheduler longest back-off": f"{description.longest_backoff:g} s",
        }

    def install(self, api: Api) -> None:
        description = self._description
        for file in description.definitions:
            define(api, description.file.parent / file)

    def _prepare(self) -> list[Process]:
        description, directory = self._description, self.workplace.directory
        words = {"{kubeconfig}": str(self.workplace.admin), "{directory}": str(directory)}
        for name, text in description.files.items():
            (directory / Path(name).name).write_text(_filled(str(text), words))
        program, *arguments = (_filled(word, words) for word in description.command)
        if "/" in program:
            program = str((description.file.parent / program).absolute())  # not resolved: a venv's python is a link
        log = directory / "scheduler.log"
        return [Process(description.scheduler_name, [program, *arguments], directory=directory, log=log)]


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
