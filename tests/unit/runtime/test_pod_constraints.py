"""Host ports, pod affinity and topology spread as the API has them."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.core.pod_constraints import (
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    SelectorRequirement,
    SpreadConstraint,
)
from scheduler.runtime.api_types import ApiPod
from scheduler.runtime.convert import convert_pod

SELECTOR = {"matchLabels": {"app": "a"}}
APP = SelectorRequirement("app", "In", ("a",))


def constraints(labels: dict[str, str] | None = None, **spec: Any) -> PodConstraints | None:
    metadata = {"name": "pod", "namespace": "team", "uid": "1", "labels": labels or {}}
    found = msgspec.convert({"metadata": metadata, "spec": spec}, ApiPod)
    return convert_pod(found).requirements.constraints


def test_host_ports_of_containers_and_sidecars() -> None:
    ports = [{"containerPort": 1}, {"containerPort": 1, "hostPort": 80, "hostIP": "10.0.0.1", "protocol": "UDP"}]
    found = constraints(
        containers=[{"ports": ports}],
        initContainers=[
            {"ports": [{"containerPort": 1, "hostPort": 81}]},
            {"ports": [{"containerPort": 1, "hostPort": 82}], "restartPolicy": "Always"},
        ],
    )
    assert found == PodConstraints(ports=frozenset({HostPort("10.0.0.1", "UDP", 80), HostPort("0.0.0.0", "TCP", 82)}))


def test_a_term_without_namespaces_means_the_pods_own() -> None:
    own = {"topologyKey": "zone", "labelSelector": SELECTOR}
    every = {**own, "namespaceSelector": {}}
    listed = {"topologyKey": "zone", "namespaces": ["other"]}
    found = constraints(
        affinity={
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [own],
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": every}],
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [listed],
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm": own}],
            },
        }
    )
    own_term = PodTerm("zone", PodSelection((APP,), frozenset({"team"})))
    assert found == PodConstraints(
        affinity=(own_term,),
        anti_affinity=(PodTerm("zone", PodSelection(None, frozenset({"other"}))),),
        preferred=((5, PodTerm("zone", PodSelection((APP,), frozenset(), ()))), (-7, own_term)),
    )


def test_topology_spread_with_its_policies_and_match_label_keys() -> None:
    found = constraints(
        labels={"app": "a", "hash": "x"},
        topologySpreadConstraints=[
            {"topologyKey": "zone", "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": SELECTOR},
            {
                "topologyKey": "zone",
                "maxSkew": 1,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": SELECTOR,
                "minDomains": 3,
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
                "matchLabelKeys": ["hash", "absent", "app"],
            },
        ],
    )
    merged = (APP, SelectorRequirement("hash", "In", ("x",)))
    assert found == PodConstraints(
        spread=(
            SpreadConstraint("zone", 2, "team", (APP,), required=False),
            SpreadConstraint("zone", 1, "team", merged, min_domains=3, honor_affinity=False, honor_taints=True),
        )
    )


def test_a_pod_without_constraints_has_none() -> None:
    assert constraints(containers=[{"ports": [{"containerPort": 80}]}], affinity={"nodeAffinity": {}}) is None
