"""Kubeconfig files of one cluster, with the credentials inside: a file that can be handed on alone."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

CONTEXT = "muster"


def write_kubeconfig(path: Path, *, server: str, authority: Path, user: str, certificate: Path, key: Path) -> None:
    """JSON is YAML: no parser needed here, and every client reads it."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": {"server": server, "certificate-authority-data": _data(authority)}}],
        "users": [
            {"name": user, "user": {"client-certificate-data": _data(certificate), "client-key-data": _data(key)}}
        ],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": user}}],
        "current-context": CONTEXT,
    }
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(document, file, indent=1)


def _data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
