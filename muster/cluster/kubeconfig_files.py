"""The user's kubeconfig: one file, or the files of $KUBECONFIG, merged as kubectl merges them.

Each cluster, context and user comes from the first file that has it, the current context from the first file that sets
one. Relative paths are relative to the file in which they stand, and files that do not exist are left out. Trap: the
official client merges as well, but there the last current context wins and an empty file is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from muster.errors import UsageError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KINDS = ("cluster", "context", "user")
_FILE_FIELDS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_HINT = "name another with --kubeconfig"


@dataclass(frozen=True)
class Kubeconfig:
    """The files, in order of precedence. As text, the value of $KUBECONFIG that names them."""

    files: tuple[Path, ...]

    def __str__(self) -> str:
        return os.pathsep.join(map(str, self.files))

    @classmethod
    def find(cls, option: Path | None = None) -> Kubeconfig:
        """The file of --kubeconfig, else those of $KUBECONFIG, else ~/.kube/config; nothing is read yet."""
        if option is not None:
            return cls((option,))
        variable = os.environ.get("KUBECONFIG", "")
        if not variable:
            return cls((Path.home() / ".kube" / "config",))
        named = [Path(name) for name in variable.split(os.pathsep) if name]
        return cls(tuple(dict.fromkeys(named)) or (Path(variable),))

    @classmethod
    def of(cls, kubeconfig: Path | Kubeconfig) -> Kubeconfig:
        return cls((kubeconfig,)) if isinstance(kubeconfig, Path) else kubeconfig

    def absolute(self) -> Kubeconfig:
        """The same files, for a process that works in another directory."""
        return Kubeconfig(tuple(file.absolute() for file in self.files))

    def load(self) -> dict[str, Any]:
        """All files as one, with absolute paths in it; a UsageError says what is wrong, and with which file."""
        documents = self._documents()
        if not any(isinstance(document.get("contexts"), list) for document in documents.values()):
            raise UsageError(f"{self} is not a kubeconfig (no contexts in it): {_HINT}")
        merged: dict[str, Any] = {f"{kind}s": list(_merge(documents, kind).values()) for kind in _KINDS}
        currents = (document.get("current-context") for document in documents.values())
        return merged | {"current-context": next(filter(None, currents), "")}

    def context_file(self, context: str | None) -> Path:
        """The file in which a context, or the current one, stands."""
        if len(self.files) == 1:
            return self.files[0]
        wanted = context or self.load()["current-context"]
        for file, document in self._documents().items():
            if any(entry["name"] == wanted for entry in document.get("contexts") or ()):
                return file
        return self.files[0]

    def for_official_client(self, context: str | None) -> tuple[str, str | None]:
        """The file argument and the context with which the official client merges as kubectl does."""
        if len(self.files) == 1:
            return str(self.files[0]), context
        return str(Kubeconfig(tuple(self._documents()))), context or self.load()["current-context"]

    def _documents(self) -> dict[Path, dict[str, Any]]:
        """What is in each file that exists and is not empty."""
        found = {file: document for file in self.files if (document := _read(file)) is not None}
        if not found and len(self.files) > 1:
            raise UsageError(f"none of the files in KUBECONFIG exists ({self}): correct it, or {_HINT}")
        if not found:
            raise UsageError(f"the kubeconfig {self} does not exist: {_HINT}")
        return {file: document for file, document in found.items() if document} or found


def _read(file: Path) -> dict[str, Any] | None:
    """The parsed file; None if it does not exist."""
    try:
        document = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the kubeconfig {file} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise UsageError(f"the kubeconfig {file} is not YAML{place}: correct it, or {_HINT}") from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{file} is not a kubeconfig (no contexts in it): {_HINT}")
    for kind in _KINDS:
        entries = document.get(f"{kind}s") or []
        if not isinstance(entries, list) or not all(isinstance(one, dict) and one.get("name") for one in entries):
            raise UsageError(
                f"{file} is not a kubeconfig (its {kind}s are not a list of named entries): correct it, or {_HINT}"
            )
    return document


def _merge(documents: Mapping[Path, Mapping[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    """The entries of one kind by name: a whole entry wins, and nothing is added to it from later files."""
    merged: dict[str, dict[str, Any]] = {}
    for file, document in documents.items():
        for entry in document.get(f"{kind}s") or ():
            fields = entry.get(kind)
            located = _with_absolute_paths(fields, file.parent) if isinstance(fields, dict) else fields
            merged.setdefault(entry["name"], {**entry, kind: located})
    return merged


def _with_absolute_paths(fields: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """An empty path stays empty: it means that there is none."""
    return {
        key: str(base.absolute() / value) if key in _FILE_FIELDS and value else value for key, value in fields.items()
    }
