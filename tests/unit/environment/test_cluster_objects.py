from __future__ import annotations

import datetime
import ipaddress

from muster.environment.cluster_objects import node_manifest, unreachable_status
from muster.schedulers.requests import NodeRequest


def test_a_node_needs_nothing_from_kwok() -> None:
    """The stage node-joins of manifests/kwok is for nodes without an address or without a Ready condition."""
    status = node_manifest(NodeRequest("gpu-1", 2))["status"]
    assert [one["type"] for one in status["conditions"]] == ["Ready"]
    (address,) = status["addresses"]
    assert address["type"] == "InternalIP"
    assert ipaddress.ip_address(address["address"]) in ipaddress.ip_network("172.16.0.0/12")


def test_nodes_have_addresses_of_their_own() -> None:
    names = [f"gpu-{number}" for number in range(200)]
    manifests = [node_manifest(NodeRequest(name, 1)) for name in names]
    assert len({one["status"]["addresses"][0]["address"] for one in manifests}) == len(names)


def test_a_node_is_unreachable_since_a_time() -> None:
    """Kueue replaces a node that has not been ready for 30 s; without a time it was never ready."""
    since = datetime.datetime(2026, 11, 18, 16, 5, 7, 250_000, tzinfo=datetime.UTC)
    (condition,) = unreachable_status(since)["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("Ready", "Unknown")
    assert condition["lastTransitionTime"] == "2026-11-18T16:05:07Z"
