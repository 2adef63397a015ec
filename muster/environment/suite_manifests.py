"""The manifests of walk-throughs and jobs that come with the suite, and changes to them."""

from __future__ import annotations

from typing import Any

import yaml

from muster.cluster.job_kinds import JOB_KINDS
from muster.errors import HarnessError
from muster.suite import paths

_DIRECTORIES = ("walkthroughs", "jobs")  # of manifests/


def load_manifests(file: str) -> list[dict[str, Any]]:
    """The manifests of a file, by its name without .yaml."""
    known = {path.stem: path for name in _DIRECTORIES for path in (paths.manifests() / name).glob("*.yaml")}
    path = known.get(file)
    if path is None:
        where = " or ".join(f"manifests/{name}" for name in _DIRECTORIES)
        raise HarnessError(f"there is no manifest {file!r} in {where}: choose from {', '.join(sorted(known))}")
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


def job_pods(name: str, manifest: dict[str, Any]) -> list[str]:
    """The names of a job's pods, without a launcher, which is created when all workers are ready."""
    kind = next(kind for kind in JOB_KINDS if kind.kind == manifest["kind"])
    roles = manifest["spec"].get(kind.replica_specs, {"Worker": manifest["spec"]})
    counts = {role: int(fields.get("replicas", 1)) for role, fields in roles.items()}
    if kind.has_launcher:
        counts.pop(kind.roles[0], None)
    return [f"{name}-{role.lower()}-{number}" for role, count in counts.items() for number in range(count)]


def remove_field(manifest: dict[str, Any], path: str) -> None:
    *parents, last = path.split(".")
    for key in parents:
        manifest = manifest[key]
    del manifest[last]


def has_field(manifest: dict[str, Any], path: str) -> bool:
    found: Any = manifest
    for key in path.split("."):
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True


def set_field(manifest: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for key in parents:
        manifest = manifest.setdefault(key, {})
    manifest[last] = value
