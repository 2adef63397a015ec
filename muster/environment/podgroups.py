"""PodGroups and queues of a scenario: created and changed through the scheduler's dialect, and deleted with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import tenacity

from muster import timeouts
from muster.assertions.pods import gone, recreated
from muster.assertions.queues import queue_state
from muster.cluster.resources import POD, resource_of
from muster.environment.given_pods import wait_until_running
from muster.recording.objects import CustomObject
from muster.recording.quantities import readable, thousandths
from muster.recording.questions import eventually
from muster.schedulers.dialect import Manifest
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.unsupported import Feature

if TYPE_CHECKING:
    from muster.environment.scenario import ScenarioContext

_NOT_SEEN_YET = "no PriorityClass with name"
_STILL_TERMINATING = "object is being deleted"


class Groups:
    """`scenario.groups`: the gangs and queues that pods belong to."""

    def __init__(self, scenario: ScenarioContext) -> None:
        self._scenario = scenario
        self._members: dict[str, list[str]] = {}
        self._undo: list[Callable[[], None]] = []

    def members(self, gang: str) -> tuple[str, ...]:
        """The names of a gang's pods, in order."""
        return tuple(self._members.get(gang, ()))

    def set_members(self, gang: str, pods: Iterable[str]) -> None:
        """Record the names of pods that the scenario does not create itself: an operator creates those of a job."""
        self._members[gang] = list(pods)

    def create_group(self, request: GangRequest) -> None:
        """Create the group object only; its pods may follow, or exist already."""
        if request.priority is not None and not request.priority_class:
            request = replace(request, priority_class=self._scenario.priority_class(request.priority))
        namespace = self._scenario.full_namespace(request.namespace)
        group = self._scenario.scheduler.dialect.gang_manifest(request, namespace)
        if group is not None:
            self._create(group)
        self._members.setdefault(request.name, [])

    @tenacity.retry(
        retry=tenacity.retry_if_exception(lambda refusal: _is_transient(str(refusal))),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(timeouts.API_TRANSIENT),
        reraise=True,
    )
    def _create(self, group: Manifest) -> None:
        """Retried: admission sees a new PriorityClass with a delay, and a queue of the same name may be terminating."""
        self._scenario.create_object(group)

    def add_pods(self, gang: str, pods: Iterable[PodRequest]) -> None:
        """Create pods that belong to the gang."""
        members = [replace(pod, gang=gang) for pod in pods]
        self._members.setdefault(gang, []).extend(pod.name for pod in members)
        self._scenario.submit(*members)

    def submit(self, request: GangRequest, pods: Iterable[PodRequest]) -> None:
        """Create a whole gang: the group object first, then its pods."""
        members = list(pods)
        if not request.min_gpus:
            ordered = sorted((pod.gpus for pod in members), reverse=True)
            request = replace(request, min_gpus=sum(ordered[: request.min_member]))
        if not request.min_other_resources:
            request = replace(request, min_other_resources=_other_requests(members[: request.min_member]))
        self.create_group(replace(request, members=tuple(members)))
        self.add_pods(request.name, members)

    def run_gang(self, request: GangRequest, pods: Iterable[PodRequest]) -> None:
        """Create a whole gang and wait until all its pods run."""
        members = list(pods)
        self.submit(request, members)
        wait_until_running(self._scenario.recording, members, request.name)
        self._scenario.note_activity()

    def resize(self, request: GangRequest) -> None:
        """Change minMember of an existing group."""
        scenario = self._scenario
        patch, kind = scenario.scheduler.dialect.min_member_patch(request), scenario.scheduler.dialect.group_kind
        assert kind is not None
        scenario.api.patch(kind, request.name, patch, namespace=scenario.namespace)
        scenario.note_activity()

    def recreate_member(self, pod: str) -> None:
        """Delete a member, and create it again under its name."""
        scenario = self._scenario
        known = scenario.recording.history.pod(pod)
        scenario.delete_pod(pod)
        scenario.replace_pod(pod, by=pod)
        scenario.recording.set_up(recreated(pod, known.uid if known else ""))

    def recreate_deleted_members(self, gang: str) -> None:
        """Create the members again that the scheduler has deleted, as their controller would."""
        scenario = self._scenario
        with scenario.recording.history.changed:
            deleted = [pod for pod in scenario.recording.history.pods_named(self.members(gang)) if pod.deleting]
        for pod in deleted:
            scenario.recording.set_up(eventually(gone(pod.name)))
            scenario.replace_pod(pod.name, by=pod.name)
            scenario.recording.set_up(recreated(pod.name, pod.uid))

    def submit_partially_bound(self, request: GangRequest, pods: Iterable[PodRequest], node: str) -> None:
        """Create a gang as a scheduler leaves it that crashes between two bindings, and restart the scheduler.

        The one binding is written here, in the name of the paused scheduler, which is then killed.
        """
        scenario = self._scenario
        scenario.scheduler.dialect.check_direct_binding()
        with scenario.scheduler_paused():
            self.submit(request, pods)
            first = self.members(request.name)[0]
            scenario.api.post(POD.path(scenario.namespace, first, "binding"), _binding(first, node))
            scenario.scheduler.kill()
            scenario.scheduler.stop()  # releases its ports
        scenario.scheduler.start()

    def add_queue(self, request: QueueRequest) -> None:
        """Create a queue; queues are cluster-scoped, and and deleted with it."""
        scenario, dialect = self._scenario, self._scenario.scheduler.dialect
        kind, manifest = dialect.queue_kind, dialect.queue_manifest(request)
        if kind is not None:
            self._create(manifest)
            for manifest_in_namespace in dialect.queue_objects_in_namespace(request, scenario.namespace):
                scenario.create_object(manifest_in_namespace)
            self._undo.append(lambda: scenario.api.delete(kind, request.name))
        else:
            scenario.patch_object(manifest)
            self._undo.append(lambda: scenario.patch_object(dialect.queues_without(request.name)))

    def set_queue_open(self, queue: str, *, opened: bool) -> None:
        """Open or close a queue, and wait until its status says so and the scheduler has seen it."""
        scenario, dialect = self._scenario, self._scenario.scheduler.dialect
        if dialect.queue_kind is None:
            raise dialect.not_supported(Feature.CLOSING)
        kind = dialect.queue_kind.kind
        scenario.recording.set_up(queue_state(kind, queue, dialect.is_open, opened=not opened))
        newest = scenario.recording.history.custom_objects(kind, queue)[-1].object
        assert isinstance(newest, CustomObject)
        change = dialect.open_or_close_queue(newest, opened=opened, namespace=scenario.namespace)
        if resource_of(change) == dialect.queue_kind:
            scenario.patch_object(change)
        else:
            scenario.api.create(change)
        scenario.recording.set_up(queue_state(kind, queue, dialect.is_open, opened=opened))
        scenario.recording.prove_live()
        scenario.note_activity()

    def set_priority(self, gang: str, priority: int) -> None:
        """Change the priority of a pending gang; the scheduler has seen it when this returns."""
        scenario = self._scenario
        kind = scenario.scheduler.dialect.group_kind
        change = scenario.scheduler.dialect.priority_patch(scenario.priority_class(priority))
        if kind is None:
            raise scenario.scheduler.dialect.not_supported(Feature.GANG_PRIORITY_CHANGE)
        scenario.api.patch(kind, gang, change, namespace=scenario.namespace)
        scenario.recording.prove_live()
        scenario.note_activity()

    def delete_group(self, gang: str) -> None:
        """Delete the group object, as an operator does when a job has finished."""
        kind = self._scenario.scheduler.dialect.group_kind
        if kind is not None:
            self._scenario.api.delete(kind, gang, self._scenario.namespace)
        self._scenario.note_activity()

    def cleanup(self) -> None:
        """Delete groups first: one that stays would count against the next queue of that name."""
        kind = self._scenario.scheduler.dialect.group_kind
        if kind is not None and self._members:
            for namespace in (self._scenario.namespace, *self._scenario.other_namespaces.values()):
                self._scenario.api.delete_all(kind, namespace)
        while self._undo:
            self._undo.pop()()


def _is_transient(refusal: str) -> bool:
    return _NOT_SEEN_YET in refusal or _STILL_TERMINATING in refusal


def _binding(pod: str, node: str) -> dict[str, object]:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target}


def _other_requests(pods: list[PodRequest]) -> dict[str, str]:
    """The sum of these pods' requests other than GPUs."""
    requests = {
        "cpu": sum(thousandths(pod.cpus) for pod in pods if pod.cpus),
        "memory": sum(thousandths(pod.memory) for pod in pods if pod.memory),
    }
    return {resource: readable(amount) for resource, amount in requests.items() if amount}
