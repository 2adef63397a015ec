"""Check an existing cluster before anything is created there; each problem says what to do about it.

Nothing is changed: admission is tested with dry-run requests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from muster.assets.components import component_of, version_numbers
from muster.cluster.api import Api, ApiRefused
from muster.cluster.existing import rbac
from muster.cluster.existing.pool_check import pool_nodes, pool_problems
from muster.cluster.resources import LIMIT_RANGE, POD, RESOURCE_QUOTA, Resource
from muster.cluster.run_scope import RUN_LABEL, RunScope, new_run_id
from muster.errors import HarnessError, UsageError
from muster.suite import paths

OLDEST = (1, 29)
NEWEST = version_numbers(component_of("kube-apiserver").version)[:2]
_PAGE = 500  # pods
_INTERFERING = {  # by a part of their pods' names
    "cluster-autoscaler": "pods of scenarios are pending on purpose, and it may add nodes for them",
    "karpenter": "pods of scenarios are pending on purpose, and it may add nodes for them",
    "kwok-controller": "if it manages all nodes, it changes the run's nodes and pods as well; "
    "limit it to its own by a label or an annotation",
}


@dataclass
class Findings:
    """Problems prevent a run, warnings do not."""

    version: str = ""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    missing: list[rbac.Permission] = field(default_factory=list)

    def raise_first_problem(self) -> None:
        if self.problems:
            more = f" (and {len(self.problems) - 1} more: muster doctor shows all)" if self.problems[1:] else ""
            raise UsageError(self.problems[0] + more)


def inspect(
    api: Api,
    kinds: Iterable[Resource],
    jobs: Iterable[Resource] = (),
    *,
    pool: Mapping[str, str] = MappingProxyType({}),
) -> Findings:
    """Check everything that a run needs; `kinds` are those of the scheduler, `pool` selects real nodes for it.

    Without the kinds of `jobs` a run is possible: only the scenarios with jobs are not staged.
    """
    findings = Findings(version=json.loads(api.read("/version")).get("gitVersion", ""))
    _check_version(findings)
    groups = rbac.served_groups(api)
    needed = list(kinds)
    findings.problems += [_not_served([kind]) for kind in needed if not is_served(api, kind, groups)]
    unserved = [kind for kind in jobs if kind not in needed and not is_served(api, kind, groups)]
    if unserved:
        findings.warnings.append(f"{_not_served(unserved)}; until then scenarios that need them are not staged")
    findings.missing = rbac.missing_permissions(api, groups=groups, real_nodes=bool(pool))
    if findings.missing:
        listed = ", ".join(map(str, findings.missing[:3])) + (", …" if findings.missing[3:] else "")
        command = f"muster rbac {'--node-selector ' if pool else ''}--user NAME"
        findings.problems.append(
            f"permissions are missing ({listed}): have an administrator apply what `{command}` prints"
        )
        return findings
    if pool:
        findings.problems += pool_problems(pool_nodes(api, pool), pool)
    _check_admission(api, findings)
    _find_interfering(api, findings)
    return findings


def _check_version(findings: Findings) -> None:
    number = re.match(r"v?(\d+)\.(\d+)", findings.version)
    found = (int(number[1]), int(number[2])) if number else (0, 0)
    if found < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        findings.problems.append(f"Kubernetes {findings.version or '(no version)'} is too old: use {oldest} or newer")
    elif found > NEWEST:
        newest = ".".join(map(str, NEWEST))
        findings.warnings.append(f"Kubernetes {findings.version} is newer than what Muster was tested with ({newest})")


def is_served(api: Api, kind: Resource, groups: frozenset[str]) -> bool:
    if kind.api_version.partition("/")[0] not in groups:
        return False
    try:
        listed = json.loads(api.read(f"/apis/{kind.api_version}"))
    except ApiRefused as refusal:
        if refusal.status != 404:
            raise
        return False
    return any(one["name"] == kind.plural for one in listed.get("resources", []))


def _not_served(kinds: Sequence[Resource]) -> str:
    listed = ", ".join(f"{kind.plural} of {kind.api_version}" for kind in kinds)
    files = dict.fromkeys(str(file) for kind in kinds for file in _crd_files(kind.api_version.partition("/")[0]))
    how = f", or apply {' and '.join(files)}" if files else ""
    return f"the cluster does not serve {listed}: install the component that defines them{how}"


def _crd_files(group: str) -> list[Path]:
    """What an administrator applies where kinds of this group are missing and their own installer is not wanted."""
    files = sorted((paths.manifests() / "crds").glob("*.yaml"))
    read = {file: yaml.safe_load(file.read_text(encoding="utf-8")) for file in files}
    return [file for file, loaded in read.items() if loaded.get("spec", {}).get("group") == group]


def _check_admission(api: Api, findings: Findings) -> None:
    """Dry-run the creation of a namespace and a node of a run."""
    scope = RunScope(new_run_id())
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "dry-run"}}
    for manifest in (namespace_manifest(scope.token), node):
        try:
            api.dry_run(scope.manifest(manifest))
        except ApiRefused as refusal:
            if "dry run" in refusal.message:  # a webhook that does not support dry-run: the run itself will show it
                continue
            findings.problems.append(
                f"the cluster refuses a {manifest['kind']} of a run: {refusal.message}; "
                f"make its admission accept objects with the label {RUN_LABEL}"
            )


def namespace_manifest(name: str, annotations: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """A namespace of a run; the dry-run and the run create the same."""
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}  # no container runs: there is nothing to protect
    metadata = {"name": name, "labels": labels, "annotations": dict(annotations)}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _find_interfering(api: Api, findings: Findings) -> None:
    names = [pod["metadata"]["name"] for pod in _all_pods(api)]
    for other, why in _INTERFERING.items():
        if any(other in name for name in names):
            findings.warnings.append(f"{other} runs there: {why}")


def _all_pods(api: Api) -> Iterator[dict[str, Any]]:
    """Page by page."""
    position: dict[str, str] = {}
    while True:
        response = api.list(POD, limit=str(_PAGE), **position)
        yield from response["items"]
        position = {"continue": response.get("metadata", {}).get("continue", "")}
        if not position["continue"]:
            return


def check_namespace(api: Api, namespace: str) -> None:
    """Raise if the cluster has put a quota or limits into a new namespace: they would change what scenarios test."""
    for kind in (RESOURCE_QUOTA, LIMIT_RANGE):
        found = [one["metadata"]["name"] for one in api.list(kind, namespace)["items"]]
        if found:
            raise HarnessError(
                f"the cluster creates the {kind.kind} {found[0]} in every new namespace, which changes what scenarios"
                f" test: exempt namespaces with the label {RUN_LABEL}"
            )
