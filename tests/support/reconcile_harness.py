"""A stage for the operator's heart without any API: its changes are applied to plain objects until none are left."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.operator.changes import (
    CreateGroup,
    CreatePod,
    CreateService,
    DeleteGroup,
    DeleteJob,
    DeletePod,
    DeleteService,
    Say,
    SetStatus,
    WakeAt,
)
from scheduler.operator.objects import Group, Job, Pod, Service
from scheduler.operator.profiles import PROFILES, Profile
from scheduler.operator.reconciling import reconcile

Object = dict[str, Any]
START = 1_800_000_000.0
DOCUMENTS, TRAINING = PROFILES["documents"], PROFILES["training-operator"]


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


def arena_mpi(*, workers: int = 1, **more: Any) -> Object:
    return {"replicas": workers, "template": template(name="mpi"), **more}


class Play:
    """One job. `settle` applies changes until there are none; pods stay as they are until somebody says otherwise."""

    def __init__(self, spec: Any, *, kind: str = "PyTorchJob", name: str = "job", profile: Profile = TRAINING) -> None:
        self.metadata: Object = {"name": name, "namespace": "ns", "uid": "job-uid", "resourceVersion": "1"}
        self.spec = spec
        self.status: Object = {}
        self.kind, self.profile, self.now = kind, profile, START
        self.pods: dict[str, Object] = {}
        self.services: dict[str, Object] = {}
        self.group: Object | None = None
        self.said: list[str] = []
        self.deleted: list[str] = []
        self.wake: float | None = None
        self.gone = False
        self._uids = 0

    def settle(self) -> Play:
        for _ in range(20):
            changes = self.changes()
            timers = [one.moment for one in changes if isinstance(one, WakeAt)]
            self.wake = timers[0] if timers else None
            lasting = [one for one in changes if not isinstance(one, WakeAt)]
            if not lasting or self.gone:
                return self
            for change in lasting:
                self._apply(change)
        raise AssertionError(f"it never comes to rest: {changes}")

    def changes(self) -> list[Any]:
        seen = {"kind": self.kind, "metadata": self.metadata, "spec": self.spec, "status": self.status}
        job = msgspec.json.decode(msgspec.json.encode(seen), type=Job)
        pods = [msgspec.convert(one, Pod) for one in self.pods.values()]
        services = [msgspec.convert(one, Service) for one in self.services.values()]
        group = msgspec.convert(self.group, Group) if self.group else None
        return reconcile(job, pods, services, group, self.now, self.profile)

    def run(self, *names: str) -> Play:
        """These pods run, or all that wait."""
        for name in names or [name for name, pod in self.pods.items() if pod["status"]["phase"] == "Pending"]:
            self.pods[name]["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        return self.settle()

    def end(self, name: str, code: int = 0, **more: Any) -> Play:
        ended = [{"name": "main", "state": {"terminated": {"exitCode": code}}}]
        phase = "Failed" if code else "Succeeded"
        self.pods[name]["status"] = {"phase": phase, "containerStatuses": ended, **more}
        return self.settle()

    def preempt(self, name: str) -> Play:
        """Asked to go, and seen going."""
        self.pods[name]["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z"
        return self.settle()

    def lose(self, *names: str) -> Play:
        for name in names:
            del self.pods[name]
        return self.settle()

    def let_in(self, phase: str = "Inqueue") -> Play:
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

    def _apply(self, change: Any) -> None:
        match change:
            case SetStatus(_, status):
                self.status = status
            case CreatePod(manifest):
                assert manifest["metadata"]["name"] not in self.pods
                self.pods[manifest["metadata"]["name"]] = {**self._born(manifest), "status": {"phase": "Pending"}}
            case CreateService(manifest):
                self.services[manifest["metadata"]["name"]] = self._born(manifest)
            case CreateGroup(manifest):
                self.group = self._born(manifest)
            case DeletePod(pod):
                self.deleted.append(pod.metadata.name)
                del self.pods[pod.metadata.name]
            case DeleteService(service):
                del self.services[service.metadata.name]
            case DeleteGroup():
                self.group = None
            case DeleteJob():
                self.gone = True
            case Say(_, _, reason, message):
                self.said.append(f"{reason}: {message}")

    def _born(self, manifest: Object) -> Object:
        self._uids += 1
        return {**manifest, "metadata": {**manifest["metadata"], "uid": f"uid-{self._uids}"}}


def test_a_second_look_changes_nothing() -> None:
    play = Play(pytorch()).settle()
    for step in (play.settle, play.run, lambda: play.end("job-master-0")):
        step()
        assert play.changes() == []


def test_whoever_looks_next_comes_to_the_same_end_after_any_change() -> None:
    """JOB-10: the operator may die after each single change and start again with what there is."""
    whole = Play(pytorch(policy="OnFailure", backoffLimit=3)).settle().run()
    whole.end("job-worker-0", 1)
    halting = Play(pytorch(policy="OnFailure", backoffLimit=3)).settle().run()
    ended = [{"name": "main", "state": {"terminated": {"exitCode": 1}}}]
    halting.pods["job-worker-0"]["status"] = {"phase": "Failed", "containerStatuses": ended}
    for _ in range(30):
        if not (changes := halting.changes()):
            break
        halting._apply(changes[0])
    assert halting.changes() == []
    assert (halting.status["restarts"], set(halting.pods)) == (1, set(whole.pods))
    assert halting.state == whole.state == "Running"
