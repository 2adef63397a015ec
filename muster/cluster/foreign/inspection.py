"""A cluster is looked at before anything is created there: each thing that is wrong is one sentence with its remedy.

Nothing is changed: what would be refused is found out by rehearsing it (a dry run passes through admission).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from muster import suite
from muster.cluster.api import Api, ApiRefused
from muster.cluster.fences import RUN_LABEL, Fence, new_run
from muster.cluster.foreign import rights
from muster.cluster.resources import LIMIT_RANGE, NAMESPACE, NODE, POD, RESOURCE_QUOTA, Resource
from muster.errors import HarnessError, UsageError

OLDEST = (1, 29)
NEWEST = (1, 37)
_SCALERS = ("cluster-autoscaler", "karpenter")
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
    asked: int = 0  # rights

    def must_be_sound(self) -> None:
        if self.problems:
            more = f" (and {len(self.problems) - 1} more: muster doctor shows all)" if self.problems[1:] else ""
            raise UsageError(self.problems[0] + more)


def inspect(api: Api, kinds: Iterable[Resource]) -> Findings:
    """Look at everything that a run needs; `kinds` are those that the scheduler is spoken to with."""
    findings = Findings(version=json.loads(api.read("/version")).get("gitVersion", ""))
    _look_at_version(findings)
    groups = _served_groups(api)
    for kind in kinds:
        _look_for(api, kind, groups, findings)
    findings.missing = rights.missing(api, groups=frozenset(groups))
    findings.asked = len(rights.wanted())
    if findings.missing:
        told = ", ".join(map(str, findings.missing[:3])) + (", …" if findings.missing[3:] else "")
        findings.problems.append(
            f"rights are missing there ({told}): have an administrator apply what `muster rbac --user NAME` prints"
        )
        return findings
    _rehearse(api, findings)
    _look_for_scalers(api, findings)
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


def _served_groups(api: Api) -> set[str]:
    answer = json.loads(api.read("/apis"))
    return {group["name"] for group in answer.get("groups", [])}


def _look_for(api: Api, kind: Resource, groups: set[str], findings: Findings) -> None:
    group = kind.api_version.partition("/")[0]
    served = False
    if group in groups:
        try:
            listed = json.loads(api.read(f"/apis/{kind.api_version}"))
            served = any(one["name"] == kind.plural for one in listed.get("resources", []))
        except ApiRefused as refusal:
            if refusal.status != 404:
                raise
    if not served:
        files = [str(suite.manifests() / "crds" / f"{name}.yaml") for name in _DEFINED_BY.get(group, ())]
        how = f", or apply {' and '.join(files)}" if files else ""
        findings.problems.append(
            f"the cluster does not serve {kind.plural} of {kind.api_version}: install what brings them{how}"
        )


def _rehearse(api: Api, findings: Findings) -> None:
    """Admission has its say about a namespace and a node like ours."""
    fence = Fence(new_run())
    for kind, name in ((NAMESPACE, fence.token), (NODE, "rehearsal")):
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}}
        try:
            api.rehearse(fence.created(manifest))
        except ApiRefused as refusal:
            if "dry run" in refusal.message:  # a webhook that cannot be asked: the run itself will show it
                continue
            findings.problems.append(
                f"the cluster refuses a {kind.kind} of ours: {refusal.message}; "
                f"have its admission let pass what carries the label {RUN_LABEL}"
            )


def _look_for_scalers(api: Api, findings: Findings) -> None:
    names = [one["metadata"]["name"] for one in api.list(POD, limit="500")["items"]]
    for scaler in _SCALERS:
        if any(scaler in name for name in names):
            findings.warnings.append(
                f"{scaler} runs there: pods of scenarios wait on purpose, and it may add nodes for them"
            )


def look_at_namespace(api: Api, namespace: str) -> None:
    """What a cluster puts into every new namespace may change what a scenario means."""
    for kind in (RESOURCE_QUOTA, LIMIT_RANGE):
        found = [one["metadata"]["name"] for one in api.list(kind, namespace)["items"]]
        if found:
            raise HarnessError(
                f"the cluster puts the {kind.kind} {found[0]} into new namespaces: scenarios would not mean there "
                f"what they say; have namespaces with the label {RUN_LABEL} left out"
            )
