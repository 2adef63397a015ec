"""What must hold of bound pods, computed from the objects alone by the rules of the Kubernetes documentation.

Written from the documentation and without a look at any scheduler: nothing here is shared with what is tested. Each
checker looks at the final state of a namespace in which no pod was moved or deleted since the first binding. There a
constraint that held at every binding holds at the end as well: the smallest count of a topology domain never falls.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]

_UNITS = {"m": 1, "Ki": 1000 << 10, "Mi": 1000 << 20, "Gi": 1000 << 30, "k": 10**6, "M": 10**9, "G": 10**12}
_ANY_ADDRESS = "0.0.0.0"


@dataclass(frozen=True)
class Placement:
    """Nodes, and the pods that are bound to them."""

    nodes: dict[str, Manifest]
    pods: list[Manifest]

    @classmethod
    def of(cls, nodes: Sequence[Manifest], pods: Sequence[Manifest]) -> Placement:
        """Of all the pods of a cluster: those that are bound and have not ended."""
        active = [pod for pod in pods if pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        bound = [pod for pod in active if pod["spec"].get("nodeName")]
        return cls({node["metadata"]["name"]: node for node in nodes}, bound)

    def domain(self, pod: Manifest, key: str) -> str | None:
        return labels(self.nodes[pod["spec"]["nodeName"]]).get(key)


def labels(thing: Manifest) -> dict[str, str]:
    found: dict[str, str] = thing["metadata"].get("labels", {})
    return found


def selected(selector: Manifest | None, of: dict[str, str]) -> bool:
    """A label selector; an absent one selects nothing, an empty one everything."""
    if selector is None:
        return False
    if any(of.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(expression_holds(one, of) for one in selector.get("matchExpressions", []))


def expression_holds(expression: Manifest, of: dict[str, str]) -> bool:
    key, operator = expression["key"], expression["operator"]
    values: list[str] = expression.get("values", [])
    if operator == "In":
        return of.get(key) in values
    if operator == "NotIn":
        return of.get(key) not in values
    return (key in of) is bool(operator == "Exists")


def anti_affinity(placement: Placement) -> Iterator[str]:
    """Required anti-affinity holds in both directions: also against pods that have none themselves."""
    for pod in placement.pods:
        for term in _terms(pod, "podAntiAffinity"):
            domain = placement.domain(pod, term["topologyKey"])
            for other in placement.pods:
                same = domain is not None and placement.domain(other, term["topologyKey"]) == domain
                if same and other is not pod and _term_selects(term, pod, other):
                    yield f"{_name(pod)} and {_name(other)} are both in {term['topologyKey']} {domain}"


def affinity(placement: Placement) -> Iterator[str]:
    """Another selected pod in the domain; only the very first of a group that selects itself needs none."""
    for pod in placement.pods:
        for term in _terms(pod, "podAffinity"):
            chosen = [other for other in placement.pods if other is not pod and _term_selects(term, pod, other)]
            domain = placement.domain(pod, term["topologyKey"])
            if domain is None:
                yield f"{_name(pod)} is on a node without {term['topologyKey']}"
            elif any(placement.domain(other, term["topologyKey"]) == domain for other in chosen):
                continue
            elif chosen or not _term_selects(term, pod, pod):
                yield f"{_name(pod)} is in {term['topologyKey']} {domain}, without a pod that it requires there"


def spread(placement: Placement) -> Iterator[str]:
    """For every DoNotSchedule constraint of every pod: the count of its domain less the global minimum."""
    counted: dict[str, Counter[str]] = {}  # like pods ask the same
    seen: set[str] = set()
    for pod in placement.pods:
        for constraint in pod["spec"].get("topologySpreadConstraints", []):
            if constraint["whenUnsatisfiable"] == "DoNotSchedule":
                alike = json.dumps([constraint, labels(pod), pod["metadata"]["namespace"], _node_rules_of(pod)])
                if alike not in counted:
                    counted[alike] = _count(placement, pod, constraint)
                problem = _skew(counted[alike], constraint, placement.domain(pod, constraint["topologyKey"]))
                if problem not in seen:
                    seen.add(problem)
                    yield from [problem] if problem else []


def _count(placement: Placement, pod: Manifest, constraint: Manifest) -> Counter[str]:
    """Selected pods by domain; a domain without any counts 0."""
    keys = [one["topologyKey"] for one in pod["spec"]["topologySpreadConstraints"]]
    of_node = {
        name: labels(node)[constraint["topologyKey"]]
        for name, node in placement.nodes.items()
        if all(key in labels(node) for key in keys) and _eligible(node, pod, constraint)
    }
    counts = Counter(dict.fromkeys(of_node.values(), 0))
    for other in placement.pods:
        domain = of_node.get(other["spec"]["nodeName"])
        if domain is not None and _same_namespace(pod, other) and _spread_selects(constraint, pod, other):
            counts[domain] += 1
    return counts


def _skew(counts: Counter[str], constraint: Manifest, domain: str | None) -> str:
    key, most = constraint["topologyKey"], constraint["maxSkew"]
    minimum = min(counts.values(), default=0) if len(counts) >= constraint.get("minDomains", 1) else 0
    if domain is None:
        return f"a pod is on a node without {key}"
    if counts[domain] - minimum > most:
        return f"{key} {domain} has {counts[domain]} pods, the minimum is {minimum}, maxSkew {most}"
    return ""


def _spread_selects(constraint: Manifest, pod: Manifest, other: Manifest) -> bool:
    keys = [key for key in constraint.get("matchLabelKeys", []) if key in labels(pod)]
    same = all(labels(other).get(key) == labels(pod)[key] for key in keys)
    return same and selected(constraint.get("labelSelector"), labels(other))


def _eligible(node: Manifest, pod: Manifest, constraint: Manifest) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not _affine(node, pod):
        return False
    return constraint.get("nodeTaintsPolicy", "Ignore") == "Ignore" or not _repelled(node, pod)


def node_rules(placement: Placement) -> Iterator[str]:
    """Node selector and required node affinity, taints (those of this suite are older than the pods)."""
    for pod in placement.pods:
        node = placement.nodes[pod["spec"]["nodeName"]]
        if not _affine(node, pod):
            yield f"{_name(pod)} is on {node['metadata']['name']} against its node affinity"
        if _repelled(node, pod) and "preset" not in labels(pod):
            yield f"{_name(pod)} is on {node['metadata']['name']} against a taint"


def _node_rules_of(pod: Manifest) -> list[Any]:
    spec = pod["spec"]
    return [spec.get("nodeSelector"), spec.get("affinity", {}).get("nodeAffinity"), spec.get("tolerations")]


def _affine(node: Manifest, pod: Manifest) -> bool:
    if any(labels(node).get(key) != value for key, value in pod["spec"].get("nodeSelector", {}).items()):
        return False
    required = pod["spec"].get("affinity", {}).get("nodeAffinity", {})
    terms = required.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms")
    if terms is None:
        return True
    return any(all(expression_holds(one, labels(node)) for one in term.get("matchExpressions", [])) for term in terms)


def _repelled(node: Manifest, pod: Manifest) -> bool:
    tolerated = [(one.get("key"), one.get("operator", "Equal"), one.get("value", "")) for one in _tolerations(pod)]
    for taint in node["spec"].get("taints", []):
        if taint["effect"] == "PreferNoSchedule":
            continue
        key, value = taint["key"], taint.get("value", "")
        if not any(k in (None, key) and (o == "Exists" or v == value) for k, o, v in tolerated):
            return True
    return False


def _tolerations(pod: Manifest) -> list[Manifest]:
    found: list[Manifest] = pod["spec"].get("tolerations", [])
    return found


def host_ports(placement: Placement) -> Iterator[str]:
    """Two pods of a node may not have the same port and protocol on the same address, or on all addresses."""
    taken: dict[tuple[str, str, int], list[tuple[str, str]]] = defaultdict(list)
    for pod in placement.pods:
        for port in (port for box in pod["spec"]["containers"] for port in box.get("ports", [])):
            if not port.get("hostPort"):
                continue
            address = port.get("hostIP") or _ANY_ADDRESS
            others = taken[pod["spec"]["nodeName"], port.get("protocol", "TCP"), port["hostPort"]]
            for name, used in others:
                if _ANY_ADDRESS in (address, used) or address == used:
                    yield f"{_name(pod)} and {name} both have host port {port['hostPort']} on {pod['spec']['nodeName']}"
            others.append((_name(pod), address))


def resources(placement: Placement) -> Iterator[str]:
    """No node has more requested than it can allocate."""
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for pod in placement.pods:
        used[pod["spec"]["nodeName"]]["pods"] += 1000
        for box in pod["spec"]["containers"]:
            for resource, amount in box.get("resources", {}).get("requests", {}).items():
                used[pod["spec"]["nodeName"]][resource] += thousandths(amount)
    for node, sums in used.items():
        allocatable = placement.nodes[node]["status"]["allocatable"]
        for resource, total in sums.items():
            if total > thousandths(allocatable.get(resource, "0")):
                yield f"{node} has {total / 1000:g} {resource} requested of {allocatable.get(resource, '0')}"


def thousandths(amount: str) -> int:
    for unit, factor in _UNITS.items():
        if amount.endswith(unit):
            return int(amount.removesuffix(unit)) * factor
    return int(amount) * 1000


def gangs(placement: Placement, minimum: dict[str, int]) -> Iterator[str]:
    """A gang has its minMember bound, or nothing."""
    bound = Counter(
        pod["metadata"].get("annotations", {}).get("scheduling.k8s.io/group-name") for pod in placement.pods
    )
    for name, least in minimum.items():
        if 0 < bound[name] < least:
            yield f"{bound[name]} members of {name} are bound, minMember is {least}"


CHECKERS: tuple[Callable[[Placement], Iterator[str]], ...] = (
    anti_affinity,
    affinity,
    spread,
    node_rules,
    host_ports,
    resources,
)


def violations(placement: Placement, minimum: dict[str, int]) -> list[str]:
    found = [problem for checker in CHECKERS for problem in checker(placement)]
    return found + list(gangs(placement, minimum))


def _terms(pod: Manifest, kind: str) -> list[Manifest]:
    terms = pod["spec"].get("affinity", {}).get(kind, {})
    found: list[Manifest] = terms.get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return found


def _term_selects(term: Manifest, pod: Manifest, other: Manifest) -> bool:
    """This suite uses neither namespaces nor namespaceSelector: a term is about the namespace of its pod."""
    return _same_namespace(pod, other) and selected(term.get("labelSelector"), labels(other))


def _same_namespace(pod: Manifest, other: Manifest) -> bool:
    return bool(pod["metadata"]["namespace"] == other["metadata"]["namespace"])


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])
