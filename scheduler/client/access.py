"""How to reach an API server: from a kubeconfig, or from inside a pod.

The ssl module reads certificates only from files. Inline certificates of a kubeconfig are passed through anonymous
memory, so that no key is ever written to disk.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TOKEN_SECONDS = 60  # a mounted token is rotated about hourly: reread it


class AccessError(Exception):
    """The kubeconfig cannot be used; the text names the reason."""


class Access:
    """The address of an API server, its CA, and the credentials."""

    def __init__(self, server: str, trust: ssl.SSLContext, *, token: str = "", token_file: Path | None = None) -> None:
        self.server = server.rstrip("/")
        self.trust = trust
        self._token = token
        self._token_file = token_file
        self._read_at = 0.0

    def headers(self) -> dict[str, str]:
        if self._token_file and time.monotonic() - self._read_at > _TOKEN_SECONDS:
            self._token, self._read_at = self._token_file.read_text().strip(), time.monotonic()
        return {"Authorization": f"Bearer {self._token}"} if self._token else {}

    @classmethod
    def from_kubeconfig(cls, path: Path, context: str | None = None) -> Access:
        """From the named context, or the current one."""
        try:
            config = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
            chosen = _entry(config, "context", context or config.get("current-context") or "")
            cluster = _entry(config, "cluster", chosen["cluster"])
            user = _entry(config, "user", chosen["user"]) if chosen.get("user") else {}
            return cls._from_entries(cluster, user, path.parent)
        except AccessError as error:
            raise AccessError(f"{path}: {error}") from None
        except (OSError, yaml.YAMLError, binascii.Error, KeyError, TypeError, AttributeError) as error:
            raise AccessError(f"{path} is not a usable kubeconfig: {error}") from error

    @classmethod
    def _from_entries(cls, cluster: Mapping[str, Any], user: Mapping[str, Any], base: Path) -> Access:
        if "exec" in user or "auth-provider" in user:
            raise AccessError("exec and auth-provider are not supported: use a token or a client certificate")
        with _files() as files:
            trust = ssl.create_default_context(cafile=files.path(cluster, "certificate-authority", base))
            if cluster.get("insecure-skip-tls-verify"):
                trust.check_hostname = False
                trust.verify_mode = ssl.CERT_NONE
            if certificate := files.path(user, "client-certificate", base):
                trust.load_cert_chain(certificate, files.path(user, "client-key", base))
        token_file = base / user["tokenFile"] if user.get("tokenFile") else None
        return cls(cluster["server"], trust, token=user.get("token") or "", token_file=token_file)

    @classmethod
    def from_pod(cls) -> Access:
        """From the mounted service account of the pod."""
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
        if not host or not port:
            raise AccessError("no kubeconfig was given, and this process does not run in a pod")
        try:
            trust = ssl.create_default_context(cafile=_SERVICE_ACCOUNT / "ca.crt")
            (_SERVICE_ACCOUNT / "token").read_text()
        except OSError as error:
            raise AccessError(f"the pod has no service account token mounted: {error}") from error
        address = f"[{host}]" if ":" in host else host
        return cls(f"https://{address}:{port}", trust, token_file=_SERVICE_ACCOUNT / "token")


class _files:  # noqa: N801 -- reads as a verb where it is used
    """Inline data as files, for the duration of the block."""

    def __enter__(self) -> _files:
        self._open: list[int] = []
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def path(self, entry: Mapping[str, Any], key: str, base: Path) -> str | None:
        """A path to the entry's data or file; inline data has precedence, as in kubectl."""
        if not entry.get(f"{key}-data"):
            return str(base / entry[key]) if entry.get(key) else None
        descriptor = os.memfd_create(key)
        self._open.append(descriptor)
        os.write(descriptor, base64.b64decode(entry[f"{key}-data"]))
        return f"/proc/self/fd/{descriptor}"


def _entry(config: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    for entry in config.get(f"{kind}s") or ():
        if entry["name"] == name:
            found: dict[str, Any] = entry[kind] or {}
            return found
    raise AccessError(f"there is no {kind} named {name!r}")
