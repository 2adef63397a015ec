"""Pods as Kubernetes' own dialect writes them: placement constraints, claims, finalizers."""

from typing import Any

import pytest

from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import PodRequest, Toleration

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def spec_of(request: PodRequest) -> dict[str, Any]:
    spec: dict[str, Any] = Dialect().pod_manifest(request, "ns")["spec"]
    return spec


def test_a_plain_pod_has_no_placement_constraints() -> None:
    assert spec_of(PodRequest("p")).keys() == {"schedulerName", "containers"}


@pytest.mark.parametrize(
    ("request_", "field", "wanted"),
    [
        (PodRequest("p", node="n"), "nodeSelector", {"kubernetes.io/hostname": "n"}),
        (PodRequest("p", node_selector={"zone": "west"}), "nodeSelector", {"zone": "west"}),
        (
            PodRequest("p", node_affinity={"zone": "west"}),
            "affinity",
            {
                "nodeAffinity": {
                    _REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["west"]}]}
                        ]
                    }
                }
            },
        ),
        (
            PodRequest("p", anti_affinity_app="server"),
            "affinity",
            {
                "podAntiAffinity": {
                    _REQUIRED: [
                        {
                            "topologyKey": "kubernetes.io/hostname",
                            "labelSelector": {"matchLabels": {"app": "server"}},
                        }
                    ]
                }
            },
        ),
        (
            PodRequest("p", app="server", spread=True),
            "topologySpreadConstraints",
            [
                {
                    "maxSkew": 1,
                    "topologyKey": "kubernetes.io/hostname",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"app": "server"}},
                }
            ],
        ),
        (PodRequest("p", tolerations=(Toleration("k"),)), "tolerations", [{"key": "k", "operator": "Exists"}]),
    ],
)
def test_placement_constraints(request_: PodRequest, field: str, wanted: object) -> None:
    spec = spec_of(request_)
    assert spec[field] == wanted
    assert spec.keys() == {"schedulerName", "containers", field}


def test_a_container_uses_the_claim_of_its_pod() -> None:
    spec = spec_of(PodRequest("p", 1, resource_claim="gpu"))
    assert spec["resourceClaims"] == [{"name": "device", "resourceClaimName": "gpu"}]
    assert spec["containers"][0]["resources"] == {"limits": {"nvidia.com/gpu": "1"}, "claims": [{"name": "device"}]}


def test_a_container_mounts_the_volume_of_its_pod() -> None:
    spec = spec_of(PodRequest("p", 1, volume_claim="data"))
    assert spec["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    assert spec["containers"][0]["volumeMounts"] == [{"name": "data", "mountPath": "/data"}]


def test_app_and_finalizer_are_metadata() -> None:
    metadata = Dialect().pod_manifest(PodRequest("p", app="server", finalizer=True), "ns")["metadata"]
    assert (metadata["labels"], metadata["finalizers"]) == ({"app": "server"}, ["muster.dev/held"])
