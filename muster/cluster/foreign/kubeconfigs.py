"""The kubeconfig of the processes beside a foreign cluster: one context, paths that hold anywhere, no log-in program.

A log-in program (`exec`, `auth-provider`) is asked by the official client in our process only; the others are given the
token that it brought, in a file that is renewed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from muster.cluster.local.kubeconfigs import CONTEXT
from muster.errors import UsageError

_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_PROGRAMS = ("exec", "auth-provider")


def write_single(path: Path, source: Path, context: str | None, token: str) -> None:
    """`token` is used where the user logs in by a program, and nowhere else."""
    config = yaml.load(source.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    chosen = _entry(config, "context", context or config.get("current-context") or "", source)
    cluster = _with_absolute_paths(_entry(config, "cluster", chosen.get("cluster", ""), source), source.parent)
    user = _with_absolute_paths(_entry(config, "user", chosen.get("user", ""), source), source.parent)
    if any(program in user for program in _PROGRAMS):
        file = path.with_suffix(".token")
        _write(file, token)
        user = {key: value for key, value in user.items() if key not in _PROGRAMS}
        user |= {"token": token, "tokenFile": str(file)} if token else {}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": user}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": CONTEXT}}],
        "current-context": CONTEXT,
    }
    _write(path, json.dumps(document, indent=1))


def _entry(config: Mapping[str, Any], kind: str, name: str, source: Path) -> dict[str, Any]:
    for entry in config.get(f"{kind}s") or ():
        if entry.get("name") == name:
            return dict(entry.get(kind) or {})
    raise UsageError(f"{source} has no {kind} {name!r}: choose another --context, or mend the file")


def _with_absolute_paths(entry: dict[str, Any], base: Path) -> dict[str, Any]:
    return {key: str(base.absolute() / value) if key in _FILES else value for key, value in entry.items()}


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    draft.replace(path)
