"""Apache YuniKorn: a scheduler that replaces kube-scheduler, without flags and without kinds of its own.

Its web port cannot be chosen. A second one on the same machine logs that the port is in use, and continues.

Its API: labels and annotations on pods, and one ConfigMap for all queues. It has no group object: a gang is an
application, and each of its pods declares the whole gang, so the dialect remembers a gang until its pods are created.
The scheduler reserves a gang's capacity by placeholder pods with the gang's labels: they use GPUs and quota, and are
never members.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.cluster.resources import CONFIG_MAP
from muster.processes import Process
from muster.recording.objects import Pod
from muster.recording.pod_history import PLACEHOLDER_LABEL, PROBE_ROLE, ROLE_LABEL
from muster.recording.quantities import GPU
from muster.schedulers.base import Scheduler
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.differences import Difference, client_limits
from muster.schedulers.excuses import Excuse
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.unsupported import YUNIKORN, Feature, Unsupported

NAMESPACE = "yunikorn"  # of its configuration
_OWN = "yunikorn.apache.org/"
_QUEUE = _OWN + "queue"
_APPLICATION = _OWN + "app-id"
_TASK_GROUPS = _OWN + "task-groups"
# Of pods that name none. Not "default": YuniKorn 1.8 places applications whose queue is missing in root.default.
_DEFAULT_QUEUE = "muster-unlimited"
_PROPERTIES = {"application.sort.policy": "fifo"}  # as its documentation requires for gangs
# Hard: a gang that is not placed in time fails, where Soft would start a part of it. No scenario lasts an hour.
_POLICY = "gangSchedulingStyle=Hard placeholderTimeoutInSeconds=3600"

_QPS = 2000
_INTERVAL = "100ms"
_DOCUMENTATION = "https://yunikorn.apache.org/docs/1.8.0/"


class YuniKornDialect(Dialect):
    """Labels, annotations and the queue ConfigMap."""

    scheduler_name = "yunikorn"
    project = "YuniKorn"
    unsupported: tuple[Unsupported, ...] = YUNIKORN

    def __init__(self) -> None:
        super().__init__()
        self._gangs: dict[tuple[str, str], GangRequest] = {}
        self._queues: dict[str, tuple[str, QueueRequest]] = {}  # by the scenario's name: YuniKorn's, and limits
        self._queues_created = 0

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        if request.non_preemptible:
            raise self.not_supported(Feature.NON_PREEMPTIBLE)
        manifest = super().pod_manifest(request, namespace)
        labels, annotations = manifest["metadata"]["labels"], manifest["metadata"]["annotations"]
        labels[_APPLICATION] = f"{namespace}.{request.gang or request.name}"
        queue = request.queue
        if request.gang:
            gang = self._declared(request.gang, namespace)
            queue = gang.queue
            own = _shape(manifest, request.role)
            groups = self._task_groups(gang, namespace) or {own: _task_group(gang, "all", gang.min_member, manifest)}
            annotations[_TASK_GROUPS] = json.dumps(list(groups.values()))
            annotations[_OWN + "schedulingPolicyParameters"] = _POLICY
            if own in groups:
                annotations[_OWN + "task-group-name"] = groups[own]["name"]
        elif request.labels.get(ROLE_LABEL) == PROBE_ROLE and self._queues:
            queue = list(self._queues)[-1]  # when the probe is bound there, YuniKorn has read the newest queue
        labels[_QUEUE] = f"root.{self._queues[queue][0] if queue in self._queues else queue or _DEFAULT_QUEUE}"
        return manifest

    def gang_manifest(self, request: GangRequest, namespace: str) -> None:
        self.refuse_disruption_mode_all(request)
        if request.linked_gangs:
            raise self.not_supported(Feature.LINKED_GANGS)
        self._gangs[namespace, request.name] = request

    def queue_manifest(self, request: QueueRequest) -> Manifest:
        if request.strict_fifo:
            raise self.not_supported(Feature.STRICT_FIFO)
        if request.reserves_for_head:
            raise self.not_supported(Feature.HEAD_RESERVATION)
        if request.lends:
            raise self.not_supported(Feature.LENDING)
        if request.weight != 1:
            raise self.not_supported(Feature.WEIGHTS)
        self._queues_created += 1  # a deleted queue is drained for a while: its name is not used again
        self._queues[request.name] = (f"{request.name}-{self._queues_created}", request)
        return self.configuration()

    def queues_without(self, name: str) -> Manifest:
        self._queues.pop(name, None)
        return self.configuration()

    def configuration(self) -> Manifest:
        """The ConfigMap of all queues."""
        queues: list[Manifest] = [{"name": _DEFAULT_QUEUE, "properties": dict(_PROPERTIES)}]
        for name, request in self._queues.values():
            limits = _limits(request)
            resources = {"resources": {"max": limits}} if limits else {}
            queues.append({"name": name, "properties": dict(_PROPERTIES), **resources})
        root = {"name": "root", "submitacl": "*", "queues": queues}
        partitions = {"partitions": [{"name": "default", "queues": [root]}]}
        metadata = {"name": "yunikorn-configs", "namespace": NAMESPACE}
        data = {"queues.yaml": yaml.safe_dump(partitions, sort_keys=False)}
        return {"apiVersion": CONFIG_MAP.api_version, "kind": CONFIG_MAP.kind, "metadata": metadata, "data": data}

    def queue_of_pod(self, pod: Pod) -> str:
        label = pod.metadata.labels.get(_QUEUE, "").removeprefix("root.")
        return next((name for name, (known, _) in self._queues.items() if known == label), label)

    def limits_of(self, queue: str) -> dict[str, str]:
        limits = _limits(self._queues[queue][1])
        return {"cpu" if resource == "vcore" else resource: amount for resource, amount in limits.items()}

    def _declared(self, gang: str, namespace: str) -> GangRequest:
        try:
            return self._gangs[namespace, gang]
        except KeyError:
            raise self.not_supported(Feature.PODS_BEFORE_GANG) from None

    def _task_groups(self, gang: GangRequest, namespace: str) -> dict[str, Manifest]:
        """What must be placed together, one task group for each shape of pod; empty where only the number is known."""
        groups: dict[str, Manifest] = {}
        for member in _needed_members(gang):
            example = super().pod_manifest(member, namespace)
            shape = _shape(example, member.role)
            group = groups.setdefault(shape, _task_group(gang, member.role or f"kind-{len(groups) + 1}", 0, example))
            group["minMember"] += 1
        return groups


def _needed_members(gang: GangRequest) -> list[PodRequest]:
    """The pods that must be placed together: the minimum of each role, or else the largest pods."""
    if not gang.roles:
        return sorted(gang.members, key=lambda member: -member.gpus)[: gang.min_member]
    of_role = {role: [member for member in gang.members if member.role == role] for role in gang.roles}
    return [member for role, minimum in gang.roles.items() for member in of_role[role][:minimum]]


def _limits(request: QueueRequest) -> dict[str, str]:
    limits = {GPU: request.gpus, "vcore": request.cpus, "memory": request.memory}
    return {resource: str(amount) for resource, amount in limits.items() if amount is not None}


def _resources(manifest: Manifest) -> dict[str, str]:
    found: dict[str, str] = manifest["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return found


def _placement(manifest: Manifest) -> dict[str, Any]:
    return {field: manifest["spec"][field] for field in ("nodeSelector", "tolerations") if field in manifest["spec"]}


def _shape(manifest: Manifest, role: str = "") -> str:
    """Pods of one shape are interchangeable."""
    return json.dumps([role, _resources(manifest), _placement(manifest)], sort_keys=True)


def _task_group(gang: GangRequest, name: str, minimum: int, example: Manifest) -> Manifest:
    """Its labels are those of the placeholder pods: by them the recording recognises these."""
    labels = {PLACEHOLDER_LABEL: gang.name}
    amounts = {"minMember": minimum, "minResource": _resources(example)}
    return {"name": name, **amounts, "labels": labels, **_placement(example)}


class YuniKorn(Scheduler):
    """Preemption is not claimed: YuniKorn preempts between queues only, and never by priority alone."""

    name: ClassVar[str] = "yunikorn"
    assets: ClassVar[tuple[str, ...]] = ("yunikorn",)
    dialect_class: ClassVar[type[Dialect]] = YuniKornDialect
    dialect: YuniKornDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        "gangs": _DOCUMENTATION + "user_guide/gang_scheduling/",
        "queues": _DOCUMENTATION + "user_guide/queue_config/",
        "taints": _DOCUMENTATION + "performance/evaluate_perf_function_with_kwok/#taint--tolerations",
    }
    excuses: ClassVar[tuple[Excuse, ...]] = (
        Excuse(
            ("QUE-22",),
            "it documents that an application is rejected if no placement rule finds a queue for it",
            _DOCUMENTATION + "user_guide/placement_rules",
        ),
    )
    longest_backoff = 2.0  # it tries pending pods every 100 ms, and reports about them once a second
    differences: ClassVar[tuple[Difference, ...]] = (
        client_limits("1000 requests/s, burst 1000", _QPS, _QPS),
        Difference("scheduler interval", "1s", _INTERVAL, "shorter waits"),
        Difference(
            "gangSchedulingStyle",
            "Soft",
            "Hard",
            "with Soft the pods of a gang that was not placed in time are scheduled one by one, as no gang",
        ),
        Difference(
            "placeholderTimeoutInSeconds",
            "900",
            "3600",
            "longer than any scenario: the time-out of the style is tested by none",
        ),
    )

    def install(self, api: Api) -> None:
        api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        api.ensure(_defaults())
        api.ensure(self.dialect.configuration())

    def _prepare(self) -> list[Process]:
        environment = {**os.environ, "KUBECONFIG": str(self.context.admin_kubeconfig), "NAMESPACE": NAMESPACE}
        return [self._process(self.name, [], environment)]


def _defaults() -> Manifest:
    """What its chart would write, with settings that only save the harness time."""
    data = {
        "service.schedulingInterval": _INTERVAL,
        "kubernetes.qps": str(_QPS),
        "kubernetes.burst": str(_QPS),
    }
    metadata = {"name": "yunikorn-defaults", "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
