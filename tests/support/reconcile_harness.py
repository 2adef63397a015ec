"""Runs the operator's `reconcile` without an API server: actions are applied to plain objects until none are left."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.operator.actions import (
    CreateConfigMap,
    CreatePod,
    CreatePodGroup,
    CreateService,
    DeleteJob,
    DeletePod,
    DeletePodGroup,
    DeleteService,
    EmitEvent,
    EnsureObject,
    RequeueAt,
    SetMemory,
    SetStatus,
    UpdateConfigMap,
    UpdatePodGroup,
)
from scheduler.operator.api_objects import ConfigMap, Job, Pod, PodGroup, Service
from scheduler.operator.job_memory import ANNOTATION, Memory, memory_of
from scheduler.operator.lost_replicas import PROFILES, Profile
from scheduler.operator.reconcile import reconcile

Object = dict[str, Any]
START = 1_800_000_000.0
WALKTHROUGHS, TRAINING = PROFILES["walkthroughs"], PROFILES["training-operator"]


def template(*, gpus: int = 1, cpu: str = "1", name: str = "pytorch") -> Object:
    limits = {"nvidia.com/gpu": gpus, "cpu": cpu}
    return {"spec": {"containers": [{"name": name, "image": "i", "resources": {"limits": limits}}]}}


def pytorch(*, workers: int = 2, policy: str = "Never", master: bool = True, **run: Any) -> Object:
    roles: Object = {"Master": {"replicas": 1, "restartPolicy": policy, "template": template()}} if master else {}
    if workers:
        roles["Worker"] = {"replicas": workers, "restartPolicy": policy, "template": template()}
    return {"pytorchReplicaSpecs": roles, "runPolicy": run}


def mpi(*, workers: int = 2, policy: str = "Never", **run: Any) -> Object:
    launcher = {"restartPolicy": policy, "template": template(gpus=0, name="mpi")}
    worker = {"replicas": workers, "restartPolicy": policy, "template": template(name="mpi")}
    return {"mpiReplicaSpecs": {"Launcher": launcher, "Worker": worker}, "runPolicy": run}


_V2BETA1_FIELDS = (
    "mpiImplementation",
    "slotsPerWorker",
    "sshAuthMountPath",
    "launcherCreationPolicy",
    "runLauncherAsWorker",
)


def mpi_v2beta1(*, workers: int = 2, policy: str = "Never", **fields: Any) -> Object:
    """With the field by which the version is recognised; its CRD sets it by default."""
    own = {name: fields.pop(name) for name in _V2BETA1_FIELDS if name in fields}
    return {**mpi(workers=workers, policy=policy, **fields), "mpiImplementation": "OpenMPI", **own}


def arena_mpi(*, workers: int = 1, **more: Any) -> Object:
    return {"replicas": workers, "template": template(name="mpi"), **more}


class JobSimulation:
    """One job. `settle` applies actions until there are none; pods keep their status until a test changes it."""

    def __init__(self, spec: Any, *, kind: str = "PyTorchJob", name: str = "job", profile: Profile = TRAINING) -> None:
        self.metadata: Object = {"name": name, "namespace": "ns", "uid": "job-uid", "resourceVersion": "1"}
        self.spec = spec
        self.status: Object = {}
        self.kind, self.profile, self.now = kind, profile, START
        self.pods: dict[str, Object] = {}
        self.services: dict[str, Object] = {}
        self.configs: dict[str, Object] = {}
        self.unwatched: dict[str, Object] = {}  # by kind: of each there is one
        self.group: Object | None = None
        self.events: list[str] = []
        self.deleted_pods: list[str] = []
        self.requeue_at: float | None = None
        self.deleted_job = False
        self.keep_terminating = False  # a deleted pod stays, terminating, until the test loses it
        self._uids = 0

    def settle(self) -> JobSimulation:
        for _ in range(20):
            actions = self.actions()
            timers = [one.time for one in actions if isinstance(one, RequeueAt)]
            self.requeue_at = timers[0] if timers else None
            writes = [one for one in actions if not isinstance(one, RequeueAt)]
            if not writes or self.deleted_job:
                return self
            for action in writes:
                self.apply(action)
        raise AssertionError(f"reconcile does not converge: {actions}")

    def actions(self) -> list[Any]:
        job = self._job()
        pods = [msgspec.convert(one, Pod) for one in self.pods.values()]
        services = [msgspec.convert(one, Service) for one in self.services.values()]
        group = msgspec.convert(self.group, PodGroup) if self.group else None
        configs = [msgspec.convert(one, ConfigMap) for one in self.configs.values()]
        return reconcile(job, pods, services, group, configs, self.now, self.profile)

    def _job(self) -> Job:
        seen = {"kind": self.kind, "metadata": self.metadata, "spec": self.spec, "status": self.status}
        return msgspec.json.decode(msgspec.json.encode(seen), type=Job)

    @property
    def memory(self) -> Memory:
        return memory_of(self._job())

    def run(self, *names: str) -> JobSimulation:
        """These pods run, or all pending ones."""
        for name in names or [name for name, pod in self.pods.items() if pod["status"]["phase"] == "Pending"]:
            self.pods[name]["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        return self.settle()

    def end(self, name: str, code: int = 0, **more: Any) -> JobSimulation:
        ended = [{"name": "main", "state": {"terminated": {"exitCode": code}}}]
        phase = "Failed" if code else "Succeeded"
        self.pods[name]["status"] = {"phase": phase, "containerStatuses": ended, **more}
        return self.settle()

    def preempt(self, name: str) -> JobSimulation:
        """The pod is terminating."""
        self.pods[name]["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
        return self.settle()

    def lose(self, *names: str) -> JobSimulation:
        for name in names:
            del self.pods[name]
        return self.settle()

    def set_group_phase(self, phase: str = "Inqueue") -> JobSimulation:
        assert self.group is not None
        self.group["status"] = {"phase": phase}
        return self.settle()

    @property
    def state(self) -> str:
        conditions = self.status.get("conditions", [])
        return str(conditions[-1]["type"]) if conditions else ""

    def condition(self, kind: str) -> Object:
        found: Object = next(one for one in self.status["conditions"] if one["type"] == kind)
        return found

    def counts(self, role: str) -> tuple[int, int, int]:
        one = self.status["replicaStatuses"][role]
        return one["active"], one["succeeded"], one["failed"]

    def apply(self, action: Any) -> None:
        match action:
            case SetMemory(_, memory):
                self.metadata.setdefault("annotations", {})[ANNOTATION] = memory.annotation
            case SetStatus(_, status):
                self.status = status
            case CreatePod(manifest):
                assert manifest["metadata"]["name"] not in self.pods
                self.pods[manifest["metadata"]["name"]] = {**self._with_uid(manifest), "status": {"phase": "Pending"}}
            case CreateService(manifest):
                self.services[manifest["metadata"]["name"]] = self._with_uid(manifest)
            case CreateConfigMap(manifest):
                assert manifest["metadata"]["name"] not in self.configs
                self.configs[manifest["metadata"]["name"]] = self._with_uid(manifest)
            case UpdateConfigMap(config, data):
                self.configs[config.metadata.name]["data"] = data
            case EnsureObject(manifest):
                self.unwatched[manifest["kind"]] = manifest
            case CreatePodGroup(manifest):
                self.group = self._with_uid(manifest)
            case UpdatePodGroup(_, change):
                assert self.group is not None
                self.group["spec"] = _merged(self.group["spec"], change)
            case DeletePod(pod):
                self.deleted_pods.append(pod.metadata.name)
                if self.keep_terminating:
                    self.pods[pod.metadata.name]["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
                else:
                    del self.pods[pod.metadata.name]
            case DeleteService(service):
                del self.services[service.metadata.name]
            case DeletePodGroup():
                self.group = None
            case DeleteJob():
                self.deleted_job = True
            case EmitEvent(_, _, reason, message):
                self.events.append(f"{reason}: {message}")

    def _with_uid(self, manifest: Object) -> Object:
        self._uids += 1
        return {**manifest, "metadata": {**manifest["metadata"], "uid": f"uid-{self._uids}"}}


def _merged(current: Object, change: Object) -> Object:
    """A merge patch, as the API server applies it."""
    fields = {
        name: _merged(current.get(name) or {}, one) if isinstance(one, dict) else one for name, one in change.items()
    }
    return {name: value for name, value in {**current, **fields}.items() if value is not None}
