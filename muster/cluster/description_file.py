"""YAML files in which users describe what is theirs: read once, every mistake reported in one line with its file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from muster.errors import UsageError

PAGE = "docs/your-scheduler.md"
_TYPE_NAMES = {list: "a list", dict: "a mapping", str: "a string", int: "a number", float: "a number"}


def read_description(file: Path, types: Mapping[str, tuple[type, ...]], what: str) -> dict[str, Any]:
    """The keys of a file, with _ for -; a UsageError for a key that is not in `types`, or has another type."""
    try:
        loaded = yaml.safe_load(file.read_text())
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem).replace("\n", " ")
        raise UsageError(f"cannot read the description of {what}, {file}: {reason}") from None
    if not isinstance(loaded, dict):
        raise UsageError(f"{file} does not describe {what}: {PAGE} has an example")
    given = {str(key).replace("-", "_"): value for key, value in loaded.items()}
    for key, value in given.items():
        if key not in types:
            known = ", ".join(sorted(map(yaml_key, types)))
            raise UsageError(f"{file}: unknown key {yaml_key(key)!r}: choose from {known}")
        if not isinstance(value, types[key]):
            wanted = _TYPE_NAMES[types[key][0]]
            raise UsageError(f"{file}: {yaml_key(key)!r} must be {wanted}, not {type(value).__name__}: see {PAGE}")
    return given


def yaml_key(field_name: str) -> str:
    """As it is written in the file."""
    return field_name.replace("_", "-")
