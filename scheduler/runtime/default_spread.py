"""Default topology spread: the selector by which kube-scheduler spreads a pod that declares no spread itself.

It is the conjunction of the selectors of all Services that match the pod, and of the ReplicationController, ReplicaSet
or StatefulSet that controls it. Only pending pods have a default: of bound ones just the labels matter.

Two sorts of pods are packed, although kube-scheduler would spread them: members of a gang, and pods of other
controllers. The operators of training jobs create a Service per job or even per replica, which is no reason to break up
a job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Set
from dataclasses import replace

import msgspec

from scheduler.client import DELETED, Metadata, OwnerReference
from scheduler.core.pod_constraints import Selector, SelectorRequirement
from scheduler.core.policy import SCHEDULER_NAMES
from scheduler.core.scheduling_types import Pod
from scheduler.runtime.api_types import ApiPod, LabelSelector
from scheduler.runtime.convert import TERMINAL, group_of
from scheduler.runtime.pod_constraints import label_selector

REPLICATION_CONTROLLER = ("v1", "ReplicationController")
REPLICA_SET = ("apps/v1", "ReplicaSet")
STATEFUL_SET = ("apps/v1", "StatefulSet")
_CONTROLLERS = (REPLICATION_CONTROLLER, REPLICA_SET, STATEFUL_SET)

_Kind = tuple[str, str]  # apiVersion and kind
_Label = tuple[str, str, str]  # namespace, key and value
_Controller = tuple[_Kind, str, str]  # kind, namespace and name


class LabelsSpec(msgspec.Struct):
    """spec of a Service or a ReplicationController"""

    selector: dict[str, str] | None = None


class ApiService(msgspec.Struct):
    """A Service or a ReplicationController; only its selector matters."""

    metadata: Metadata
    spec: LabelsSpec = msgspec.field(default_factory=LabelsSpec)


class SelectorSpec(msgspec.Struct):
    """spec of a ReplicaSet or a StatefulSet"""

    selector: LabelSelector | None = None


class ApiReplicaSet(msgspec.Struct):
    """A ReplicaSet or a StatefulSet; only its selector matters."""

    metadata: Metadata
    spec: SelectorSpec = msgspec.field(default_factory=SelectorSpec)


class DefaultSelectors:
    """Calls `changed` when pending pods have to be converted again: `take_outdated` returns their uids."""

    def __init__(self, changed: Callable[[], None], schedulers: Set[str] = SCHEDULER_NAMES) -> None:
        self._changed, self._schedulers = changed, schedulers
        self._services: dict[_Label, dict[str, Selector]] = defaultdict(dict)  # by one of the labels that they select
        self._label_of_service: dict[tuple[str, str], _Label] = {}
        self._controllers: dict[_Controller, Selector] = {}
        self._pods: dict[_Label | _Controller, set[str]] = defaultdict(set)  # pending ones, by label and controller
        self._keys_of_pod: dict[str, tuple[_Label | _Controller, ...]] = {}
        self._outdated: set[str] = set()

    def observe_service(self, change: str, found: ApiService) -> None:
        """A Service without a selector selects no pods."""
        key = found.metadata.key
        selector = () if change == DELETED else _of_labels(found.spec.selector or {})
        before = self._label_of_service.get(key)
        if before is not None and self._services[before][key[1]] == selector:
            return
        if before is not None:
            _discard(self._services, self._label_of_service.pop(key), key[1])
            self._mark(before)
        if selector:
            label = key[0], selector[0].key, selector[0].values[0]
            self._label_of_service[key] = label
            self._services[label][key[1]] = selector
            self._mark(label)

    def observe_replication_controller(self, change: str, found: ApiService) -> None:
        selector = _of_labels(found.spec.selector or {})
        self._set_controller((REPLICATION_CONTROLLER, *found.metadata.key), () if change == DELETED else selector)

    def observe_controller(self, kind: _Kind, change: str, found: ApiReplicaSet) -> None:
        selector = label_selector(found.spec.selector) or ()
        self._set_controller((kind, *found.metadata.key), () if change == DELETED else selector)

    def set_pod(self, found: ApiPod) -> None:
        """Remember a pod that has a default selector, or may get one."""
        self.remove_pod(found.metadata.uid)
        if self._is_spread(found):
            keys = self._keys_of_pod[found.metadata.uid] = (*_labels(found), *_controllers(found))
            for key in keys:
                self._pods[key].add(found.metadata.uid)

    def remove_pod(self, uid: str) -> None:
        for key in self._keys_of_pod.pop(uid, ()):
            self._pods[key].discard(uid)
            if not self._pods[key]:
                del self._pods[key]
        self._outdated.discard(uid)

    def take_outdated(self) -> set[str]:
        outdated, self._outdated = self._outdated, set()
        return outdated

    def selector(self, found: ApiPod) -> Selector:
        """Empty for a pod that has no default."""
        if found.metadata.uid not in self._keys_of_pod:
            return ()
        labels = set((found.metadata.labels or {}).items())
        requirements: set[SelectorRequirement] = set()
        for label in _labels(found):
            for selector in self._services.get(label, {}).values():
                if all((one.key, one.values[0]) in labels for one in selector):
                    requirements.update(selector)
        for controller in _controllers(found):
            requirements.update(self._controllers.get(controller, ()))
        return tuple(sorted(requirements, key=lambda one: (one.key, one.operator, one.values)))

    def _is_spread(self, found: ApiPod) -> bool:
        spec, owner = found.spec, _controller_of(found)
        return (
            not spec.node_name
            and not spec.topology_spread_constraints
            and spec.scheduler_name in self._schedulers
            and found.status.phase not in TERMINAL
            and group_of(found) is None
            and (owner is None or (owner.api_version, owner.kind) in _CONTROLLERS)
        )

    def _set_controller(self, controller: _Controller, selector: Selector) -> None:
        if self._controllers.get(controller, ()) != selector:
            if selector:
                self._controllers[controller] = selector
            else:
                del self._controllers[controller]
            self._mark(controller)

    def _mark(self, key: _Label | _Controller) -> None:
        if pods := self._pods.get(key):
            self._outdated |= pods
            self._changed()


def with_default_spread(pod: Pod, found: ApiPod, selectors: DefaultSelectors) -> Pod:
    """The pod with its default, if it has one."""
    selector = selectors.selector(found)
    return replace(pod, default_spread=selector) if selector else pod


def _of_labels(labels: dict[str, str]) -> Selector:
    return tuple(SelectorRequirement(key, "In", (value,)) for key, value in sorted(labels.items()))


def _labels(found: ApiPod) -> Iterable[_Label]:
    return [(found.metadata.namespace, key, value) for key, value in (found.metadata.labels or {}).items()]


def _controllers(found: ApiPod) -> Iterable[_Controller]:
    """At most one; an object has one controller."""
    owner = _controller_of(found)
    return [((owner.api_version, owner.kind), found.metadata.namespace, owner.name)] if owner else []


def _controller_of(found: ApiPod) -> OwnerReference | None:
    return next((owner for owner in found.metadata.owner_references or () if owner.controller), None)


def _discard(services: dict[_Label, dict[str, Selector]], label: _Label, name: str) -> None:
    del services[label][name]
    if not services[label]:
        del services[label]
