"""A kubeconfig is checked before anything starts: a wrong one is a sentence, not forty failed scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from muster.errors import HarnessError, UsageError
from muster.jobs.targets import usual_kubeconfig


def check_kubeconfig(kubeconfig: Path | None, context: str | None) -> str:
    """The version of the API server behind it; UsageError if the file is no good, HarnessError if nobody answers."""
    file = kubeconfig or usual_kubeconfig(context)
    document = _read(file)
    names = [str(entry.get("name")) for entry in document.get("contexts") or [] if isinstance(entry, dict)]
    wanted = context or document.get("current-context")
    if not wanted:
        raise UsageError(
            f"{file} has no current context: name one with --context ({', '.join(names) or 'there is none'})"
        )
    if wanted not in names:
        raise UsageError(f"{file} has no context {wanted!r}: known are {', '.join(names) or 'none'}")
    return _version_behind(file, str(wanted))


def _read(file: Path) -> dict[str, Any]:
    try:
        document = yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except FileNotFoundError:
        raise UsageError(f"the kubeconfig {file} does not exist: name another with --kubeconfig") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the kubeconfig {file} cannot be read: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise UsageError(
            f"the kubeconfig {file} is not YAML{place}: mend it, or name another with --kubeconfig"
        ) from None
    if not isinstance(document, dict) or not isinstance(document.get("contexts"), list):
        raise UsageError(f"{file} is not a kubeconfig (no contexts in it): name another with --kubeconfig")
    return document


def _version_behind(file: Path, context: str) -> str:
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
            answer = client.VersionApi(connection).get_code(_request_timeout=5)
        except client.ApiException as error:
            raise HarnessError(
                f"the API server {configuration.host} (context {context!r} of {file}) turns us away: "
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
