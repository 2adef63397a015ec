"""Kubernetes' own PodGroup, and what it does not support."""

import pytest

from muster.errors import NotSupported
from muster.schedulers.native_gangs import NativeGangsDialect
from muster.schedulers.requests import GangRequest, PodRequest
from muster.schedulers.volcano import VolcanoDialect


def test_pods_name_the_group_and_the_group_has_the_minimum() -> None:
    dialect, pods = NativeGangsDialect(), tuple(PodRequest(f"train-{number}", 1, gang="train") for number in range(3))
    group = dialect.gang_manifest(GangRequest("train", 2, priority_class="high", members=pods), "space")
    assert group["spec"] == {"schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"}
    assert dialect.pod_manifest(pods[0], "space")["spec"]["schedulingGroup"] == {"podGroupName": "train"}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (GangRequest("train", 2, linked_gangs=("other",)), "linked gangs"),
        (GangRequest("train", 2, roles={"master": 1}), "each role"),
        (GangRequest("train", 2, members=(PodRequest("master", 2), PodRequest("worker", 4))), "heterogeneous gang"),
    ],
)
def test_unsupported_gangs(asked: GangRequest, why: str) -> None:
    with pytest.raises(NotSupported, match=why):
        NativeGangsDialect().gang_manifest(asked, "space")


def test_a_group_never_finishes() -> None:
    scheduled = {"type": "PodGroupInitiallyScheduled", "status": "True"}
    assert NativeGangsDialect().phase({"status": {"conditions": [scheduled]}}) == "running"
    with pytest.raises(NotSupported, match="finished"):
        NativeGangsDialect().check_phase_supported("finished")
    VolcanoDialect().check_phase_supported("finished")
