"""Volcano: vc-scheduler, and the two controllers that it needs (for queues, and for PodGroups of single pods).

Its API: PodGroup and Queue of scheduling.volcano.sh; an annotation on the pod names the PodGroup. The priority of a job
is that of its PodGroup, never that of its pods. A pod without the annotation gets a PodGroup of its own from Volcano's
controller, in the queue that another annotation of the pod names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.cluster.resources import Resource, custom_resource
from muster.processes import Process
from muster.processes.readiness import Port
from muster.recording.objects import CustomObject, Pod
from muster.recording.quantities import GPU
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.crds import install_crds
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.differences import Difference, client_limits
from muster.schedulers.excuses import Excuse
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.unsupported import VOLCANO, Feature, Unsupported

VOLCANO_GROUP = custom_resource("scheduling.volcano.sh/v1beta1", "PodGroup", "podgroups")
VOLCANO_QUEUE = custom_resource("scheduling.volcano.sh/v1beta1", "Queue", "queues", namespaced=False)
VOLCANO_COMMAND = custom_resource("bus.volcano.sh/v1alpha1", "Command", "commands")
_GROUP_NAME = "scheduling.k8s.io/group-name"
_QUEUE_NAME = "scheduling.volcano.sh/queue-name"
_PHASES = {"": "queued", "Pending": "queued", "Inqueue": "admitted", "Running": "running", "Completed": "finished"}

_PERIOD, _SHIPPED_PERIOD = 0.2, 1.0  # seconds between two scheduling sessions; every session tries every pending job
_BACKOFF_PERIODS = 5
_NO_ENQUEUE = "preempt-no-enqueue-as-shipped"
_QPS, _BURST = 2000, 4000
_DOCUMENTATION = "https://volcano.sh/en/docs/"
_PROJECT = "https://github.com/volcano-sh/volcano/blob/v1.14.1/"
_DESIGN = _PROJECT + "docs/"  # what the site leaves out
# A victim belongs to a job, and pods of other schedulers belong to none.
_PREEMPT = _PROJECT + "pkg/scheduler/actions/preempt/preempt.go"


class VolcanoDialect(Dialect):
    """scheduling.volcano.sh/v1beta1"""

    scheduler_name = "volcano"
    project = "Volcano"
    unsupported: tuple[Unsupported, ...] = VOLCANO
    gang_api = "volcano"
    kinds_read: tuple[Resource, ...] = (VOLCANO_GROUP, VOLCANO_QUEUE)
    group_kind: Resource | None = VOLCANO_GROUP
    queue_kind: Resource | None = VOLCANO_QUEUE
    queue_control_kinds: tuple[Resource, ...] = (VOLCANO_COMMAND,)
    group_name_keys: tuple[str, ...] = (_GROUP_NAME, "scheduling.volcano.sh/group-name")
    queue_name_keys: tuple[str, ...] = (_QUEUE_NAME, "volcano.sh/queue-name")
    victim_event_reason = "Evict"
    victim_event_names_preemptor = False

    def __init__(self, scheduler_name: str = "", *, reclaims: bool = False) -> None:
        super().__init__(scheduler_name)
        self.reclaims = reclaims  # whether the action reclaim is on

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        manifest = super().pod_manifest(request, namespace)
        annotations = manifest["metadata"]["annotations"]
        if request.gang:
            annotations[_GROUP_NAME] = request.gang
        elif request.queue:
            annotations[_QUEUE_NAME] = request.queue
        if request.role:
            annotations["volcano.sh/task-spec"] = request.role
        if request.non_preemptible:
            annotations["volcano.sh/preemptable"] = "false"
        return manifest

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest:
        if request.linked_gangs:
            raise self.not_supported(Feature.LINKED_GANGS)
        self.refuse_disruption_mode_all(request)
        spec: Manifest = {"minMember": request.min_member, "queue": request.queue or "default"}
        if request.roles:
            spec["minTaskMember"] = request.roles
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.min_gpus:
            spec["minResources"] = {GPU: str(request.min_gpus), **request.min_other_resources}
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def min_member_patch(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.min_member, "minResources": {GPU: str(request.min_gpus)}}}

    def priority_patch(self, priority_class: str) -> Manifest:
        return {"spec": {"priorityClassName": priority_class}}

    def queue_manifest(self, request: QueueRequest) -> Manifest:
        if request.strict_fifo:
            raise self.not_supported(Feature.STRICT_FIFO)
        if request.lends and not self.reclaims:
            raise self.not_supported(Feature.LENDING)
        if request.reserves_for_head:
            raise self.not_supported(Feature.HEAD_RESERVATION)
        limits = {GPU: request.gpus, "cpu": request.cpus, "memory": request.memory}
        capability = {resource: str(amount) for resource, amount in limits.items() if amount is not None}
        spec: Manifest = {"weight": request.weight, "reclaimable": request.lends}
        if capability:
            spec["capability"] = capability
        if request.guaranteed_gpus:
            spec["guarantee"] = {"resource": {GPU: str(request.guaranteed_gpus)}}
        return {
            "apiVersion": VOLCANO_QUEUE.api_version,
            "kind": "Queue",
            "metadata": {"name": request.name},
            "spec": spec,
        }

    def open_or_close_queue(self, queue: CustomObject, *, opened: bool, namespace: str) -> Manifest:
        """As vcctl does it: a Command to the queue controller, which deletes it when it is carried out."""
        action = "OpenQueue" if opened else "CloseQueue"
        owner: Manifest = {
            "apiVersion": VOLCANO_QUEUE.api_version,
            "kind": VOLCANO_QUEUE.kind,
            "name": queue.metadata.name,
            "uid": queue.metadata.uid,
            "controller": True,
        }
        metadata = {"name": f"{queue.metadata.name}-{action.lower()}", "namespace": namespace}
        command = {"metadata": {**metadata, "ownerReferences": [owner]}, "target": owner, "action": action}
        return {"apiVersion": VOLCANO_COMMAND.api_version, "kind": VOLCANO_COMMAND.kind, **command}

    def phase(self, group: Mapping[str, Any]) -> str:
        return _PHASES.get(group.get("status", {}).get("phase", ""), "running")

    def running_members(self, group: CustomObject) -> int:
        return int(group.status.get("running", 0))

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.annotations.get(_GROUP_NAME, "")

    def queue_of(self, group: CustomObject) -> str:
        return str(group.spec.get("queue", ""))

    def capability(self, queue: CustomObject) -> dict[str, str]:
        return {resource: str(amount) for resource, amount in queue.spec.get("capability", {}).items()}

    def is_open(self, queue: CustomObject) -> bool:
        return bool(queue.status.get("state") == "Open")


class Volcano(Scheduler):
    """`default` is the chart's configuration; `preempt` and `reclaim` add one action to it, with two differences.

    `preempt-as-shipped` adds the action preempt and nothing else, with the project's period and client limits;
    `preempt-no-enqueue-as-shipped` is the same without the action enqueue.
    """

    name: ClassVar[str] = "volcano"
    configurations: ClassVar[tuple[str, ...]] = (
        "default",
        "preempt",
        "reclaim",
        "preempt-as-shipped",
        _NO_ENQUEUE,
    )
    matrix_configurations: ClassVar[tuple[str, ...]] = ("default", "preempt", "reclaim")
    assets: ClassVar[tuple[str, ...]] = (
        "vc-scheduler",
        "vc-controller-manager",
        "volcano-crds.yaml",
        "volcano-scheduler.conf",
    )
    dialect_class: ClassVar[type[Dialect]] = VolcanoDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        "gangs": _DOCUMENTATION + "plugins/#gang",
        "queues": _DOCUMENTATION + "queue/",
        "affinity": _DOCUMENTATION + "plugins/#predicates",  # PodAffinityEnable, PodTopologySpreadEnable: on by default
        "taints": _DOCUMENTATION + "plugins/#predicates",
        "volumes": _PROJECT + "pkg/scheduler/plugins/predicates/predicates.go",  # VolumeBindingEnable: on by default
        "documents": _DOCUMENTATION + "queue/",
        "jobs": _DOCUMENTATION + "pytorch_on_volcano/",
    }
    capabilities_by_configuration: ClassVar[Mapping[str, Mapping[str, str]]] = {
        configuration: {
            "preemption": _DOCUMENTATION + "actions/#preempt",
            "own-victims": _PREEMPT,
            "job-preemption": _DOCUMENTATION + "actions/#preempt",
        }
        for configuration in ("preempt", "preempt-as-shipped", _NO_ENQUEUE)
    }
    excuses: ClassVar[tuple[Excuse, ...]] = (
        Excuse(
            ("PRE-07",),
            "it documents that preempt evicts lower-priority tasks, and no rule for the choice of the node",
            _DOCUMENTATION + "actions/#preempt",
        ),
        Excuse(
            ("PRE-15", "DOC-1", "DOC-2"),
            "it documents no event that names the preemptor; a victim gets the event Evict",
            _DOCUMENTATION + "actions/#preempt",
        ),
        Excuse(
            ("JPR-02",),
            "its condition DisruptionTarget names the scheduler only",
            _DOCUMENTATION + "actions/#preempt",
            part="that the message names the gang",
        ),
        Excuse(
            ("JPR-18",),
            "its event about a victim is Evict, without the preemptor",
            _DOCUMENTATION + "actions/#preempt",
            part="that the event names the preemptor and the node",
        ),
        Excuse(
            ("QUE-20",), "its admission webhook reports the queue, and does not run here", _DOCUMENTATION + "queue/"
        ),
        Excuse(
            ("ASC-01",),
            "it documents the reason Schedulable for the members of a pending gang that would fit",
            _DESIGN + "design/scheduling-reason.md",
        ),
        Excuse(
            ("TEN-03", "TEN-06"),
            "it documents ResourceClaims as an option, off unless a feature gate and an argument of predicates are set",
            _DESIGN + "user-guide/how_to_enable_dra.md",
        ),
    )
    existing_cluster_backoff: ClassVar[float | None] = _BACKOFF_PERIODS * _SHIPPED_PERIOD
    differences: ClassVar[tuple[Difference, ...]] = (
        client_limits("2000 requests/s, burst 2000", _QPS, _BURST),
        Difference("scheduler period", f"{_SHIPPED_PERIOD:g} s", f"{_PERIOD:g} s", "shorter waits"),
        Difference(
            "actions",
            "enqueue, allocate, backfill",
            "allocate, backfill and the configuration's own",
            "with enqueue a pending job has no pods where its operator creates them late, and could never preempt",
            only=("preempt", "reclaim", _NO_ENQUEUE),
            findings=(
                "JPR-03",
                "JPR-10",
                "PRE-09",
                "PRE-10",
                "PRE-22",
                "PRE-35",
                "PRE-36",
                "QUE-09",
                "QUE-10",
                "QUE-12",
                "QUE-16",
            ),
            seen="With enqueue nothing is preempted in these scenarios: the first five fail for want of a preemption,"
            " PRE-35 and PRE-36 pass. The four of queues fail with enqueue only",
        ),
        Difference(
            "enableJobStarving of the plugin gang",
            "on",
            "off",
            "gang and priority are in one tier and must agree on who may preempt: no gang that runs could",
            only=("preempt", "reclaim"),
            findings=("JPR-03", "JPR-10", "PRE-09", "PRE-10", "PRE-22", "PRE-35", "PRE-36"),
            seen="They do not: the same, 0 of 5 each, in `preempt-no-enqueue-as-shipped`",
        ),
    )

    def __init__(self, configuration: str, context: ProcessContext) -> None:
        super().__init__(configuration, context)
        self._period = _SHIPPED_PERIOD if self.as_shipped else _PERIOD
        self.longest_backoff = _BACKOFF_PERIODS * self._period

    def _make_dialect(self) -> Dialect:
        return VolcanoDialect(reclaims=self.configuration == "reclaim")

    def install(self, api: Api) -> None:
        install_crds(api, self.context.assets["volcano-crds.yaml"])

    def _prepare(self) -> list[Process]:
        directory = self.context.directory / "volcano"  # the scheduler watches it: nothing else may change in it
        directory.mkdir(exist_ok=True)
        conf = directory / "scheduler.conf"
        conf.write_text(yaml.safe_dump(self._conf(), sort_keys=False))
        self._ports = [Port(), Port()]
        common = [
            f"--kubeconfig={self.context.admin_kubeconfig}",
            "--leader-elect=false",
            "--enable-healthz=false",
            "--scheduler-name=volcano",
        ]
        if not self.as_shipped:
            common += [f"--kube-api-qps={_QPS}", f"--kube-api-burst={_BURST}"]
        scheduler = [
            f"--scheduler-conf={conf}",
            f"--schedule-period={self._period:g}s",
            "--disable-default-scheduler-config=true",  # or a mistake in the configuration would be ignored
            "--cache-dumper=false",
            f"--listen-address=127.0.0.1:{self._ports[0].number}",
        ]
        controllers = [
            "--controllers=+queue-controller,+pg-controller",
            f"--listen-address=127.0.0.1:{self._ports[1].number}",
        ]
        return [
            self._process("vc-scheduler", [*common, *scheduler]),
            self._process("vc-controller-manager", [*common, *controllers]),
        ]

    def _conf(self) -> dict[str, object]:
        """The chart's own, from the module, changed as the differences say."""
        conf = yaml.safe_load(self.context.assets["volcano-scheduler.conf"].read_text())
        if self.configuration == _NO_ENQUEUE:
            conf["actions"] = "allocate, backfill, preempt"
        elif self.as_shipped:
            conf["actions"] += ", preempt"
        elif self.configuration != "default":
            conf["actions"] = f"allocate, backfill, {self.configuration}"
            for plugin in (plugin for tier in conf["tiers"] for plugin in tier["plugins"]):
                if plugin["name"] == "gang":
                    plugin["enableJobStarving"] = False
        assert isinstance(conf, dict)
        return conf
