"""The credentials that kubeadm made, taken out of its kubeconfigs into files.

The official client writes included ones to temporary files of its own, which stay behind when it is killed.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import yaml

from muster.cluster.local.kubeconfigs import write_kubeconfig
from muster.errors import HarnessError


def write_client(directory: Path, name: str, kubeconfig: str, server: str = "") -> str:
    """`name`.kubeconfig with the credentials of another, for the same address or `server`; the address."""
    try:
        config: dict[str, Any] = yaml.safe_load(kubeconfig)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        address = server or str(cluster["server"])
        parts = {
            "ca.crt": cluster["certificate-authority-data"],
            f"{name}.crt": user["client-certificate-data"],
            f"{name}.key": user["client-key-data"],
        }
    except (yaml.YAMLError, TypeError, KeyError, IndexError) as problem:
        raise HarnessError(f"kind gave a kubeconfig that cannot be read ({problem!r}): is the cluster whole?") from None
    for file, encoded in parts.items():
        _write(directory / file, base64.b64decode(encoded))
    write_kubeconfig(
        directory / f"{name}.kubeconfig",
        server=address,
        authority=directory / "ca.crt",
        user=str(config["users"][0]["name"]),
        certificate=directory / f"{name}.crt",
        key=directory / f"{name}.key",
    )
    return address


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
