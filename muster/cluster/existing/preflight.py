"""A cluster is looked at before anything is created there: each thing that is wrong is one sentence with its remedy.

Nothing is changed: what would be refused is found out by rehearsing it (a dry run passes through admission).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from muster import suite
from muster.cluster.api import Api, ApiRefused
from muster.cluster.fences import RUN_LABEL, Fence, new_run
from muster.cluster.foreign import rights
from muster.cluster.foreign.namespaces import namespace_manifest
from muster.cluster.resources import LIMIT_RANGE, POD, RESOURCE_QUOTA, Resource
from muster.errors import HarnessError, UsageError

OLDEST = (1, 29)
NEWEST = (1, 37)
_PAGE = 500  # pods
_WORTH_KNOWING = {  # by what the names of their pods have in them
    "cluster-autoscaler": "pods of scenarios wait on purpose, and it may add nodes for them",
    "karpenter": "pods of scenarios wait on purpose, and it may add nodes for them",
    "kwok-controller": "should it look after all nodes, it plays with the run's nodes and pods too; "
    "let it look after its own by a label or an annotation",
}
_DEFINED_BY = {  # what an administrator applies where a kind is missing and its own installer is not wanted
    "scheduling.volcano.sh": ("volcano-podgroups", "volcano-queues"),
    "bus.volcano.sh": ("volcano-commands",),
    "scheduling.sigs.k8s.io": ("koordinator-podgroups",),
    "kubeflow.org": ("kubeflow-pytorchjobs", "kubeflow-mpijobs"),
}


@dataclass
class Findings:
    """What was seen, what stands in the way, and what is worth knowing."""

    version: str = ""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    missing: list[rights.Right] = field(default_factory=list)

    def must_be_sound(self) -> None:
        if self.problems:
            more = f" (and {len(self.problems) - 1} more: muster doctor shows all)" if self.problems[1:] else ""
            raise UsageError(self.problems[0] + more)


def inspect(api: Api, kinds: Iterable[Resource], jobs: Iterable[Resource] = ()) -> Findings:
    """Look at everything that a run needs; `kinds` are those that the scheduler is spoken to with.

    Without those of `jobs` a run can do much: only what speaks of them is not staged.
    """
    findings = Findings(version=json.loads(api.read("/version")).get("gitVersion", ""))
    _look_at_version(findings)
    groups = rights.served_groups(api)
    needed = list(kinds)
    findings.problems += [_remedy([kind]) for kind in needed if not is_served(api, kind, groups)]
    unserved = [kind for kind in jobs if kind not in needed and not is_served(api, kind, groups)]
    if unserved:
        findings.warnings.append(f"{_remedy(unserved)}; until then what speaks of them is not staged")
    findings.missing = rights.missing(api, groups=groups)
    if findings.missing:
        told = ", ".join(map(str, findings.missing[:3])) + (", …" if findings.missing[3:] else "")
        findings.problems.append(
            f"rights are missing there ({told}): have an administrator apply what `muster rbac --user NAME` prints"
        )
        return findings
    _rehearse(api, findings)
    _look_for_others(api, findings)
    return findings


def _look_at_version(findings: Findings) -> None:
    number = re.match(r"v?(\d+)\.(\d+)", findings.version)
    found = (int(number[1]), int(number[2])) if number else (0, 0)
    if found < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        findings.problems.append(f"Kubernetes {findings.version or '(no version)'} is too old: {oldest} is the least")
    elif found > NEWEST:
        newest = ".".join(map(str, NEWEST))
        findings.warnings.append(f"Kubernetes {findings.version} is newer than what Muster was tried on ({newest})")


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


def _remedy(kinds: Sequence[Resource]) -> str:
    told = ", ".join(f"{kind.plural} of {kind.api_version}" for kind in kinds)
    names = dict.fromkeys(name for kind in kinds for name in _DEFINED_BY.get(kind.api_version.partition("/")[0], ()))
    files = [str(suite.manifests() / "crds" / f"{name}.yaml") for name in names]
    how = f", or apply {' and '.join(files)}" if files else ""
    return f"the cluster does not serve {told}: install what brings them{how}"


def _rehearse(api: Api, findings: Findings) -> None:
    """Admission has its say about a namespace and a node like ours."""
    fence = Fence(new_run())
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "rehearsal"}}
    for manifest in (namespace_manifest(fence.token), node):
        try:
            api.rehearse(fence.created(manifest))
        except ApiRefused as refusal:
            if "dry run" in refusal.message:  # a webhook that cannot be asked: the run itself will show it
                continue
            findings.problems.append(
                f"the cluster refuses a {manifest['kind']} of ours: {refusal.message}; "
                f"have its admission let pass what carries the label {RUN_LABEL}"
            )


def _look_for_others(api: Api, findings: Findings) -> None:
    names = [pod["metadata"]["name"] for pod in _pods(api)]
    for other, why in _WORTH_KNOWING.items():
        if any(other in name for name in names):
            findings.warnings.append(f"{other} runs there: {why}")


def _pods(api: Api) -> Iterator[dict[str, Any]]:
    """All of them, page by page."""
    place: dict[str, str] = {}
    while True:
        answer = api.list(POD, limit=str(_PAGE), **place)
        yield from answer["items"]
        place = {"continue": answer.get("metadata", {}).get("continue", "")}
        if not place["continue"]:
            return


def look_at_namespace(api: Api, namespace: str) -> None:
    """What a cluster puts into every new namespace may change what a scenario means."""
    for kind in (RESOURCE_QUOTA, LIMIT_RANGE):
        found = [one["metadata"]["name"] for one in api.list(kind, namespace)["items"]]
        if found:
            raise HarnessError(
                f"the cluster puts the {kind.kind} {found[0]} into new namespaces: scenarios would not mean there "
                f"what they say; have namespaces with the label {RUN_LABEL} left out"
            )
