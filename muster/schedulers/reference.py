"""The reference scheduler of this suite: a process of its own that reads Volcano's or Koordinator's objects.

Beside those it reads two annotations on either PodGroup: one links gangs, one asks for preemption as a unit.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

import yaml

from muster import __version__
from muster.cluster.api import Api
from muster.cluster.resources import Resource
from muster.processes import Process
from muster.recording.conventions import KUBERNETES, Conventions
from muster.recording.objects import CustomObject
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.crds import install_crds
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.koordinator import KOORDINATOR_GROUP, LINKED_GANGS, KoordinatorDialect
from muster.schedulers.requests import GangRequest, NodeRequest, QueueRequest
from muster.schedulers.unsupported import REFERENCE, Feature, Unsupported
from muster.schedulers.volcano import VOLCANO_GROUP, VOLCANO_QUEUE, VolcanoDialect
from muster.suite import paths

SCHEDULER_NAME = "muster-scheduler"
_PROJECT = "the reference scheduler"
# It is the only scheduler of its cluster, and schedules the pods of all these names.
_ALL_SCHEDULER_NAMES = (SCHEDULER_NAME, "default-scheduler", "volcano", "koord-scheduler")
_KINDS_READ = (VOLCANO_GROUP, VOLCANO_QUEUE, KOORDINATOR_GROUP)
_DISRUPTION_MODE = "scheduling.muster.dev/disruption-mode"
_REPLACEMENT = "MUSTER_REFERENCE"  # a module with its arguments to run instead: mutation tests start mutants so
_CRDS = ("volcano-podgroups", "volcano-queues", "volcano-commands", "koordinator-podgroups")
_SOURCE = "scheduler/core"


def _is_evicted_as_unit(group: CustomObject) -> bool:
    return group.metadata.annotations.get(_DISRUPTION_MODE) == "all"


_CONVENTIONS = replace(KUBERNETES, is_evicted_as_unit=_is_evicted_as_unit)


class ReferenceVolcanoDialect(VolcanoDialect):
    """Volcano's objects. Queues have a capability and an order; weights and lending are not supported."""

    scheduler_name = SCHEDULER_NAME
    project = _PROJECT
    unsupported: tuple[Unsupported, ...] = REFERENCE
    other_scheduler_names: tuple[str, ...] = _ALL_SCHEDULER_NAMES
    kinds_read: tuple[Resource, ...] = _KINDS_READ
    conventions: Conventions = _CONVENTIONS
    namespaced_name_keys: tuple[str, ...] = (LINKED_GANGS,)
    victim_event_reason = "Preempted"
    victim_event_names_preemptor = True

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest:
        return _annotated(super().gang_manifest(_without_annotated(request), namespace), request, namespace)

    def queue_manifest(self, request: QueueRequest) -> Manifest:
        if request.weight != 1:
            raise self.not_supported(Feature.WEIGHTS)
        manifest = super().queue_manifest(replace(request, strict_fifo=False))
        manifest["spec"]["dequeueStrategy"] = "fifo" if request.strict_fifo else "traverse"
        return manifest

    def victim_message_parts(self, gang: str, namespace: str) -> tuple[str, ...]:
        return self.scheduler_name, f"preemptor: {namespace}/{gang},"


class ReferenceKoordinatorDialect(KoordinatorDialect):
    """Koordinator's objects. It reads GPUs from the node, so no Device is needed."""

    scheduler_name = SCHEDULER_NAME
    project = _PROJECT
    unsupported: tuple[Unsupported, ...] = REFERENCE
    other_scheduler_names: tuple[str, ...] = _ALL_SCHEDULER_NAMES
    kinds_read: tuple[Resource, ...] = _KINDS_READ
    conventions: Conventions = _CONVENTIONS
    node_kinds: tuple[Resource, ...] = ()

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest:
        return _annotated(super().gang_manifest(_without_annotated(request), namespace), request, namespace)

    def node_objects(self, node: NodeRequest) -> list[Manifest]:
        return []


