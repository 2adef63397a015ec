"""A client of the Kubernetes API with plain dictionaries, on the official client's connection and credentials.

The typed models of the official client cost about half a millisecond per object and refuse unknown fields. Transient
errors (refused connections, 429, 5xx) are retried and end as a HarnessError: they must never decide a verdict.
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

import tenacity
import urllib3

from muster import timeouts
from muster.cluster.kubeconfig_files import Kubeconfig
from muster.cluster.resources import Resource, resource_of
from muster.errors import HarnessError, UsageError

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
_TRANSIENT_STATUS = frozenset({429, 500, 502, 503, 504})


class ApiRefused(HarnessError):
    """The API server answered with an error."""

    def __init__(self, status: int, reason: str, message: str, doing: str) -> None:
        super().__init__(f"the API server refused to {doing}: {message} ({status} {reason})")
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def denied_by_webhook(self) -> bool:
        """By the answer of an admission webhook; one that does not answer is an error of the server, and retried."""
        return self.status == HTTPStatus.FORBIDDEN and self.message.startswith('admission webhook "')


@dataclass(frozen=True)
class Write:
    """A request that has changed something, with the names that the caller uses."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Mapping[str, Any] | None
    content_type: str


class _Transient(Exception):
    """The request may be retried."""


def _do_nothing() -> None:
    return None


def _ignore(_: Write) -> None:
    return None


def load_client(kubeconfig: Path | Kubeconfig, context: str | None = None) -> Any:
    """The official client's connection to the API server of a context."""
    from kubernetes import client, config

    configuration = client.Configuration()
    configuration.connection_pool_maxsize = 32
    try:
        file, context = Kubeconfig.of(kubeconfig).for_official_client(context)
        config.load_kube_config(file, context=context, client_configuration=configuration)
    except (config.ConfigException, OSError, ValueError) as problem:
        raise UsageError(f"cannot use kubeconfig {kubeconfig}: {problem}") from None
    configuration.retries = urllib3.Retry(0, redirect=2)
    return client.ApiClient(configuration)


