"""kube-scheduler with SIG Scheduling's plugin Coscheduling, and the controller that writes the status of PodGroups.

Bound members keep their reservation while the others are scheduled; that time is cut to a second on each PodGroup, like
the back-off. It preempts pod by pod (KEP-42, known limitations), so job-level preemption is not claimed. Nor are
queues: the ElasticQuota of the plugin CapacityScheduling is one per namespace (KEP-9), a pod cannot choose another, a
namespace without one is not limited, and the pods of a gang count one by one.

Its API: PodGroup of scheduling.x-k8s.io; a label on the pod names the PodGroup. A PodGroup has no priority, only its
pods have. It has one minMember, none for each role.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.cluster.resources import Resource, custom_resource
from muster.processes import Process
from muster.schedulers.base import Scheduler
from muster.schedulers.crds import install_crds
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.differences import Difference, client_limits
from muster.schedulers.kube_scheduler import DEFAULT_PREEMPTION
from muster.schedulers.requests import GangRequest, PodRequest
from muster.schedulers.unsupported import SCHEDULER_PLUGINS, Feature, Unsupported

PLUGINS_GROUP = custom_resource("scheduling.x-k8s.io/v1alpha1", "PodGroup", "podgroups")
_RESERVED_FOR = 1  # seconds that members keep their reservation for the rest of the gang; the project's examples: 10
_GROUP_NAME = "scheduling.x-k8s.io/pod-group"
_PHASES = {"Running": "running", "Finished": "finished", "Failed": "finished"}

_QPS, _BURST = 2000, 4000
_BACKOFF = 1  # seconds
_KUBERNETES = "https://kubernetes.io/docs/concepts/scheduling-eviction/"


class SchedulerPluginsDialect(Dialect):
    """scheduling.x-k8s.io/v1alpha1"""

    scheduler_name = "scheduler-plugins-scheduler"  # as the project's chart names it
    project = "scheduler-plugins"
    unsupported: tuple[Unsupported, ...] = SCHEDULER_PLUGINS
    kinds_read: tuple[Resource, ...] = (PLUGINS_GROUP,)
    group_kind: Resource | None = PLUGINS_GROUP
    group_name_keys: tuple[str, ...] = (_GROUP_NAME,)

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        if request.non_preemptible:
            raise self.not_supported(Feature.NON_PREEMPTIBLE)
        manifest = super().pod_manifest(request, namespace)
        if request.gang:
            manifest["metadata"]["labels"][_GROUP_NAME] = request.gang
        return manifest

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest:
        if request.linked_gangs:
            raise self.not_supported(Feature.LINKED_GANGS)
        self.refuse_disruption_mode_all(request)
        self.refuse_role_minima(request)
        metadata = {"name": request.name, "namespace": namespace}
        spec = {"minMember": request.min_member, "scheduleTimeoutSeconds": _RESERVED_FOR}
        return {"apiVersion": PLUGINS_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def min_member_patch(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.min_member}}

    def phase(self, group: Mapping[str, Any]) -> str:
        return _PHASES.get(group.get("status", {}).get("phase", ""), "queued")


class SchedulerPlugins(Scheduler):
    """`default` is the configuration that the project ships for Coscheduling."""

    name: ClassVar[str] = "scheduler-plugins"
    assets: ClassVar[tuple[str, ...]] = (
        "scheduler-plugins",
        "scheduler-plugins-controller",
        "scheduler-plugins-crds.yaml",
        "scheduler-plugins-config.yaml",
    )
    dialect_class: ClassVar[type[Dialect]] = SchedulerPluginsDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        "gangs": "https://scheduler-plugins.sigs.k8s.io/docs/plugins/coscheduling/",
        "preemption": _KUBERNETES + "pod-priority-preemption/",
        "any-victims": DEFAULT_PREEMPTION,  # its configuration leaves the plugin on
        "affinity": _KUBERNETES + "assign-pod-node/",  # the configuration that it ships disables none of these plugins
        "taints": _KUBERNETES + "taint-and-toleration/",
        "documents": _KUBERNETES + "pod-priority-preemption/",
    }
    longest_backoff = float(_RESERVED_FOR + _BACKOFF)  # a member whose reservation expired backs off after that
    differences: ClassVar[tuple[Difference, ...]] = (
        client_limits("50 requests/s, burst 100", _QPS, _BURST),
        Difference("scheduler longest back-off", "10 s", f"{_BACKOFF} s", "shorter waits"),
        Difference(
            "reservation for the rest of a gang (scheduleTimeoutSeconds)",
            "10 s in the project's examples",
            f"{_RESERVED_FOR} s",
            "shorter waits: members that are bound later are tried again after it",
        ),
    )

    def install(self, api: Api) -> None:
        install_crds(api, self.context.assets["scheduler-plugins-crds.yaml"])

    def _prepare(self) -> list[Process]:
        file = self.context.directory / f"{self.name}.yaml"
        file.write_text(yaml.safe_dump(self._configuration()))
        no_servers = ["--metricsAddr=0", "--probeAddr=0"]  # so two of them never conflict
        return [
            self._process(self.name, [f"--config={file}", "--secure-port=0", "--v=2"]),
            self._process(f"{self.name}-controller", [f"--kubeconfig={self.context.admin_kubeconfig}", *no_servers]),
        ]

    def _configuration(self) -> dict[str, Any]:
        loaded: dict[str, Any] = yaml.safe_load(self.context.assets["scheduler-plugins-config.yaml"].read_text())
        loaded["clientConnection"] = {"kubeconfig": str(self.context.admin_kubeconfig), "qps": _QPS, "burst": _BURST}
        loaded["podInitialBackoffSeconds"] = loaded["podMaxBackoffSeconds"] = _BACKOFF
        loaded["profiles"][0]["schedulerName"] = self.dialect.scheduler_name
        return loaded
