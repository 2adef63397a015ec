"""What the pods of an MPIJob need to start processes in each other: hostfile, script, SSH keys, host names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from muster.assertions.job_queries import owned_objects
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question

_HOSTFILE, _DISCOVER_HOSTS = "hostfile", "discover_hosts.sh"


def hostfile_lines(job: str, lines: Iterable[str]) -> Question:
    """The ConfigMap of the job has a hostfile of exactly these lines, in any order."""
    wanted = sorted(lines)

    def ask(history: History) -> Answer:
        text = _file(history, job, _HOSTFILE)
        right = text is not None and sorted(text.splitlines()) == wanted
        lines = [] if text is None else text.splitlines()
        seen = f"no hostfile of job {job}" if text is None else f"the hostfile: {'; '.join(lines) or 'empty'}"
        return Answer(Outcome.TRUE if right else Outcome.PENDING, seen)

    return Question(f"a hostfile of job {job} with: {'; '.join(wanted)}", ask)


def discovered_hosts(job: str, pods: Iterable[str]) -> Question:
    """discover_hosts.sh of the job prints exactly these pods, with or without slots and domain."""
    wanted = sorted(pods)

    def ask(history: History) -> Answer:
        text = _file(history, job, _DISCOVER_HOSTS)
        printed = [line.removeprefix("echo ") for line in (text or "").splitlines() if line.startswith("echo ")]
        hosts = sorted(host.partition(":")[0].partition(".")[0] for host in printed)
        right = text is not None and hosts == wanted
        return Answer(Outcome.TRUE if right else Outcome.PENDING, f"printed: {', '.join(printed) or 'no host'}")

    return Question(f"{_DISCOVER_HOSTS} of job {job} printing {', '.join(wanted) or 'no host'}", ask)


def hostfile_named_by(job: str, launcher: str, variable: str) -> Question:
    """The variable of the launcher is the path at which its ConfigMap's hostfile is mounted."""

    def ask(history: History) -> Answer:
        pod = owned_objects(history, job, "Pod").get(launcher)
        if pod is None:
            return Answer(Outcome.PENDING, f"no pod {launcher}")
        container = pod["spec"]["containers"][0]
        value = {one["name"]: one.get("value") for one in container.get("env", [])}.get(variable)
        names = [one["name"] for one in pod["spec"].get("volumes", []) if _holds_hostfile(one, job)]
        mounts = [one["mountPath"] for one in container.get("volumeMounts", []) if one["name"] in names]
        paths = [str(PurePosixPath(mount) / _HOSTFILE) for mount in mounts]
        seen = f"{variable} is {value!r}, the hostfile is mounted at {', '.join(paths) or 'no path'}"
        return Answer(Outcome.TRUE if value in paths else Outcome.FALSE, seen)

    return Question(f"{variable} of {launcher} naming its hostfile", ask)


def keys_mounted(job: str, pods: Iterable[str], path: str) -> Question:
    """All these pods have the keys of one Secret at this path."""
    names = tuple(pods)

    def ask(history: History) -> Answer:
        found = owned_objects(history, job, "Pod")
        missing = [name for name in names if name not in found]
        if missing:
            return Answer(Outcome.PENDING, f"no pod {', '.join(missing)}")
        secrets = {name: _secret_at(found[name], path) for name in names}
        right = len(set(secrets.values())) == 1 and all(secrets.values())
        seen = "; ".join(f"{name}: {secret or 'none'}" for name, secret in secrets.items())
        return Answer(Outcome.TRUE if right else Outcome.FALSE, f"Secrets at {path}: {seen}")

    return Question(f"one Secret at {path} in {', '.join(names)}", ask, names)


def names_resolve(job: str, pods: Iterable[str]) -> Question:
    """A headless service of the job selects these pods, and each is a host of its name in the service's domain."""
    names = tuple(pods)

    def ask(history: History) -> Answer:
        services, found = owned_objects(history, job, "Service"), owned_objects(history, job, "Pod")
        if not services or any(name not in found for name in names):
            seen = f"services: {', '.join(services) or 'none'}; pods: {', '.join(found) or 'none'}"
            return Answer(Outcome.PENDING, seen)
        lost = [name for name in names if not any(_resolves(found[name], one) for one in services.values())]
        return Answer(Outcome.FALSE if lost else Outcome.TRUE, f"without a host name: {', '.join(lost) or 'none'}")

    return Question(f"a headless service of job {job} that resolves {', '.join(names)}", ask, names)


def _file(history: History, job: str, name: str) -> str | None:
    """A file of a ConfigMap that the job owns."""
    for config in owned_objects(history, job, "ConfigMap").values():
        if name in config.get("data", {}):
            return str(config["data"][name])
    return None


def _holds_hostfile(volume: Mapping[str, Any], job: str) -> bool:
    config = volume.get("configMap", {})
    items = [(one["key"], one["path"]) for one in config.get("items", [])]
    return config.get("name") == f"{job}-config" and (_HOSTFILE, _HOSTFILE) in items


def _secret_at(pod: Mapping[str, Any], path: str) -> str:
    mounts = pod["spec"]["containers"][0].get("volumeMounts", [])
    names = [mount["name"] for mount in mounts if mount["mountPath"] == path]
    volumes = [volume for volume in pod["spec"].get("volumes", []) if volume["name"] in names]
    return next((str(one["secret"]["secretName"]) for one in volumes if "secret" in one), "")


def _resolves(pod: Mapping[str, Any], service: Mapping[str, Any]) -> bool:
    spec, labels, name = service["spec"], pod["metadata"].get("labels", {}), service["metadata"]["name"]
    selected = spec.get("selector") and spec["selector"].items() <= labels.items()
    is_host = (pod["spec"].get("hostname"), pod["spec"].get("subdomain")) == (pod["metadata"]["name"], name)
    return bool(selected and spec.get("clusterIP") == "None" and is_host)
