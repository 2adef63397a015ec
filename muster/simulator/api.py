"""A minimal API client on the standard library: the official client alone would take 43 MB of memory.

The ssl module reads certificates from files only; inline ones are passed through anonymous memory, so that no key is
ever written to disk.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

_WATCH_SECONDS = 300  # then the API server ends the stream, so that a dead connection is noticed
_IDLE_SECONDS = _WATCH_SECONDS + 30


class Refused(Exception):
    """The API server answered with an error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status = status


class SimulatorApi:
    """The API server of the current context of a kubeconfig."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.load(kubeconfig.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        context = _entry(config, "context", config["current-context"])
        cluster, user = _entry(config, "cluster", context["cluster"]), _entry(config, "user", context["user"])
        self._address = urlsplit(cluster["server"])
        base = kubeconfig.parent
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        authority = _file(cluster, "certificate-authority", base)
        self._context = ssl.create_default_context(cafile=authority)
        if certificate := _file(user, "client-certificate", base):
            self._context.load_cert_chain(certificate, _file(user, "client-key", base))

    def list(self, path: str, **query: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.load(self._open("GET", path, query))
        return answer

    def watch(self, path: str, **query: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Events until the stream ends, which it does after a few minutes at the latest."""
        query |= {"watch": "1", "timeoutSeconds": str(_WATCH_SECONDS)}
        with self._open("GET", path, query) as response:
            while line := response.readline():
                event = json.loads(line)
                yield event["type"], event["object"]

    def patch(self, path: str, change: Mapping[str, Any]) -> None:
        self._open("PATCH", path, {}, json.dumps(change), {"Content-Type": "application/merge-patch+json"}).read()

    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(
            self._address.hostname or "", self._address.port, timeout=_IDLE_SECONDS, context=self._context
        )
        connection.request(
            method, f"{path}?{urlencode(query)}", body, {**self._headers, **(headers or {}), "Connection": "close"}
        )
        response = connection.getresponse()
        if response.status >= http.HTTPStatus.BAD_REQUEST:
            raise Refused(response.status, response.read().decode("utf-8", "replace"))
        return response


def _entry(config: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(entry[kind] for entry in config[f"{kind}s"] if entry["name"] == name)
    return found


def _file(entry: Mapping[str, Any], key: str, base: Path) -> str | None:
    """A path to the file that the kubeconfig names or contains; None if it does neither."""
    if key in entry:
        return str(base / entry[key])
    if f"{key}-data" not in entry:
        return None
    memory = os.memfd_create(key)
    os.write(memory, base64.b64decode(entry[f"{key}-data"]))
    return f"/proc/self/fd/{memory}"
