"""Apache YuniKorn's words: labels and annotations on pods, and one ConfigMap for all queues.

It has no group object: a gang is an application, and each of its pods brings along the declaration of the whole. So the
dialect remembers what was declared until the pods come. The room of a gang is held by pods of the scheduler's own,
which carry the labels of the gang: they use GPUs and count against queues, and are never members.
"""

from __future__ import annotations

import json
from typing import Any

import yaml

from muster.chronicle.lifelines import CANARY_ROLE, ROLE_LABEL, STANDS_FOR_LABEL
from muster.chronicle.objects import Pod
from muster.chronicle.quantities import GPU
from muster.cluster.resources import CONFIG_MAP
from muster.errors import NotSupported
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

NAMESPACE = "yunikorn"  # its configuration lives there
_OWN = "yunikorn.apache.org/"
_QUEUE = _OWN + "queue"
_APPLICATION = _OWN + "app-id"
_TASK_GROUPS = _OWN + "task-groups"
_DEFAULT_QUEUE = "default"
_PROPERTIES = {"application.sort.policy": "fifo"}  # what its documentation asks for where there are gangs
# Hard: a gang whose room is not found in time fails, where Soft would start a part of it. No scenario lasts an hour.
_POLICY = "gangSchedulingStyle=Hard placeholderTimeoutInSeconds=3600"


class YuniKornDialect(Dialect):
    """One for the life of a subject, because it remembers gangs and queues."""

    def __init__(self) -> None:
        super().__init__("yunikorn")
        self._gangs: dict[tuple[str, str], GangRequest] = {}
        self._queues: dict[str, tuple[str, QueueRequest]] = {}  # by the scenario's name: the name there, and the limits
        self._queues_ever = 0

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        if request.protected:
            raise NotSupported("a pod of YuniKorn can ask not to be evicted, and cannot insist on it")
        manifest = super().pod(request, namespace)
        labels, annotations = manifest["metadata"]["labels"], manifest["metadata"]["annotations"]
        labels[_APPLICATION] = f"{namespace}.{request.gang or request.name}"
        queue = request.queue
        if request.gang:
            gang = self._declared(request.gang, namespace)
            queue = gang.queue
            own = _shape(manifest, request.role)
            groups = self._task_groups(gang, namespace) or {own: _task_group(gang, "all", gang.minimum, manifest)}
            annotations[_TASK_GROUPS] = json.dumps(list(groups.values()))
            annotations[_OWN + "schedulingPolicyParameters"] = _POLICY
            if own in groups:
                annotations[_OWN + "task-group-name"] = groups[own]["name"]
        elif request.labels.get(ROLE_LABEL) == CANARY_ROLE and self._queues:
            queue = list(self._queues)[-1]  # bound there, it proves that the newest queue is known
        labels[_QUEUE] = f"root.{self._queues[queue][0] if queue in self._queues else queue or _DEFAULT_QUEUE}"
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> None:
        self.refuse_to_leave_whole(request)
        if request.with_gangs:
            raise NotSupported("YuniKorn has no word for gangs that start together")
        self._gangs[namespace, request.name] = request

    def queue(self, request: QueueRequest) -> Manifest:
        if request.strictly_in_order:
            raise NotSupported("a queue of YuniKorn tries every application that waits: nobody blocks those behind")
        if request.protects_head:
            raise NotSupported("YuniKorn has no word for a reservation of the job at the head of a queue")
        if request.lends or request.weight != 1:
            raise NotSupported("a queue of YuniKorn has a guaranteed and a largest amount, and no weight")
        self._queues_ever += 1  # a queue that goes is drained for a while: its name is not used again
        self._queues[request.name] = (f"{request.name}-{self._queues_ever}", request)
        return self.configuration()

    def without_queue(self, name: str) -> Manifest:
        self._queues.pop(name, None)
        return self.configuration()

    def configuration(self) -> Manifest:
        """All queues that there are, in the one object that YuniKorn reads them from."""
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
        there = pod.metadata.labels.get(_QUEUE, "").removeprefix("root.")
        return next((name for name, (known, _) in self._queues.items() if known == there), there)

    def limits_of(self, queue: str) -> dict[str, str]:
        limits = _limits(self._queues[queue][1])
        return {"cpu" if resource == "vcore" else resource: amount for resource, amount in limits.items()}

    def _declared(self, gang: str, namespace: str) -> GangRequest:
        try:
            return self._gangs[namespace, gang]
        except KeyError:
            raise NotSupported("a pod of YuniKorn declares its gang itself: it cannot come before that") from None

    def _task_groups(self, gang: GangRequest, namespace: str) -> dict[str, Manifest]:
        """What must find room together, one group for each kind of pod; none where only the number is known."""
        groups: dict[str, Manifest] = {}
        largest_first = sorted(gang.members, key=lambda member: -member.gpus)
        for member in largest_first[: gang.minimum]:
            example = super().pod(member, namespace)
            shape = _shape(example, member.role)
            group = groups.setdefault(shape, _task_group(gang, member.role or f"kind-{len(groups) + 1}", 0, example))
            group["minMember"] += 1
        return groups


def _limits(request: QueueRequest) -> dict[str, str]:
    asked = {GPU: request.gpus, "vcore": request.cpus, "memory": request.memory}
    return {resource: str(amount) for resource, amount in asked.items() if amount is not None}


def _resources(manifest: Manifest) -> dict[str, str]:
    found: dict[str, str] = manifest["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return found


def _placement(manifest: Manifest) -> dict[str, Any]:
    return {field: manifest["spec"][field] for field in ("nodeSelector", "tolerations") if field in manifest["spec"]}


def _shape(manifest: Manifest, role: str = "") -> str:
    """Pods of one shape can take each other's place."""
    return json.dumps([role, _resources(manifest), _placement(manifest)], sort_keys=True)


def _task_group(gang: GangRequest, name: str, minimum: int, example: Manifest) -> Manifest:
    """Its labels are those of the pods that hold the room: by them they are known."""
    labels = {STANDS_FOR_LABEL: gang.name}
    amounts = {"minMember": minimum, "minResource": _resources(example)}
    return {"name": name, **amounts, "labels": labels, **_placement(example)}