class Api:
    """A connection to one API server.

    `guard` is called before each retry: it raises when a component has died. `on_write` is called after each write.
    """

    versions_compare = True  # resourceVersions of different kinds compare: all kinds are in one etcd, which is Muster's

    def __init__(self, client: Any) -> None:
        self._client = client
        self.guard: Callable[[], None] = _do_nothing
        self.on_write: Callable[[Write], None] = _ignore
        self._dated: tuple[str, float] | None = None  # the newest response: the server's date, and when it arrived

    @classmethod
    def connect(cls, kubeconfig: Path | Kubeconfig, context: str | None = None) -> Self:
        """Connect with all the user's rights. Within a run scope, if there is one: `run_scope.open_api`."""
        return cls(load_client(kubeconfig, context))

    def visible(self, raw: bytes) -> bytes | None:
        """An object as scenarios see it; None if it is hidden from them. Here nothing is hidden."""
        return raw

    def now(self) -> datetime.datetime:
        """The API server's time, to the second: the users of a shared cluster need not agree on the time."""
        if self._dated is None:
            return datetime.datetime.now(datetime.UTC)
        date, came = self._dated
        return parsedate_to_datetime(date) + datetime.timedelta(seconds=time.monotonic() - came)

    @property
    def token(self) -> str:
        """The token of a log-in plugin or of the kubeconfig; empty where a client certificate is used."""
        *_, headers, _, _ = self._client.param_serialize("GET", "/version", auth_settings=["BearerToken"])
        return str(headers.get("authorization", "")).removeprefix("Bearer ")

    def create(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        resource, meta = resource_of(manifest), manifest["metadata"]
        return self._json("POST", resource.path(meta.get("namespace")), body=manifest)

    def dry_run(self, manifest: Mapping[str, Any]) -> dict[str, Any]:
        """The object as it would be created, after admission; nothing is stored."""
        path = resource_of(manifest).path(manifest["metadata"].get("namespace"))
        return self._json("POST", path, query={"dryRun": "All"}, body=manifest)

    def ensure(self, manifest: Mapping[str, Any]) -> None:
        """Create an object unless it exists."""
        try:
            self.create(manifest)
        except ApiRefused as refusal:
            if refusal.reason != "AlreadyExists":
                raise
            path = resource_of(manifest).path(manifest["metadata"].get("namespace"))
            self.on_write(Write("POST", path, {}, manifest, "application/json"))

    def get(self, resource: Resource, name: str, namespace: str | None = None) -> dict[str, Any]:
        return self._json("GET", resource.path(namespace, name))

    def list(self, resource: Resource, namespace: str | None = None, **query: str) -> dict[str, Any]:
        return self._json("GET", resource.path(namespace), query=query)

    def patch(
        self,
        resource: Resource,
        name: str,
        body: Mapping[str, Any],
        *,
        namespace: str | None = None,
        subresource: str | None = None,
        content_type: str = MERGE_PATCH,
    ) -> dict[str, Any]:
        path = resource.path(namespace, name, subresource)
        return self._json("PATCH", path, body=body, content_type=content_type)

    def delete(self, resource: Resource, name: str, namespace: str | None = None, *, grace: int | None = None) -> None:
        """Delete one object if it exists."""
        query = {} if grace is None else {"gracePeriodSeconds": str(grace)}
        self.delete_path(resource.path(namespace, name), **query)

    def delete_path(self, path: str, **query: str) -> None:
        """Delete the object at this path if it exists."""
        try:
            self._json("DELETE", path, query=query)
        except ApiRefused as refusal:
            if refusal.status != 404:
                raise

    def delete_all(self, resource: Resource, namespace: str | None = None, **query: str) -> None:
        self._json("DELETE", resource.path(namespace), query=query)

    def post(self, path: str, body: Mapping[str, Any], **query: str) -> dict[str, Any]:
        """A sub-resource that is created rather than patched, such as a pod's binding."""
        return self._json("POST", path, query=query, body=body)

    def read(self, path: str, **query: str) -> bytes:
        """The undecoded response to a GET, for callers with a faster decoder than json."""
        return self._bytes("GET", path, query=query)

    def stream(self, path: str, query: Mapping[str, str], *, idle: float) -> urllib3.BaseHTTPResponse:
        """An open watch. The caller reads and closes it; no retry, because only the caller knows its position."""
        response = self._send("GET", path, query=query, body=None, content_type="", timeout=idle)
        if response.status != 200:
            text = response.read().decode("utf-8", "replace")
            raise self._refusal(response.status, text, f"watch {path}")
        return response

    def _json(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        response = json.loads(self._bytes(method, path, **options) or b"{}")
        assert isinstance(response, dict)
        return response

    def _bytes(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Transient),
            wait=tenacity.wait_exponential_jitter(multiplier=0.05, max=1),
            stop=tenacity.stop_after_delay(timeouts.API_TRANSIENT),
            before_sleep=lambda _: self.guard(),
            reraise=True,
        )
        try:
            response: bytes = attempts(self._once, method, path, query or {}, body, content_type)
        except ApiRefused as refusal:
            # An earlier attempt without a response may have created it.
            if refusal.reason != "AlreadyExists" or attempts.statistics["attempt_number"] == 1:
                raise
            response = b"{}"
        except _Transient as error:
            self.guard()
            raise HarnessError(f"the API server does not answer ({method} {path}): {error}") from None
        if method != "GET" and "dryRun" not in (query or {}):
            self.on_write(Write(method, path, query or {}, body, content_type))
        return response

    def _once(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any] | None, content_type: str
    ) -> bytes:
        try:
            response = self._send(method, path, query, body, content_type, timeouts.API_REQUEST)
            data = response.read()
        except urllib3.exceptions.HTTPError as error:
            raise _Transient(_reason_of(error)) from None
        status = response.status
        if date := response.headers.get("Date"):
            self._dated = date, time.monotonic()
        response.release_conn()
        if status in _TRANSIENT_STATUS:
            raise _Transient(f"HTTP {status}: {data[:200].decode('utf-8', 'replace')}")
        if status >= 400:
            raise self._refusal(status, data.decode("utf-8", "replace"), f"{method} {path}")
        return data

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None,
        content_type: str,
        timeout: float,
    ) -> urllib3.BaseHTTPResponse:
        _, url, headers, _, _ = self._client.param_serialize(method, path, auth_settings=["BearerToken"])
        headers = {**headers, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = content_type
        return self._client.rest_client.pool_manager.request(  # type: ignore[no-any-return]
            method,
            url + ("?" + urlencode(query) if query else ""),
            body=None if body is None else json.dumps(body),
            headers=headers,
            timeout=urllib3.Timeout(connect=timeouts.API_REQUEST, read=timeout),
            preload_content=False,
        )

    @staticmethod
    def _refusal(status: int, text: str, doing: str) -> ApiRefused:
        try:
            answer = json.loads(text)
            return ApiRefused(status, answer.get("reason", ""), answer.get("message", text), doing)
        except ValueError:
            return ApiRefused(status, "", " ".join(text.split())[:200], doing)


def _reason_of(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(reason).split(": ", 1)[-1][:200]
