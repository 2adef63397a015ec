"""Whether a pod may join a node beside other pods, written down from kube-scheduler's documentation and filters.

No code is shared with the scheduler: no counters, no layers, no arrays. Everything is looked up for one node at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler.core.pod_constraints import PodConstraints, PodTerm, Selector
from scheduler.core.scheduling_types import Node, Pod

_NONE = PodConstraints()


@dataclass
class World:
    """Nodes, and the pods on them; the labels of namespaces."""

    nodes: Mapping[str, Node]
    pods: dict[str, tuple[Pod, str]] = field(default_factory=dict)  # by uid, with the node's name
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def with_pod(self, pod: Pod, node: str) -> World:
        return World(self.nodes, {**self.pods, pod.uid: (pod, node)}, self.namespaces)

    def without(self, uids: Iterable[str]) -> World:
        gone = set(uids)
        return World(self.nodes, {uid: one for uid, one in self.pods.items() if uid not in gone}, self.namespaces)

    def objection(self, pod: Pod, name: str) -> str:
        """Why the pod may not join the node; empty if it may."""
        node, mine = self.nodes[name], pod.requirements.constraints or _NONE
        if not self._selected(pod, node):
            return "selector"
        for resource, amount in pod.requests:
            used = sum(dict(other.requests).get(resource, 0) for other, on in self.pods.values() if on == name)
            if used + amount > node.allocatable.get(resource, 0):
                return f"too little {resource}"
        for other, on in self.pods.values():
            theirs = other.requirements.constraints or _NONE
            if on == name and any(_same_port(one, two) for one in mine.ports for two in theirs.ports):
                return "port"
            if any(self._near(name, on, term) and self.means(term, other) for term in mine.anti_affinity):
                return "anti-affinity"
            if any(self._near(name, on, term) and self.means(term, pod) for term in theirs.anti_affinity):
                return "existing anti-affinity"
        return self._affinity(pod, name, mine.affinity) or self._spread(pod, name, mine)

    def _affinity(self, pod: Pod, name: str, terms: Sequence[PodTerm]) -> str:
        if not terms:
            return ""
        if any(term.topology_key not in self.nodes[name].labels for term in terms):
            return "affinity: no topology key"
        friends = [on for other, on in self.pods.values() if all(self.means(term, other) for term in terms)]
        if all(any(self._near(name, on, term) for on in friends) for term in terms):
            return ""
        exists = any(term.topology_key in self.nodes[on].labels for on in friends for term in terms)
        return "affinity" if exists or not all(self.means(term, pod) for term in terms) else ""

    def _spread(self, pod: Pod, name: str, mine: PodConstraints) -> str:
        required = [one for one in mine.spread if one.required]
        keys = [one.topology_key for one in required]
        if any(key not in self.nodes[name].labels for key in keys):
            return "spread: no topology key"
        for one in required:
            domains: dict[str, int] = {}
            for node in self.nodes.values():
                taints = {taint.effect for taint in node.taints} - {"PreferNoSchedule"}
                if all(key in node.labels for key in keys) and (
                    (not one.honor_affinity or self._matches_node_selector(pod, node))
                    and (not one.honor_taints or not taints or pod.requirements.tolerations)
                ):
                    domains[node.labels[one.topology_key]] = domains.get(node.labels[one.topology_key], 0) + sum(
                        on == node.name
                        and not other.terminating
                        and other.key[0] == pod.key[0]
                        and bool(one.selector and _matches(one.selector, other.labels))
                        for other, on in self.pods.values()
                    )
            fewest = min(domains.values()) if domains and len(domains) >= one.min_domains else 0
            there = domains.get(self.nodes[name].labels[one.topology_key], 0)
            itself = one.selector is not None and _matches(one.selector, pod.labels)
            if there + itself - fewest > one.max_skew:
                return "spread"
        return ""

    def means(self, term: PodTerm, pod: Pod) -> bool:
        asked, namespace = term.pods, pod.key[0]
        in_namespace = namespace in asked.namespaces or (
            asked.namespace_selector is not None
            and _matches(asked.namespace_selector, self.namespaces.get(namespace, {}))
        )
        return in_namespace and asked.selector is not None and _matches(asked.selector, pod.labels)

    def _near(self, one: str, other: str, term: PodTerm) -> bool:
        values = [self.nodes[name].labels.get(term.topology_key) for name in (one, other)]
        return values[0] is not None and values[0] == values[1]

    def _selected(self, pod: Pod, node: Node) -> bool:
        taints = [taint for taint in node.taints if taint.effect != "PreferNoSchedule"]
        return self._matches_node_selector(pod, node) and (not taints or bool(pod.requirements.tolerations))

    def _matches_node_selector(self, pod: Pod, node: Node) -> bool:
        return all(node.labels.get(key) == value for key, value in pod.requirements.selector)


def _same_port(one: object, other: object) -> bool:
    (ip, *rest), (other_ip, *other_rest) = _port(one), _port(other)
    return rest == other_rest and (ip == other_ip or "0.0.0.0" in (ip, other_ip))


def _port(port: object) -> tuple[str, str, int]:
    return port.address, port.protocol, port.port  # type: ignore[attr-defined]


def _matches(selector: Selector, labels: Mapping[str, str]) -> bool:
    for one in selector:
        value = labels.get(one.key)
        holds = {
            "In": value in one.values,
            "NotIn": value not in one.values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[one.operator]
        if not holds:
            return False
    return True
