"""Required anti-affinity and affinity, DoNotSchedule spread, host ports and claims, for single pods and for gangs.

A constraint of the first kind lets a known number of like pods be bound. One pod more stays pending; a gang of one
member more is not bound at all, a gang of that number is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bench.black_box.plane import HOSTNAME, ZONE, Case, Namespace, bound_of, pod

Spec = dict[str, Any]
_SELECTOR = {"matchLabels": {"app": "case"}}
_PORT = 8080


class Constraint:
    """What the pods of a case have in their spec, and how many of them can be bound."""

    def __init__(self, name: str, key: str, reason: str, spec: Callable[[Namespace], tuple[Spec, int | None]]) -> None:
        self.name, self.key, self.reason = name, key, reason
        self._spec = spec

    def cases(self) -> Iterator[Case]:
        where = f"{self.name}, {self.key.rpartition('/')[2]}" if self.key else self.name
        yield Case(f"{where}, pods", self._single)
        yield Case(f"{where}, gang", self._gang, gangs=True)

    def _single(self, here: Namespace) -> None:
        spec, most = self._spec(here)
        count = most + 1 if most is not None else len(here.domains(self.key or HOSTNAME)) + 1
        here.submit([pod(f"pod-{number}", **spec) for number in range(count)])
        here.quiet(count if most is None else most, pending=0 if most is None else 1)
        if most is not None:
            here.expect_reason(self.reason)

    def _gang(self, here: Namespace) -> None:
        spec, most = self._spec(here)
        size = most if most is not None else len(here.domains(self.key or HOSTNAME)) + 1
        if most is not None:
            members = [pod(f"large-{number}", group="large", **spec) for number in range(size + 1)]
            here.submit_gang("large", members, size + 1)
            here.quiet(0, pending=size + 1)
            here.clear()
        here.submit_gang("fits", [pod(f"fits-{n}", group="fits", **spec) for n in range(size)], size)
        here.quiet(size, pending=0)


def _term(key: str, selector: Spec = _SELECTOR) -> Spec:
    return {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": key, "labelSelector": selector}]}


def _anti_affinity(key: str, here: Namespace) -> tuple[Spec, int]:
    return {"affinity": {"podAntiAffinity": _term(key)}}, len(here.domains(key))


def _spread(key: str, skew: int, **more: Any) -> Spec:
    constraint = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR}
    return {"topologySpreadConstraints": [constraint | more]}


def _min_domains(key: str, skew: int, here: Namespace) -> tuple[Spec, int]:
    """One domain more is asked for than there is: the global minimum counts as 0."""
    domains = len(here.domains(key))
    return _spread(key, skew, minDomains=domains + 1), domains * skew


def _taints(key: str, skew: int, policy: str, here: Namespace) -> tuple[Spec, int | None]:
    """A tainted domain stays empty. Ignored taints: it is the global minimum. Honoured: it does not count."""
    domains = here.domains(key)
    here.taint_domain(key, domains[0])
    return _spread(key, skew, nodeTaintsPolicy=policy), (len(domains) - 1) * skew if policy == "Ignore" else None


def _node_affinity(key: str, skew: int, policy: str, here: Namespace) -> tuple[Spec, int | None]:
    domains = here.domains(key)
    expression = {"key": key, "operator": "NotIn", "values": [domains[0]]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    spec = _spread(key, skew, nodeAffinityPolicy=policy) | {"affinity": affinity}
    return spec, (len(domains) - 1) * skew if policy == "Ignore" else None


def _host_ports(here: Namespace) -> tuple[Spec, int]:
    return {"container": {"ports": [{"containerPort": _PORT, "hostPort": _PORT}]}}, len(here.nodes)


def constraints() -> Iterator[Constraint]:
    rejected = "didn't match pod topology spread constraints"
    for key in (ZONE, HOSTNAME):
        yield Constraint("anti-affinity", key, "didn't match pod anti-affinity rules", partial(_anti_affinity, key))
        for skew in (1, 2):
            yield Constraint(f"spread {skew}, minDomains", key, rejected, partial(_min_domains, key, skew))
        for skew, policy in ((1, "Ignore"), (2, "Ignore"), (1, "Honor")):
            yield Constraint(f"spread {skew}, taints {policy}", key, rejected, partial(_taints, key, skew, policy))
            name = f"spread {skew}, node affinity {policy}"
            yield Constraint(name, key, rejected, partial(_node_affinity, key, skew, policy))
    yield Constraint("host port", "", "didn't have free ports for the requested pod ports", _host_ports)


def _symmetry(key: str, here: Namespace) -> None:
    """A pod without constraints is not bound beside a pod whose anti-affinity selects it."""
    spec, domains = _anti_affinity(key, here)
    here.submit([pod(f"pod-{number}", **spec) for number in range(domains)])
    here.quiet(domains, pending=0)
    here.submit([pod("without-constraints")])
    here.quiet(domains, pending=1)
    here.expect_reason("didn't satisfy existing pods anti-affinity rules")


def _followers(key: str, here: Namespace) -> None:
    """Pods that require a leader go where it is, and stay pending without it."""
    leader: Spec = {"labels": {"role": "leader"}, "nodeSelector": {HOSTNAME: here.node_names[-1]}}
    spec: Spec = {"affinity": {"podAffinity": _term(key, {"matchLabels": {"role": "leader"}})}}
    here.submit([pod(f"pod-{number}", **spec) for number in range(8)])
    here.quiet(0, pending=8)
    here.expect_reason("didn't match pod affinity rules")
    here.submit([pod("leader", **leader)])
    here.quiet(9, pending=0)


def _self_affinity(key: str, gang: bool, here: Namespace) -> None:
    """Pods that require each other are all in one domain: as many as its GPUs allow."""
    requests = {"cpu": "100m", "nvidia.com/gpu": "2"}
    spec: Spec = {"affinity": {"podAffinity": _term(key)}, "requests": requests}
    nodes = [node for node in here.nodes if node["metadata"]["labels"][key] == here.domains(key)[0]]
    most = len(nodes) * 4
    if gang:
        large = [pod(f"large-{number}", group="large", **spec) for number in range(most + 1)]
        here.submit_gang("large", large, most + 1)
        here.quiet(0, pending=most + 1)
        here.clear()
        here.submit_gang("fits", [pod(f"fits-{number}", group="fits", **spec) for number in range(most)], most)
        here.quiet(most, pending=0)
    else:
        here.submit([pod(f"pod-{number}", **spec) for number in range(most + 1)])
        here.quiet(most, pending=1)
    domain = {node["metadata"]["name"]: node["metadata"]["labels"][key] for node in here.nodes}
    used = {domain[one["spec"]["nodeName"]] for one in bound_of(here.watch.pods())}
    here.expect(len(used) == 1, f"the pods are in {len(used)} domains")


def _fragmented_zones(to_leader: bool, here: Namespace) -> None:
    """A gang in one zone: the last one is empty, the others have places for a part of it, on fuller nodes."""
    *others, empty = here.domains(ZONE)
    zone_of = {node["metadata"]["name"]: node["metadata"]["labels"][ZONE] for node in here.nodes}
    running = []
    for zone in others:
        names = [name for name in here.node_names if zone_of[name] == zone]
        for number, name in enumerate(names):
            requests = {"nvidia.com/gpu": "7" if number % 10 else "4"}
            labels = {"app": "running"}
            running.append(pod(f"running-{name}", labels=labels, requests=requests, nodeName=name))
    here.submit(running)
    here.quiet(len(running), pending=0)
    members = min(32, 2 * (len(here.nodes) - len(running)))
    leader: Spec = {"role": "leader"} if to_leader else {"app": "case"}
    near: Spec = {"affinity": {"podAffinity": _term(ZONE, {"matchLabels": leader})}}
    requests = {"cpu": "100m", "nvidia.com/gpu": "4"}
    gang = [pod(f"gang-{number}", group="gang", requests=requests, **near) for number in range(members - to_leader)]
    if to_leader:
        gang.append(pod("leader", group="gang", labels=leader))
    here.submit_gang("gang", gang, members)
    here.quiet(len(running) + members, pending=0)
    here.expect(not here.watch.deleted, f"{len(here.watch.deleted)} pods were evicted")
    bound = [one for one in bound_of(here.watch.pods()) if one["metadata"]["labels"]["app"] == "case"]
    used = {zone_of[one["spec"]["nodeName"]] for one in bound}
    here.expect(used == {empty}, f"the gang is in {', '.join(sorted(used))}, and only {empty} has places for it")


def _port_addresses(here: Namespace) -> None:
    """On one node: other addresses and protocols do not conflict, the address of all does."""

    def with_port(name: str, **port: str) -> dict[str, Any]:
        ports = [{"containerPort": _PORT, "hostPort": _PORT, **port}]
        return pod(name, container={"ports": ports}, nodeSelector={HOSTNAME: here.node_names[0]})

    first = [with_port("a", hostIP="127.0.0.1"), with_port("b", hostIP="127.0.0.2"), with_port("c", protocol="UDP")]
    here.submit(first)
    here.quiet(3, pending=0)
    here.submit([with_port("all-addresses"), with_port("same-address", hostIP="127.0.0.2")])
    here.quiet(3, pending=2)


def _claims(spec: Spec, text: str, gang: bool, here: Namespace) -> None:
    """A claim that does not exist or is not bound keeps its pod pending, and all of its gang."""
    if gang:
        members = [pod(f"gang-{number}", group="gang") for number in range(3)]
        here.submit_gang("gang", [*members, pod("gang-3", group="gang", **spec)], 4)
        here.quiet(0, pending=4)
    else:
        here.submit([pod("claims", **spec), pod("plain")])
        here.quiet(1, pending=1)
    here.expect_reason(text)


def _unbound(gang: bool, here: Namespace) -> None:
    """An Immediate claim of a class without a provisioner."""
    size = {"requests": {"storage": "1Gi"}}
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "absent", "resources": size}
    path = f"/api/v1/namespaces/{here.name}/persistentvolumeclaims"
    here.rest.request("POST", path, {"metadata": {"name": "unbound"}, "spec": claim})
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "unbound"}}
    _claims({"volumes": [volume]}, "unbound immediate PersistentVolumeClaims", gang, here)


def _devices(gang: bool, here: Namespace) -> None:
    """A ResourceClaim for which there is no device."""
    exactly = {"deviceClassName": "absent"}
    claim = {"devices": {"requests": [{"name": "device", "exactly": exactly}]}}
    path = f"/apis/resource.k8s.io/v1/namespaces/{here.name}/resourceclaims"
    here.rest.request("POST", path, {"metadata": {"name": "devices"}, "spec": claim})
    _claims({"resourceClaims": [{"name": "device", "resourceClaimName": "devices"}]}, "", gang, here)


def cases() -> Iterator[Case]:
    for constraint in constraints():
        yield from constraint.cases()
    for key in (ZONE, HOSTNAME):
        name = key.rpartition("/")[2]
        yield Case(f"anti-affinity of others, {name}, pods", partial(_symmetry, key))
        yield Case(f"affinity, {name}, pods", partial(_followers, key))
        yield Case(f"affinity to each other, {name}, pods", partial(_self_affinity, key, False))
        yield Case(f"affinity to each other, {name}, gang", partial(_self_affinity, key, True), gangs=True)
    yield Case("affinity to each other, fragmented zones, gang", partial(_fragmented_zones, False), gangs=True)
    yield Case("affinity to a leader, fragmented zones, gang", partial(_fragmented_zones, True), gangs=True)
    yield Case("host port, addresses, pods", _port_addresses)
    absent = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "absent"}}]}
    for gang in (False, True):
        kind = "gang" if gang else "pods"
        missing = 'persistentvolumeclaim "absent" not found'
        yield Case(f"missing volume claim, {kind}", partial(_claims, absent, missing, gang), gangs=gang)
        yield Case(f"unbound volume claim, {kind}", partial(_unbound, gang), gangs=gang)
        yield Case(f"device claim, {kind}", partial(_devices, gang), gangs=gang)
