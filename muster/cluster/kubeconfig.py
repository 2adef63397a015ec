"""Kubeconfigs: check the user's before a run, and write those of Muster's own processes.

Credentials are written to files of their own and referenced: the official client copies embedded ones to temporary
files, which stay behind when it is killed.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from muster import timeouts
from muster.cluster.kubeconfig_files import Kubeconfig
from muster.errors import HarnessError, UsageError

CONTEXT = "muster"  # the one context of the kubeconfigs that Muster writes
_LOGIN_PLUGINS = ("exec", "auth-provider")


def check_kubeconfig(kubeconfig: Kubeconfig, context: str | None) -> str:
    """Check it and the API server behind it, and return the name of the context, which may be the current one.

    Raises UsageError if it is invalid and HarnessError if the server does not answer.
    """
    document = kubeconfig.load()
    names = [str(entry["name"]) for entry in document["contexts"]]
    wanted = context or document["current-context"]
    if not wanted:
        raise UsageError(
            f"{kubeconfig} has no current context: choose one with --context ({', '.join(names) or 'there is none'})"
        )
    if wanted not in names:
        raise UsageError(f"{kubeconfig} has no context {wanted!r}: known are {', '.join(names) or 'none'}")
    _check_server(kubeconfig, str(wanted))
    return str(wanted)


def _check_server(kubeconfig: Kubeconfig, context: str) -> None:
    import urllib3
    from kubernetes import client, config

    configuration = client.Configuration()
    file, _ = kubeconfig.for_official_client(context)
    try:
        config.load_kube_config(file, context=context, client_configuration=configuration)
    except Exception as error:  # the client raises whatever its parts raise: keys, paths, base64, plugins
        raise UsageError(f"the context {context!r} of {kubeconfig} cannot be used: {_first_line(error)}") from None
    configuration.retries = urllib3.Retry(0)
    with client.ApiClient(configuration) as connection:
        try:
            client.VersionApi(connection).get_code(_request_timeout=timeouts.API_REQUEST)
        except client.ApiException as error:
            raise HarnessError(
                f"the API server {configuration.host} (context {context!r} of {kubeconfig}) rejected the request: "
                f"{error.status} {_first_line(error)}; are its credentials still valid?"
            ) from None
        except Exception as error:
            raise HarnessError(
                f"the API server {configuration.host} (context {context!r} of {kubeconfig}) does not answer: "
                f"{_first_line(error)}; is the cluster running, and can it be reached from here?"
            ) from None


def _first_line(error: Exception) -> str:
    cause: object = getattr(error, "reason", None) or error
    return (str(cause).strip() or type(error).__name__).splitlines()[0]


def write_kubeconfig(path: Path, *, server: str, authority: Path, user: str, certificate: Path, key: Path) -> None:
    """Write a kubeconfig for a client certificate."""
    cluster = {"server": server, "certificate-authority": str(authority)}
    credentials = {"client-certificate": str(certificate), "client-key": str(key)}
    _write_private(path, _document(cluster, user, credentials))


def write_single_context(path: Path, source: Path | Kubeconfig, context: str | None, token: str) -> None:
    """Write one context of a user's kubeconfig, for the processes beside an existing cluster.

    A log-in plugin (`exec`, `auth-provider`) is called by the official client in this process only: the other processes
    get the `token` that it returned, in a file that is renewed.
    """
    kubeconfig = Kubeconfig.of(source)
    config = kubeconfig.load()
    chosen = _entry(config, "context", context or config["current-context"], kubeconfig)
    cluster = _entry(config, "cluster", chosen.get("cluster", ""), kubeconfig)
    user = _entry(config, "user", chosen["user"], kubeconfig) if chosen.get("user") else {}
    if any(plugin in user for plugin in _LOGIN_PLUGINS):
        file = path.with_suffix(".token")
        _write_private(file, token)
        user = {key: value for key, value in user.items() if key not in _LOGIN_PLUGINS}
        user |= {"token": token, "tokenFile": str(file)} if token else {}
    _write_private(path, _document(cluster, CONTEXT, user))


def write_client_kubeconfig(directory: Path, name: str, kubeconfig: str, server: str = "") -> str:
    """Write `name`.kubeconfig with the credentials of another one, taken out into files; return the server's address.

    `server` replaces the address of the original.
    """
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
        raise HarnessError(
            f"the kubeconfig of the new cluster cannot be read ({problem!r}): is the cluster complete?"
        ) from None
    for file, encoded in parts.items():
        _write_private(directory / file, base64.b64decode(encoded))
    write_kubeconfig(
        directory / f"{name}.kubeconfig",
        server=address,
        authority=directory / "ca.crt",
        user=str(config["users"][0]["name"]),
        certificate=directory / f"{name}.crt",
        key=directory / f"{name}.key",
    )
    return address


def _document(cluster: Mapping[str, Any], user: str, credentials: Mapping[str, Any]) -> str:
    """JSON is YAML: every client reads it."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": CONTEXT, "context": {"cluster": CONTEXT, "user": user}}],
        "current-context": CONTEXT,
    }
    return json.dumps(document, indent=1)


def _entry(config: Mapping[str, Any], kind: str, name: str, source: Kubeconfig) -> dict[str, Any]:
    for entry in config[f"{kind}s"]:
        if entry["name"] == name:
            return dict(entry[kind] or {})
    raise UsageError(f"{source} has no {kind} {name!r}: choose another --context, or correct the file")


def _write_private(path: Path, content: str | bytes) -> None:
    """Replace the file at once: other processes read it while it is renewed."""
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    new.replace(path)
