"""The PodGroup cache: nothing is kept of groups that are gone."""

from __future__ import annotations

import msgspec

from scheduler.client import ADDED, DELETED, MODIFIED
from scheduler.core.scheduling_types import Counts
from scheduler.runtime.api_types import ApiPod, CustomResource
from scheduler.runtime.cache import Cache
from tests.support.scheduler_requests import observe_pod

_GROUP = msgspec.convert({"metadata": {"name": "g", "namespace": "ns"}, "spec": {"minMember": 1}}, CustomResource)


def _ended(found: ApiPod) -> ApiPod:
    return msgspec.convert({**msgspec.to_builtins(found), "status": {"phase": "Failed"}}, ApiPod)


def test_the_counts_of_a_group_that_is_deleted_before_its_pods_are_dropped_with_the_last_pod() -> None:
    cache = Cache(lambda: None)
    cache.podgroups.observe("volcano", ADDED, _GROUP)
    observe_pod(cache, "p", gang="g")
    cache.podgroups.observe("volcano", DELETED, _GROUP)
    cache.observe_pod(MODIFIED, _ended(cache.api_pods["p"]))
    assert cache.cluster.counts == {("ns", "g"): Counts(failed=1)}
    cache.observe_pod(DELETED, cache.api_pods["p"])
    assert (cache.cluster.counts, dict(cache.cluster._schedulers)) == ({}, {})
