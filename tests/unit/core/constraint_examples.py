"""Random small clusters whose pods have constraints regarding other pods.

Drawn by a seeded generator: pods that hardly ever meet prove nothing, so few labels, zones and ports are used.
"""

from __future__ import annotations

from random import Random
from typing import Any

from scheduler.core.pod_constraints import (
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    Selector,
    SelectorRequirement,
    SpreadConstraint,
)
from scheduler.core.scheduling_types import Taint, Toleration
from tests.support.cluster_builder import NAMESPACE, FakeCluster
from tests.unit.core.constraint_checks import World

OTHER_NAMESPACE = "other"
ZONE, HOST, RACK = "zone", "host", "rack"
BLUE = (SelectorRequirement("team", "In", ("blue",)),)


def selector(random: Random) -> Selector | None:
    app = SelectorRequirement("app", random.choice(["In", "In", "In", "NotIn"]), (random.choice("ab"),))
    tier = SelectorRequirement("tier", random.choice(["Exists", "DoesNotExist"]))
    return random.choice([(app,), (app,), (app,), (app,), (app, tier), (tier,), (), None])


def term(random: Random) -> PodTerm:
    own = PodSelection(selector(random), frozenset({NAMESPACE}))
    namespaces = frozenset(random.choice([[OTHER_NAMESPACE], [NAMESPACE, OTHER_NAMESPACE], []]))
    wide = PodSelection(selector(random), namespaces, random.choice([None, (), BLUE]))
    return PodTerm(random.choice([ZONE, ZONE, HOST, RACK]), random.choice([own, own, own, wide]))


def spread(random: Random, namespace: str) -> SpreadConstraint:
    """A spread is over the pods of the pod's own namespace."""
    return SpreadConstraint(
        random.choice([ZONE, ZONE, HOST, RACK]),
        random.choice([1, 1, 2]),
        namespace,
        selector(random),
        required=random.random() < 0.8,
        min_domains=random.choice([1, 1, 2, 3]),
        honor_affinity=random.random() < 0.7,
        honor_taints=random.random() < 0.4,
    )


def constraints(random: Random, namespace: str) -> PodConstraints | None:
    kind = random.choice(["none", "port", "affinity", "anti-affinity", "spread", "many"])
    wanted = {kind} if kind != "many" else {"port", "affinity", "anti-affinity", "spread", "preferred"}

    def some(name: str, most: int) -> range:
        return range(random.randint(1, most) if name in wanted else 0)

    addresses = ["0.0.0.0", "10.0.0.1", "10.0.0.2"]
    found = PodConstraints(
        ports=frozenset(
            HostPort(random.choice(addresses), random.choice(["TCP", "TCP", "UDP"]), 80) for _ in some("port", 1)
        ),
        affinity=tuple(term(random) for _ in some("affinity", 2)),
        anti_affinity=tuple(term(random) for _ in some("anti-affinity", 2)),
        preferred=tuple((random.randint(-100, 100), term(random)) for _ in some("preferred", 2)),
        spread=tuple(spread(random, namespace) for _ in some("spread", 2)),
    )
    return found or None


def cluster_of(random: Random, *, terminating: bool = True) -> FakeCluster:
    """Up to five nodes and six running pods, wherever they are: some of them violate their own constraints."""
    cluster = FakeCluster()
    cluster.state.set_namespace(NAMESPACE, {"team": "blue"})
    cluster.state.set_namespace(OTHER_NAMESPACE, {})
    nodes = random.randint(1, 5)
    for number in range(nodes):
        labels = {ZONE: random.choice(["east", "west"]), HOST: f"n{number}", RACK: random.choice("rs")}
        for key in labels.copy():
            if random.random() < 0.1:
                del labels[key]
        taints = (Taint("key", "", "NoSchedule"),) if random.random() < 0.15 else ()
        cluster.node(f"n{number}", cpu=random.randint(1, 4), pods=4, labels=labels, taints=taints)
    for number in range(random.randint(0, 6)):
        gone = terminating and random.random() < 0.2
        add(cluster, f"running{number}", random, on=f"n{random.randrange(nodes)}", terminating=gone)
    return cluster


def add(cluster: FakeCluster, name: str, random: Random, **more: Any) -> None:
    labels = {"app": random.choice("ab")} if random.random() < 0.9 else {}
    labels |= {"tier": "x"} if random.random() < 0.4 else {}
    tolerates = random.random() < 0.3
    namespace = random.choice([NAMESPACE] * 5 + [OTHER_NAMESPACE])
    namespace = more["key"][0] if "key" in more else namespace
    fields: dict[str, Any] = {
        "key": (namespace, name),
        "cpu": random.choice([0, 0, 1]),
        "priority": random.choice([0, 10]),
        "labels": labels,
        "constraints": constraints(random, namespace),
        "selector": ((ZONE, "east"),) if random.random() < 0.15 else (),
        "tolerations": (Toleration(operator="Exists"),) if tolerates else (),
    }
    cluster.pod(name, **(fields | more))


def world(cluster: FakeCluster, *, terminating: bool = True) -> World:
    """What the checks look at; without terminating pods it is what will be left."""
    state = cluster.state
    there = {
        pod.uid: (pod, pod.node)
        for pod in state.pods.values()
        if pod.node in state.nodes and (terminating or not pod.terminating)
    }
    return World(dict(state.nodes), there, dict(state.counters.namespaces))
