"""Kubeconfig files of one cluster. Credentials are named, not included.

The official client writes included ones to temporary files of its own, which stay behind when it is killed.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

CONTEXT = "muster"


def write_kubeconfig(path: Path, *, server: str, authority: Path, user: str, certificate: Path, key: Path) -> None:
    """JSON is YAML: no parser needed here, and every client reads it."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": {"server": server, "certificate-authority": str(authority)}}],
        "users": [{"name": user, "user": {"client-certificate": str(certificate), "client-key": str(key)}}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": user}}],
        "current-context": CONTEXT,
    }
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(document, file, indent=1)
