"""The scheduler's view of the cluster, updated incrementally; a plan only reads it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from copy import copy
from typing import TypeVar

from scheduler.core.linked_groups import Links, linked_sets
from scheduler.core.node_table import NodeTable
from scheduler.core.pod_counters import PodCounters
from scheduler.core.scheduling_types import DEFAULT_QUEUE, Counts, DisruptionBudget, Group, Key, Node, Pod, Queue

SCHEDULER_OF_API = {"volcano": "volcano", "koordinator": "koord-scheduler"}
_NO_PODS: dict[str, Pod] = {}
_NO_MEMBERS = Counts()
_MAX_UNUSED_COLUMNS = 256
_K = TypeVar("_K")


class ClusterState:
    """Objects by name, with the indexes that decisions use all the time."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}  # by uid; none of them has ended
        self.groups: dict[Key, Group] = {}
        self.queues: dict[str, Queue] = {}
        self.budgets: dict[Key, DisruptionBudget] = {}
        self.counts: dict[Key, Counts] = {}  # of each group's running and ended members; the group may be unknown
        self.counters = PodCounters()
        self._pending: dict[str, Pod] = {}
        self.binding: dict[str, Pod] = {}  # assumed to be bound, not yet confirmed by the API server
        self.changed_groups: set[Key] = set()  # since the last `clear_changes`
        self._on_node: dict[str, dict[str, Pod]] = defaultdict(dict)
        self._in_namespace: dict[str, dict[str, Pod]] = defaultdict(dict)  # bound pods
        self._in_group: dict[Key, dict[str, Pod]] = defaultdict(dict)
        self._schedulers: dict[Key, set[str]] = defaultdict(set)  # schedulerNames of present and past members
        self._deleted_groups: dict[Key, Group] = {}  # deleted groups with bound members
        self._table: NodeTable | None = None
        self._linked: dict[Key, list[Key]] | None = None  # the linked groups of each that has some

    @property
    def pending(self) -> dict[str, Pod]:
        """The pods that are not bound, not gated and not terminating."""
        self._classify_all()
        return self._pending

    @property
    def table(self) -> NodeTable:
        """The nodes as columns; rebuilt when a node was added, removed or changed."""
        self._classify_all()
        if self._table is None:
            self._table = NodeTable(self.nodes.values())
            for pod in self.pods.values():
                self._add_usage(pod, +1)
            self.counters.added = list(self.counters)
        for counter in self.counters.added:
            self._table.add_counter(counter)
        self.counters.added.clear()
        return self._table

    def view(self) -> ClusterState:
        """This state as it is now. It shares everything, so it costs nothing, and is valid until the next change.

        `detach` before that change makes it valid for good.
        """
        view = copy(self)
        view._table = self.table  # computed here, where the next view finds it
        view._linked = self._linked = self._link_groups() if self._linked is None else self._linked
        return view

    def detach(self) -> None:
        """Copy what is shared with the newest view: objects are never changed, only replaced."""
        assert self._table is not None, "detach comes directly after view"
        self._table, self.counters = self._table.copy(), self.counters.copy()
        self.nodes, self.pods, self.groups = dict(self.nodes), dict(self.pods), dict(self.groups)
        self.queues, self.budgets, self.counts = dict(self.queues), dict(self.budgets), dict(self.counts)
        self._pending, self.binding, self._deleted_groups = (
            dict(self._pending),
            dict(self.binding),
            dict(self._deleted_groups),
        )
        self._on_node, self._in_namespace = _copy_view(self._on_node), _copy_view(self._in_namespace)
        self._in_group = _copy_view(self._in_group)
        self._schedulers = defaultdict(set, {key: set(names) for key, names in self._schedulers.items()})

    def clear_changes(self) -> None:
        """The last plan has handled all changed groups."""
        self.changed_groups = set()  # a view keeps those of before

    def set_node(self, node: Node) -> None:
        if self.nodes.get(node.name) != node:
            self.nodes[node.name] = node
            self._table = None

    def remove_node(self, name: str) -> None:
        if self.nodes.pop(name, None) is not None:
            self._table = None

    def set_pod(self, pod: Pod) -> None:
        deleted_group = self._deleted_groups.get(pod.group) if pod.group is not None else None
        if pod.requirements.constraints is not None:  # first: the pod that it replaces may need the same counters
            self.counters.add(pod.requirements.constraints)
        self.remove_pod(pod.uid)
        pod = self.counters.classify(pod)
        self.pods[pod.uid] = pod
        if pod.node:
            self._on_node[pod.node][pod.uid] = pod
            self._in_namespace[pod.key[0]][pod.uid] = pod
            self._add_usage(pod, +1)
            if pod.binding:
                self.binding[pod.uid] = pod
        elif not pod.gated and not pod.terminating:
            self._pending[pod.uid] = pod
        if pod.group is not None:
            self._in_group[pod.group][pod.uid] = pod
            self._schedulers[pod.group].add(pod.scheduler)
            self.changed_groups.add(pod.group)
            if deleted_group is not None:
                self._deleted_groups[pod.group] = deleted_group

    def remove_pod(self, uid: str) -> None:
        pod = self.pods.pop(uid, None)
        if pod is None:
            return
        if pod.requirements.constraints is not None:
            self.counters.remove(pod.requirements.constraints)
        self._pending.pop(uid, None)
        self.binding.pop(uid, None)
        if pod.node:
            self._add_usage(pod, -1)
            _remove_from(self._on_node, pod.node, uid)
            _remove_from(self._in_namespace, pod.key[0], uid)
        if pod.group is not None:
            _remove_from(self._in_group, pod.group, uid)
            if pod.group not in self._in_group:
                self._deleted_groups.pop(pod.group, None)
            self._forget_unknown(pod.group)
            self.changed_groups.add(pod.group)

    def set_group(self, group: Group) -> None:
        before = self.groups.get(group.key)
        if group.linked_groups != (before.linked_groups if before else frozenset()):
            self._linked = None
        self.groups[group.key] = group
        self._deleted_groups.pop(group.key, None)
        self.changed_groups.add(group.key)

    def remove_group(self, key: Key) -> None:
        group = self.groups.pop(key, None)
        self._linked = None
        if group is not None and key in self._in_group:
            self._deleted_groups[key] = group
        self._forget_unknown(key)

    def set_counts(self, key: Key, counts: Counts) -> None:
        """Set how many members are running and how many have ended, by their phase."""
        self.counts[key] = counts
        self._forget_unknown(key)
        self.changed_groups.add(key)

    def add_scheduler(self, key: Key, name: str) -> None:
        """The schedulerName of a member: one that has ended when the scheduler starts counts, too."""
        self._schedulers[key].add(name)

    def set_queue(self, queue: Queue) -> None:
        self.queues[queue.name] = queue
        self._mark_groups_in(queue.name)

    def remove_queue(self, name: str) -> None:
        self.queues.pop(name, None)
        self._mark_groups_in(name)

    def set_budget(self, budget: DisruptionBudget) -> None:
        self.budgets[budget.key] = budget

    def remove_budget(self, key: Key) -> None:
        self.budgets.pop(key, None)

    def bound(self) -> list[Pod]:
        return [pod for pods in self._on_node.values() for pod in pods.values()]

    def bound_in_namespace(self, namespace: str) -> list[Pod]:
        return list(self._in_namespace.get(namespace, _NO_PODS).values())

    def bound_by_node(self) -> Mapping[str, Mapping[str, Pod]]:
        """By the name of a node, which may be gone, and by uid, the pods that are bound to it."""
        return self._on_node

    def members(self, key: Key) -> list[Pod]:
        return list(self._in_group.get(key, _NO_PODS).values())

    def group_of(self, pod: Pod) -> Group | None:
        """The group of a pod. A bound pod keeps a deleted group: it still counts towards its queue's usage."""
        if pod.group is None:
            return None
        return self.groups.get(pod.group) or (self._deleted_groups.get(pod.group) if pod.node else None)

    def is_served_by(self, key: Key, schedulers: Set[str]) -> bool:
        """Whether one of these schedulers serves the group.

        Its pods name their scheduler. A group that never had a member may name one itself; else it belongs to the
        scheduler that its API comes from: beside Volcano, an admission by another scheduler would bypass Volcano's.
        """
        group = self.groups[key]
        names = self._schedulers.get(key) or {group.scheduler or SCHEDULER_OF_API[group.kind]}
        return not names.isdisjoint(schedulers)

    def group_links(self) -> Links:
        """Which groups each group names as linked."""
        return {key: group.linked_groups for key, group in self.groups.items() if group.linked_groups}

    def linked(self, key: Key) -> list[Key]:
        """The groups that start together with it, itself included."""
        if not self.groups[key].linked_groups:
            return [key]
        if self._linked is None:
            self._linked = self._link_groups()
        return self._linked[key]

    def _link_groups(self) -> dict[Key, list[Key]]:
        links = self.group_links()
        return {one: found for found in linked_sets(links, links) for one in found}

    def queue_of(self, pod: Pod) -> str:
        """The queue that a pod counts towards: its group's, else its own."""
        return self._named_queue(pod) or DEFAULT_QUEUE

    def names_queue(self, pod: Pod) -> bool:
        return bool(self._named_queue(pod))

    def binding_may_unblock_queue(self, pod: Pod, *, strict_by_default: bool) -> bool:
        """Whether a finished binding may unblock later pods: in a strict-FIFO queue."""
        queue = self.queues.get(self.queue_of(pod))
        return queue is not None and (strict_by_default if queue.strict is None else queue.strict)

    def priority_of(self, pod: Pod) -> int:
        """The priority of the pod's group, if that has a PriorityClass; else the pod's own."""
        group = self.group_of(pod)
        return group.priority if group is not None and group.priority is not None else pod.priority

    def set_namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        """The labels of a namespace, or None when it was deleted."""
        self.counters.set_namespace(name, labels)

    def _forget_unknown(self, key: Key) -> None:
        """Of a group that does not exist nothing is kept once its last member is gone, ended ones included."""
        if key not in self.groups and key not in self._in_group and self.counts.get(key, _NO_MEMBERS) == _NO_MEMBERS:
            self.counts.pop(key, None)
            self._schedulers.pop(key, None)

    def _classify_all(self) -> None:
        """Find out which pods the new counters count."""
        if not self.counters.outdated:
            return
        self.counters.outdated = False
        for pod in list(self.pods.values()):
            classified = self.counters.classify(pod)
            if classified is not pod:
                self._add_usage(pod, -1)
                self._add_usage(classified, +1)
                for pods in (self.pods, self._pending, self.binding, *self._views(pod)):
                    if pod.uid in pods:
                        pods[pod.uid] = classified
        if self._table is not None and len(self._table.counter_column) > 2 * len(self.counters) + _MAX_UNUSED_COLUMNS:
            self._table = None

    def _views(self, pod: Pod) -> list[dict[str, Pod]]:
        views = [self._on_node[pod.node], self._in_namespace[pod.key[0]]] if pod.node else []
        return views + ([self._in_group[pod.group]] if pod.group is not None else [])

    def _named_queue(self, pod: Pod) -> str:
        group = self.group_of(pod)
        return group.queue if group else pod.queue

    def _mark_groups_in(self, queue: str) -> None:
        self.changed_groups |= {key for key, group in self.groups.items() if (group.queue or DEFAULT_QUEUE) == queue}

    def _add_usage(self, pod: Pod, sign: int) -> None:
        if self._table is not None and pod.node:
            self._table.add_usage(pod.node, pod.requirements, terminating=pod.terminating, sign=sign)


def _copy_view(view: Mapping[_K, dict[str, Pod]]) -> dict[_K, dict[str, Pod]]:
    return defaultdict(dict, {key: pods.copy() for key, pods in view.items()})


def _remove_from(view: dict[str, dict[str, Pod]] | dict[Key, dict[str, Pod]], key: object, uid: str) -> None:
    pods = view[key]  # type: ignore[index]
    pods.pop(uid, None)
    if not pods:
        del view[key]  # type: ignore[arg-type]