def _without_annotated(request: GangRequest) -> GangRequest:
    return replace(request, linked_gangs=(), disruption_mode_all=False)


def _annotated(manifest: Manifest, request: GangRequest, namespace: str) -> Manifest:
    annotations = manifest["metadata"].setdefault("annotations", {})
    if request.linked_gangs:
        linked = [f"{namespace}/{name}" for name in (request.name, *request.linked_gangs)]
        annotations[LINKED_GANGS] = json.dumps(linked)
    if request.disruption_mode_all:
        annotations[_DISRUPTION_MODE] = "all"
    return manifest


class Reference(Scheduler):
    """`default` uses Volcano's objects, `koordinator` uses Koordinator's."""

    name: ClassVar[str] = "reference"
    assets: ClassVar[tuple[str, ...]] = ()
    configurations: ClassVar[tuple[str, ...]] = ("default", "koordinator")
    matrix_configurations: ClassVar[tuple[str, ...]] = ("default",)
    dialect_class: ClassVar[type[Dialect]] = ReferenceVolcanoDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        "gangs": f"{_SOURCE}/gang_placement.py",
        "taints": f"{_SOURCE}/node_table.py",
        "volumes": "scheduler/runtime/pod_volumes.py",
        "preemption": f"{_SOURCE}/preempt.py",
        "own-victims": f"{_SOURCE}/bound_pods.py",
        "job-preemption": f"{_SOURCE}/preempt.py",
        "affinity": f"{_SOURCE}/placement_filters.py",
        "documents": f"{_SOURCE}/plan.py",
        "jobs": "scheduler/operator",
    }
    capabilities_by_configuration: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "default": {"queues": f"{_SOURCE}/admission.py"},
    }
    longest_backoff = 0.0  # pending pods are tried again with every change, and only then
    existing_cluster_backoff: ClassVar[float | None] = 0.0
    name_beside_existing_cluster: ClassVar[str] = SCHEDULER_NAME
    scheduler_names: tuple[str, ...] = _ALL_SCHEDULER_NAMES

    @classmethod
    def beside_existing_cluster(
        cls, configuration: str, context: ProcessContext, rename: Callable[[str], str]
    ) -> Scheduler:
        scheduler = _ReferenceBesideExistingCluster(configuration, context)
        scheduler.scheduler_names = tuple(map(rename, cls.scheduler_names))
        return scheduler

    def _make_dialect(self) -> Dialect:
        return ReferenceVolcanoDialect() if self.configuration == "default" else ReferenceKoordinatorDialect()

    def _release(self) -> str:
        return __version__

    def settings(self) -> dict[str, str]:
        replaced = {"replaced by": os.environ[_REPLACEMENT]} if _REPLACEMENT in os.environ else {}
        return {"scheduler": self.title, "scheduler client limits": "none", **replaced}

    def install(self, api: Api) -> None:
        for name in _CRDS:
            install_crds(api, paths.manifests() / "crds" / f"{name}.yaml")

    def _prepare(self) -> list[Process]:
        directory = self.context.directory
        file = directory / "reference.yaml"
        configuration = {
            "apiVersion": "scheduler.muster.dev/v1",
            "kind": "SchedulerConfiguration",
            "schedulerNames": list(self.scheduler_names),
            "preemption": self.policy.get("preemption") != "off",
        }
        file.write_text(yaml.safe_dump(configuration))
        flags = ["--kubeconfig", str(self.context.admin_kubeconfig), "--config", str(file), "--listen", "127.0.0.1:0"]
        argv = [sys.executable, "-m", *os.environ.get(_REPLACEMENT, "scheduler").split(), *flags]
        log, env = directory / "reference.log", paths.scheduler_environment()
        return [Process("reference", argv, directory=directory, log=log, env=env)]

    def configure(self, policy: Mapping[str, str]) -> None:
        """By a restart: it keeps no state that is not in the cluster."""
        self._restart_with(policy)


class _ReferenceBesideExistingCluster(Reference):
    """On an existing cluster: its CustomResourceDefinitions are the owner's to install."""

    def install(self, api: Api) -> None:
        return
