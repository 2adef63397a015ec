"""Kubeconfig files: find the user's, check it before a run, and write those of Muster's own processes.

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
from muster.errors import HarnessError, UsageError

CONTEXT = "muster"  # the one context of the kubeconfigs that Muster writes
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FILE_FIELDS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_LOGIN_PLUGINS = ("exec", "auth-provider")


def default_kubeconfig(context: str | None = None) -> Path:
    """The first file of $KUBECONFIG that has the context, or ~/.kube/config; files that do not exist are skipped."""
    named = [Path(name) for name in os.environ.get("KUBECONFIG", "").split(os.pathsep) if name]
    if len(named) < 2:
        return named[0] if named else Path.home() / ".kube" / "config"
    existing = [file for file in named if file.exists()] or named
    return next((file for file in existing if _has_context(file, context)), existing[0])


def _has_context(file: Path, context: str | None) -> bool:
    try:
        document = load_kubeconfig(file)
        if not context:
            return bool(document["current-context"])
        return any(entry["name"] == context for entry in document["contexts"])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LookupError, TypeError):
        return False  # check_kubeconfig says what is wrong with it


def load_kubeconfig(file: Path) -> Any:
    """The parsed file; raises what reading and parsing raise."""
    return yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)


def check_kubeconfig(kubeconfig: Path | None, context: str | None) -> str:
    """Check the file and the API server behind it, and return the server's version.

    Raises UsageError if the file is invalid and HarnessError if the server does not answer.
    """
    file = kubeconfig or default_kubeconfig(context)
    document = _load_checked(file)
    names = [str(entry.get("name")) for entry in document.get("contexts") or [] if isinstance(entry, dict)]
    wanted = context or document.get("current-context")
    if not wanted:
        raise UsageError(
            f"{file} has no current context: choose one with --context ({', '.join(names) or 'there is none'})"
        )
    if wanted not in names:
        raise UsageError(f"{file} has no context {wanted!r}: known are {', '.join(names) or 'none'}")
    return _server_version(file, str(wanted))


def _load_checked(file: Path) -> dict[str, Any]:
    try:
        document = load_kubeconfig(file)
    except FileNotFoundError:
        raise UsageError(f"the kubeconfig {file} does not exist: name another with --kubeconfig") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the kubeconfig {file} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise UsageError(
            f"the kubeconfig {file} is not YAML{place}: correct it, or name another with --kubeconfig"
        ) from None
    if not isinstance(document, dict) or not isinstance(document.get("contexts"), list):
        raise UsageError(f"{file} is not a kubeconfig (no contexts in it): name another with --kubeconfig")
    return document


def _server_version(file: Path, context: str) -> str:
    import urllib3
    from kubernetes import client, config

    configuration = client.Configuration()
    try:
        config.load_kube_config(str(file), context=context, client_configuration=configuration)
    except Exception as error:  # the client raises whatever its parts raise: keys, paths, base64, plugins
        raise UsageError(f"the context {context!r} of {file} cannot be used: {_first_line(error)}") from None
    configuration.retries = urllib3.Retry(0)
    with client.ApiClient(configuration) as connection:
        try:
            answer = client.VersionApi(connection).get_code(_request_timeout=timeouts.API_REQUEST)
        except client.ApiException as error:
            raise HarnessError(
                f"the API server {configuration.host} (context {context!r} of {file}) rejected the request: "
                f"{error.status} {_first_line(error)}; are its credentials still valid?"
            ) from None
        except Exception as error:
            raise HarnessError(
                f"the API server {configuration.host} (context {context!r} of {file}) does not answer: "
                f"{_first_line(error)}; is the cluster running, and can it be reached from here?"
            ) from None
    return str(answer.git_version)


def _first_line(error: Exception) -> str:
    cause: object = getattr(error, "reason", None) or error
    return (str(cause).strip() or type(error).__name__).splitlines()[0]


def write_kubeconfig(path: Path, *, server: str, authority: Path, user: str, certificate: Path, key: Path) -> None:
    """Write a kubeconfig for a client certificate."""
    cluster = {"server": server, "certificate-authority": str(authority)}
    credentials = {"client-certificate": str(certificate), "client-key": str(key)}
    _write_private(path, _document(cluster, user, credentials))


def write_single_context(path: Path, source: Path, context: str | None, token: str) -> None:
    """Write one context of a user's kubeconfig, for the processes beside an existing cluster.

    A log-in plugin (`exec`, `auth-provider`) is called by the official client in this process only: the other processes
    get the `token` that it returned, in a file that is renewed.
    """
    config = load_kubeconfig(source)
    chosen = _entry(config, "context", context or config.get("current-context") or "", source)
    cluster = _with_absolute_paths(_entry(config, "cluster", chosen.get("cluster", ""), source), source.parent)
    user = _with_absolute_paths(_entry(config, "user", chosen.get("user", ""), source), source.parent)
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


def _entry(config: Mapping[str, Any], kind: str, name: str, source: Path) -> dict[str, Any]:
    for entry in config.get(f"{kind}s") or ():
        if entry.get("name") == name:
            return dict(entry.get(kind) or {})
    raise UsageError(f"{source} has no {kind} {name!r}: choose another --context, or correct the file")


def _with_absolute_paths(entry: dict[str, Any], base: Path) -> dict[str, Any]:
    return {key: str(base.absolute() / value) if key in _FILE_FIELDS else value for key, value in entry.items()}


def _write_private(path: Path, content: str | bytes) -> None:
    """Replace the file at once: other processes read it while it is renewed."""
    new = path.with_name(f".{path.name}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
    new.replace(path)
