"""What is known of the cluster, kept up to date change by change; a plan reads it and never writes to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set

from scheduler.core.model import DEFAULT_QUEUE, Budget, Counts, Group, Key, Node, Pod, Queue
from scheduler.core.nodes import NodeTable

Claims = Mapping[Key, Set[Key]]
_NOBODY: dict[str, Pod] = {}


class Cluster:
    """Nouns by name, and the few views of them that decisions ask for all the time."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}  # by uid, none of them at its end
        self.groups: dict[Key, Group] = {}
        self.queues: dict[str, Queue] = {}
        self.budgets: dict[Key, Budget] = {}
        self.counts: dict[Key, Counts] = {}  # how the members of a group stand just now
        self.waiting: dict[str, Pod] = {}  # not bound, not gated, not leaving
        self.binding: dict[str, Pod] = {}  # bound by decision, and not yet by the word of the API
        self.touched: set[Key] = set()  # groups that something happened to since the last `settle`
        self._on_node: dict[str, dict[str, Pod]] = defaultdict(dict)
        self._in_group: dict[Key, dict[str, Pod]] = defaultdict(dict)
        self._schedulers: dict[Key, set[str]] = defaultdict(set)  # of the members that a group has, or had
        self._departed: dict[Key, Group] = {}  # deleted, but members of it are still bound
        self._table: NodeTable | None = None

    @property
    def table(self) -> NodeTable:
        """The nodes as columns; made anew when a node came, went or changed."""
        if self._table is None:
            self._table = NodeTable(self.nodes.values())
            for pod in self.pods.values():
                self._hold(pod, +1)
        return self._table

    def settle(self) -> None:
        """What was decided for the groups so far is under way."""
        self.touched.clear()

    def set_node(self, node: Node) -> None:
        if self.nodes.get(node.name) != node:
            self.nodes[node.name] = node
            self._table = None

    def remove_node(self, name: str) -> None:
        if self.nodes.pop(name, None) is not None:
            self._table = None

    def set_pod(self, pod: Pod) -> None:
        departed = self._departed.get(pod.group) if pod.group is not None else None
        self.remove_pod(pod.uid)
        self.pods[pod.uid] = pod
        if pod.node:
            self._on_node[pod.node][pod.uid] = pod
            self._hold(pod, +1)
            if pod.binding:
                self.binding[pod.uid] = pod
        elif not pod.gated and not pod.leaving:
            self.waiting[pod.uid] = pod
        if pod.group is not None:
            self._in_group[pod.group][pod.uid] = pod
            self._schedulers[pod.group].add(pod.scheduler)
            self.touched.add(pod.group)
            if departed is not None:
                self._departed[pod.group] = departed

    def remove_pod(self, uid: str) -> None:
        pod = self.pods.pop(uid, None)
        if pod is None:
            return
        self.waiting.pop(uid, None)
        self.binding.pop(uid, None)
        if pod.node:
            self._hold(pod, -1)
            _forget(self._on_node, pod.node, uid)
        if pod.group is not None:
            _forget(self._in_group, pod.group, uid)
            if pod.group not in self._in_group:
                self._departed.pop(pod.group, None)
                if pod.group not in self.groups:
                    self._schedulers.pop(pod.group, None)
            self.touched.add(pod.group)

    def set_group(self, group: Group) -> None:
        self.groups[group.key] = group
        self._departed.pop(group.key, None)
        self.touched.add(group.key)

    def remove_group(self, key: Key) -> None:
        group = self.groups.pop(key, None)
        if group is not None and key in self._in_group:
            self._departed[key] = group
        elif key not in self._in_group:
            self._schedulers.pop(key, None)
        self.counts.pop(key, None)

    def set_counts(self, key: Key, counts: Counts) -> None:
        """How many members run, and how many came to an end, as their nodes say."""
        self.counts[key] = counts
        self.touched.add(key)

    def set_queue(self, queue: Queue) -> None:
        self.queues[queue.name] = queue
        self._touch_groups_in(queue.name)

    def remove_queue(self, name: str) -> None:
        self.queues.pop(name, None)
        self._touch_groups_in(name)

    def set_budget(self, budget: Budget) -> None:
        self.budgets[budget.key] = budget

    def remove_budget(self, key: Key) -> None:
        self.budgets.pop(key, None)

    def bound(self) -> list[Pod]:
        return [pod for pods in self._on_node.values() for pod in pods.values()]

    def members(self, key: Key) -> list[Pod]:
        return list(self._in_group.get(key, _NOBODY).values())

    def group_of(self, pod: Pod) -> Group | None:
        """A pod that is bound stays what it was when its group is deleted: it goes on to use its queue's share."""
        if pod.group is None:
            return None
        return self.groups.get(pod.group) or (self._departed.get(pod.group) if pod.node else None)

    def is_for(self, key: Key, schedulers: Set[str]) -> bool:
        """Whether these look after the group; one that has had no member yet is everybody's."""
        asked = self._schedulers.get(key)
        return not asked or not asked.isdisjoint(schedulers)

    def partners(self) -> tuple[Claims, Claims]:
        """With whom groups want to start together: whom each of them names, and who names it."""
        naming: Claims = {key: group.partners for key, group in self.groups.items() if group.partners}
        named: dict[Key, set[Key]] = defaultdict(set)
        for key, partners in naming.items():
            for partner in partners:
                named[partner].add(key)
        return naming, named

    def queue_of(self, pod: Pod) -> str:
        """The queue whose share a pod uses: its group's, else its own."""
        group = self.group_of(pod)
        return (group.queue if group else pod.queue) or DEFAULT_QUEUE

    def waits_for_bindings(self, pod: Pod) -> bool:
        """Whether a binding that is done may be what others waited for: in a queue, unless it is served loosely."""
        queue = self.queues.get(self.queue_of(pod))
        return queue is not None and queue.strict is not False

    def priority_of(self, pod: Pod) -> int:
        """A pod is as important as the class of its group says, if it has one."""
        group = self.group_of(pod)
        return group.priority if group is not None and group.priority is not None else pod.priority

    def _touch_groups_in(self, queue: str) -> None:
        self.touched |= {key for key, group in self.groups.items() if (group.queue or DEFAULT_QUEUE) == queue}

    def _hold(self, pod: Pod, sign: int) -> None:
        if self._table is not None and pod.node:
            self._table.hold(pod.node, pod.requests, leaving=pod.leaving, sign=sign)


def _forget(view: dict[str, dict[str, Pod]] | dict[Key, dict[str, Pod]], key: object, uid: str) -> None:
    pods = view[key]  # type: ignore[index]
    pods.pop(uid, None)
    if not pods:
        del view[key]  # type: ignore[arg-type]
