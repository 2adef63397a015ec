"""The nodes that a pod's unbound claims allow, held against what can be chosen on each of them."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.client import DELETED
from scheduler.core.node_table import NodeTable
from scheduler.core.scheduling_types import Node
from scheduler.runtime.cache import Cache
from tests.support.volume_objects import claim, observe_claim, observe_class, observe_volume, term, volume

_NODES = [
    Node(f"{zone}{number}", {"pods": 1}, {"host": f"{zone}{number}", "zone": zone}) for zone in "xy" for number in "12"
]
_TERMS = [
    term("host", "x1"),
    term("host", "x2", "y1"),
    term("zone", "y"),
    {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["x"]}]},
    {"matchExpressions": [*term("zone", "x")["matchExpressions"], *term("host", "x1", "y2")["matchExpressions"]]},
]
_SIZES = st.sampled_from(["1Gi", "2Gi", "3Gi"])
_LABELS = st.sampled_from([{}, {"tier": "fast"}])


@st.composite
def _volumes(draw: st.DrawFn) -> list[dict[str, Any]]:
    affinities = st.one_of(st.none(), st.lists(st.sampled_from(_TERMS), min_size=1, max_size=2))
    found = []
    for number in range(draw(st.integers(0, 5))):
        terms = draw(affinities)
        more: dict[str, Any] = {} if terms is None else {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
        found.append(volume(f"v{number}", storage_class="c", size=draw(_SIZES), labels=draw(_LABELS), **more))
    return found


@st.composite
def _claims(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 3))):
        labels = draw(_LABELS)
        more: dict[str, Any] = {"selector": {"matchLabels": labels}} if labels else {}
        found.append(claim(f"c{number}", storage_class="c", size=draw(_SIZES), **more))
    return found


@settings(deadline=None)
@given(_volumes(), _claims(), st.sampled_from(["", "csi"]), st.sampled_from([[], ["x"], ["x", "y"]]))
def test_a_node_that_is_allowed_has_the_volumes_or_can_have_them_made(
    volumes: list[dict[str, Any]], claims: list[dict[str, Any]], provisioner: str, zones: list[str]
) -> None:
    topologies = [{"matchLabelExpressions": [{"key": "zone", "values": zones}]}] if zones else None
    cache = Cache(lambda: None)
    observe_class(cache, "c", provisioner=provisioner, allowedTopologies=topologies)
    for found in volumes:
        observe_volume(cache, found)
    for found in claims:
        observe_claim(cache, found)
    known = [one for found in claims if (one := cache.volumes.claims.get(("ns", found["metadata"]["name"])))]
    requirement = cache.volumes.free("c").requirement(known, cache.volumes.classes["c"])
    table = NodeTable(_NODES)
    for node in _NODES:
        allowed = requirement is None or table.volume_slots(requirement)[table.row[node.name]] > 0
        choices = cache.volumes.choose(known, node)
        assert len(choices) == (len(known) if choices else 0)
        if allowed or len(known) == 1:  # of several claims a node may have more than one group of volumes gives
            assert allowed == bool(choices)
        cache.volumes.forget(choices)
    assert not cache.volumes.take_outdated()


def test_nothing_is_kept_of_volumes_that_are_gone() -> None:
    cache = Cache(lambda: None)
    for number in range(10):
        observe_volume(cache, volume(f"v{number}", f"n{number}", f"m{number}", storage_class="c"))
    for number in range(1, 10):
        observe_volume(cache, volume(f"v{number}", f"n{number}", f"m{number}", storage_class="c"), DELETED)
    index = vars(cache.volumes.free("c"))["_by_label"]
    assert {label: set(values) for label, values in index.items()} == {"kubernetes.io/hostname": {"n0", "m0"}}
