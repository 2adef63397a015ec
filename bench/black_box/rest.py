"""Plain REST: requests with the certificate of a kubeconfig, and a watch of the pods of one namespace."""

from __future__ import annotations

import base64
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
import yaml

Manifest = dict[str, Any]

_AT_ONCE = 16  # requests
_FILES = {"certificate-authority": "ca_certs", "client-certificate": "cert_file", "client-key": "key_file"}


class Refused(Exception):
    """The API server's answer was an error."""


class Rest:
    """Requests to one API server."""

    def __init__(self, kubeconfig: Path) -> None:
        content = yaml.safe_load(kubeconfig.read_text())
        cluster, user = content["clusters"][0]["cluster"], content["users"][0]["user"]
        self._directory = tempfile.TemporaryDirectory(prefix="black-box-")
        tls: dict[str, Any] = {
            option: self._file(field, cluster | user, kubeconfig.parent) for field, option in _FILES.items()
        }
        self._server: str = cluster["server"]
        self._pool = urllib3.PoolManager(maxsize=_AT_ONCE, retries=False, **tls)

    def request(self, method: str, path: str, body: Manifest | None = None, **query: str) -> Manifest:
        answer: Manifest = json.loads(self.text(method, path, body, **query))
        return answer

    def text(self, method: str, path: str, body: Manifest | None = None, **query: str) -> str:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        answer = self._pool.request(
            method,
            f"{self._server}{path}?{urlencode(query)}",
            body=None if body is None else json.dumps(body),
            headers={"Content-Type": kind},
        )
        text = answer.data.decode()
        if answer.status >= 400:
            raise Refused(f"{method} {path}: {answer.status} {text[:300]}")
        return text

    def create_all(self, path: str, manifests: Sequence[Manifest]) -> None:
        self.all(lambda manifest: self.request("POST", path, manifest), manifests)

    def all(self, request: Callable[[Any], object], items: Sequence[Any]) -> None:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            list(threads.map(request, items))

    def watch(self, path: str, version: str) -> Iterator[tuple[str, Manifest]]:
        query = urlencode({"watch": "1", "resourceVersion": version, "timeoutSeconds": "3600"})
        answer = self._pool.request("GET", f"{self._server}{path}?{query}", preload_content=False, timeout=None)
        rest = b""
        for chunk in answer.stream(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                change = json.loads(line)
                yield change["type"], change["object"]

    def _file(self, field: str, fields: Mapping[str, str], folder: Path) -> str:
        if field in fields:
            return str(folder / fields[field])
        file = Path(self._directory.name) / field
        file.write_bytes(base64.b64decode(fields[f"{field}-data"]))
        return str(file)


class PodWatch:
    """The pods of one namespace, when each was first seen bound (seconds of time.monotonic), and which were deleted.

    The API server ends the watch of a slow reader: then the pods are listed again.
    """

    def __init__(self, rest: Rest, namespace: str) -> None:
        self._rest, self._path = rest, f"/api/v1/namespaces/{namespace}/pods"
        self._changed = threading.Condition()
        self._changes = 0
        self._pods: dict[str, Manifest] = {}
        self.bound_at: dict[str, float] = {}
        self.deleted: set[str] = set()
        self._closed = False
        threading.Thread(target=self._read, args=(self._list(),), daemon=True).start()

    def pods(self) -> list[Manifest]:
        with self._changed:
            return list(self._pods.values())

    def wait(self, condition: Callable[[list[Manifest]], bool], seconds: float) -> bool:
        """Whether the condition held within so many seconds. It is evaluated while the reader goes on."""
        deadline = time.monotonic() + seconds
        while True:
            with self._changed:
                seen, pods = self._changes, list(self._pods.values())
            if condition(pods):
                return True
            with self._changed:
                left = deadline - time.monotonic()
                if self._changes == seen and (left <= 0 or not self._changed.wait(left)):
                    return False

    def close(self) -> None:
        self._closed = True

    def _list(self) -> str:
        found = self._rest.request("GET", self._path)
        names = {pod["metadata"]["name"] for pod in found["items"]}
        for gone in set(self._pods) - names:
            self._note("DELETED", self._pods[gone])
        for pod in found["items"]:
            self._note("ADDED", pod)
        return str(found["metadata"]["resourceVersion"])

    def _read(self, version: str) -> None:
        while not self._closed:
            with suppress(urllib3.exceptions.HTTPError):
                for kind, pod in self._rest.watch(self._path, version):
                    if kind != "ERROR":
                        self._note(kind, pod)
            if self._closed:
                return
            version = self._list()

    def _note(self, kind: str, pod: Manifest) -> None:
        name = pod["metadata"]["name"]
        with self._changed:
            if kind == "DELETED":
                self._pods.pop(name, None)
                self.deleted.add(name)
            else:
                self._pods[name] = pod
                if "deletionTimestamp" in pod["metadata"]:
                    self.deleted.add(name)
                if pod["spec"].get("nodeName"):
                    self.bound_at.setdefault(name, time.monotonic())
            self._changes += 1
            self._changed.notify_all()
