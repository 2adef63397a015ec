"""NVIDIA's KAI: a scheduler that decides, a binder that carries it out, and controllers for PodGroups and queues.

A pod without a gang gets a PodGroup from the pod-grouper. KAI's admission webhooks do not run here, nor the controller
that counts what PodGroups use: in 0.12.0 it always listens on port 8080 of all addresses, whatever its flags say. (The
scheduler's server for snapshots listens on all addresses as well; its port can be chosen.)

Its API: PodGroup and Queue of scheduling.run.ai; an annotation on the pod names the PodGroup, a label the queue. A
workload without a queue is put into one without limits. KAI never preempts workloads of priority 100 and more, and
gives workloads without a priority class priority 50; Kubernetes has neither rule, so pods and PodGroups state both:
preemptible, and a priority class of value 0.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from muster.cluster.api import Api
from muster.cluster.resources import Resource, custom_resource
from muster.processes import Process
from muster.processes.readiness import Port
from muster.recording.objects import CustomObject, Pod
from muster.recording.quantities import GPU, thousandths
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.crds import install_crds
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.differences import Difference, client_limits
from muster.schedulers.excuses import Excuse
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.unsupported import KAI, Feature, Unsupported

KAI_GROUP = custom_resource("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups")
KAI_QUEUE = custom_resource("scheduling.run.ai/v2", "Queue", "queues", namespaced=False)
DEFAULT_QUEUE = "muster-unlimited"  # of workloads that name none
DEFAULT_PRIORITY_CLASS = "muster-default"  # of workloads that name none
_PARENT_QUEUE = "muster"  # only a queue that has a parent takes workloads
_UNLIMITED = -1
_GROUP_NAME = "pod-group-name"
_LABELS = "kai.scheduler/"
_UNITS = {"gpu": (GPU, ""), "cpu": ("cpu", "m"), "memory": ("memory", "M")}  # as KAI counts them

_PERIOD, _SHIPPED_PERIOD = 0.2, 1.0  # seconds between two scheduling cycles; every cycle tries every pending job
_BACKOFF_PERIODS = 5
_QPS, _BURST = 2000, 4000
_PROJECT = "https://github.com/NVIDIA/KAI-Scheduler/tree/v0.12.0/"
_DOCUMENTATION = _PROJECT + "docs/"
_PREDICATES = _PROJECT + "pkg/scheduler/k8s_internal/predicates/predicates.go"


class KaiDialect(Dialect):
    """scheduling.run.ai/v2alpha2 and v2"""

    scheduler_name = "kai-scheduler"
    project = "KAI"
    unsupported: tuple[Unsupported, ...] = KAI
    kinds_read: tuple[Resource, ...] = (KAI_GROUP, KAI_QUEUE)
    group_kind: Resource | None = KAI_GROUP
    queue_kind: Resource | None = KAI_QUEUE
    group_name_keys: tuple[str, ...] = (_GROUP_NAME,)
    queue_name_keys: tuple[str, ...] = (_LABELS + "queue",)
    group_phases: frozenset[str] = frozenset({"queued"})
    victim_event_reason = "Evict"
    victim_event_names_preemptor = False  # it is an event about the PodGroup

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        manifest = super().pod_manifest(request, namespace)
        metadata = manifest["metadata"]
        if request.gang:
            metadata["annotations"][_GROUP_NAME] = request.gang
            if request.role:
                metadata["labels"][_LABELS + "subgroup-name"] = request.role
            return manifest
        metadata["labels"] |= {
            _LABELS + "queue": request.queue or DEFAULT_QUEUE,
            _LABELS + "preemptibility": _preemptibility(non_preemptible=request.non_preemptible),
            "priorityClassName": request.priority_class or DEFAULT_PRIORITY_CLASS,
        }
        return manifest

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest:
        if request.linked_gangs:
            raise self.not_supported(Feature.LINKED_GANGS)
        spec: Manifest = {
            "minMember": request.min_member,
            "queue": request.queue or DEFAULT_QUEUE,
            "priorityClassName": request.priority_class or DEFAULT_PRIORITY_CLASS,
            "preemptibility": _preemptibility(non_preemptible=any(pod.non_preemptible for pod in request.members)),
        }
        if request.roles:
            spec["subGroups"] = [{"name": role, "minMember": minimum} for role, minimum in request.roles.items()]
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": KAI_GROUP.api_version, "kind": KAI_GROUP.kind, "metadata": metadata, "spec": spec}

    def min_member_patch(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.min_member}}

    def priority_patch(self, priority_class: str) -> Manifest:
        return {"spec": {"priorityClassName": priority_class}}

    def queue_manifest(self, request: QueueRequest) -> Manifest:
        """A limit is a quota as well, so that it is never reclaimed; without a limit capacity is shared by weight."""
        if request.strict_fifo:
            raise self.not_supported(Feature.STRICT_FIFO)
        if request.reserves_for_head:
            raise self.not_supported(Feature.HEAD_RESERVATION)
        cpus = None if request.cpus is None else request.cpus * 1000
        memory = None if request.memory is None else thousandths(request.memory) // 10**9
        limits = {"gpu": request.gpus, "cpu": cpus, "memory": memory}
        limited = any(amount is not None for amount in limits.values())
        quota = _UNLIMITED if limited else 0
        resources = {name: _share(amount, quota, request.weight) for name, amount in limits.items()}
        if request.guaranteed_gpus:
            resources["gpu"]["quota"] = request.guaranteed_gpus
        return _queue(request.name, {"parentQueue": _PARENT_QUEUE, "resources": resources})

    def victim_message_parts(self, gang: str, namespace: str) -> tuple[str, ...]:
        return (f"{namespace}/{gang}",)

    def phase(self, group: Mapping[str, Any]) -> str:
        """KAI reports none: a PodGroup counts as queued, and its pods show the rest."""
        return "queued"

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.annotations.get(_GROUP_NAME, "")

    def queue_of(self, group: CustomObject) -> str:
        return str(group.spec.get("queue", ""))

    def capability(self, queue: CustomObject) -> dict[str, str]:
        resources = queue.spec.get("resources", {})
        limits = {name: resources.get(name, {}).get("limit", _UNLIMITED) for name in _UNITS}
        return {_UNITS[name][0]: f"{limit}{_UNITS[name][1]}" for name, limit in limits.items() if limit != _UNLIMITED}

    def is_open(self, queue: CustomObject) -> bool:
        return True


def default_objects() -> list[Manifest]:
    """What exists before the first scenario: the default priority class, and the queues of workloads without one."""
    unlimited = {name: _share(None, _UNLIMITED, 1) for name in _UNITS}
    default_class = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 0}
    return [
        {**default_class, "metadata": {"name": DEFAULT_PRIORITY_CLASS}},
        _queue(_PARENT_QUEUE, {"resources": unlimited}),
        _queue(DEFAULT_QUEUE, {"parentQueue": _PARENT_QUEUE, "resources": unlimited}),
    ]


def _share(limit: int | None, quota: int, weight: int) -> dict[str, int]:
    if limit is None:
        return {"quota": quota, "limit": _UNLIMITED, "overQuotaWeight": weight}
    return {"quota": limit, "limit": limit, "overQuotaWeight": weight}


def _queue(name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": KAI_QUEUE.api_version, "kind": KAI_QUEUE.kind, "metadata": {"name": name}, "spec": spec}


def _preemptibility(*, non_preemptible: bool) -> str:
    return "non-preemptible" if non_preemptible else "preemptible"


class Kai(Scheduler):
    """`default` is what the scheduler does without a configuration file, as its operator writes it as well.

    `as-shipped` is the same with the flags' defaults. Both leave out the webhooks.
    """

    name: ClassVar[str] = "kai"
    configurations: ClassVar[tuple[str, ...]] = ("default", "as-shipped")
    matrix_configurations: ClassVar[tuple[str, ...]] = ("default",)
    assets: ClassVar[tuple[str, ...]] = (
        "kai-scheduler",
        "kai-binder",
        "kai-podgrouper",
        "kai-queuecontroller",
        "kai-crds.yaml",
    )
    dialect_class: ClassVar[type[Dialect]] = KaiDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        "gangs": _DOCUMENTATION + "batch",
        "queues": _DOCUMENTATION + "queues",
        "affinity": _PREDICATES,  # PodAffinity and NodeAffinity; its documentation has no page
        "taints": _PREDICATES,
        "volumes": _PREDICATES,
        "preemption": _DOCUMENTATION + "priority",
        "own-victims": _PROJECT
        + "pkg/podgrouper/pod_controller.go",  # no PodGroups for other pods: they are no victims
        "job-preemption": _DOCUMENTATION + "priority",
    }
    excuses: ClassVar[tuple[Excuse, ...]] = (
        Excuse(("PRE-36",), "its predicates are those of kube-scheduler without PodTopologySpread", _PREDICATES),
        Excuse(("QUE-20",), "the PodGroup reports the queue, not the pod", _DOCUMENTATION + "queues"),
        Excuse(
            ("JPR-18",),
            "its event Evict is about the PodGroup of the victim",
            _DOCUMENTATION + "priority",
            part="that the event names the preemptor and the node",
        ),
    )
    differences: ClassVar[tuple[Difference, ...]] = (
        client_limits("50 requests/s, burst 300", _QPS, _BURST),
        Difference("scheduler period", f"{_SHIPPED_PERIOD:g} s", f"{_PERIOD:g} s", "shorter waits"),
        Difference(
            "victim conditions (--update-pod-eviction-condition)",
            "off",
            "on",
            "the conditions of victims that JPR-02 and PRE-14 ask for exist, and have to be switched on",
            findings=("JPR-02", "PRE-14"),
            seen="They do: passed here, 0 of 5 each as shipped",
        ),
        Difference(
            "preemptibility of workloads from priority 100 on",
            "non-preemptible",
            "preemptible, by the label kai.scheduler/preemptibility",
            "the scenarios have victims of priority 100 and more, and Kubernetes has no such limit",
            only=("default", "as-shipped"),
        ),
        Difference(
            "priority of workloads without a class",
            "50",
            "0, by a class of that value",
            "Kubernetes' own",
            only=("default", "as-shipped"),
        ),
    )

    def __init__(self, configuration: str, context: ProcessContext) -> None:
        super().__init__(configuration, context)
        self._period = _SHIPPED_PERIOD if self.as_shipped else _PERIOD
        self.longest_backoff = _BACKOFF_PERIODS * self._period

    def install(self, api: Api) -> None:
        install_crds(api, self.context.assets["kai-crds.yaml"])
        for manifest in default_objects():
            api.ensure(manifest)

    def _prepare(self) -> list[Process]:
        self._ports = [Port(), Port()]
        metrics, plugins = (port.number for port in self._ports)
        scheduler = [
            f"--schedule-period={round(self._period * 1000)}ms",
            f"--listen-address=127.0.0.1:{metrics}",
            f"--plugin-server-port={plugins}",
            f"--update-pod-eviction-condition={str(not self.as_shipped).lower()}",
        ]
        no_servers = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
        flags = {
            "kai-scheduler": scheduler,
            "kai-binder": no_servers,
            "kai-podgrouper": no_servers,
            "kai-queuecontroller": ["--metrics-listen-address=0", "--enable-webhook=false"],
        }
        limits = [] if self.as_shipped else [f"--qps={_QPS}", f"--burst={_BURST}"]
        env = {**os.environ, "KUBECONFIG": str(self.context.admin_kubeconfig)}  # not all of them have --kubeconfig
        return [self._process(name, [*limits, *own_flags], env) for name, own_flags in flags.items()]
