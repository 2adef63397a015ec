"""Kubernetes' own words for gangs, and what it has none for."""

import pytest

from muster.errors import NotSupported
from muster.subject.native_gangs_dialect import NativeGangsDialect
from muster.subject.requests import GangRequest, PodRequest
from muster.subject.volcano_dialect import VolcanoDialect


def test_pods_name_the_group_that_says_how_many_start_together() -> None:
    dialect, pods = NativeGangsDialect(), tuple(PodRequest(f"train-{number}", 1, gang="train") for number in range(3))
    group = dialect.gang(GangRequest("train", 2, priority_class="high", members=pods), "space")
    assert group["spec"] == {"schedulingPolicy": {"gang": {"minCount": 2}}, "priorityClassName": "high"}
    assert dialect.pod(pods[0], "space")["spec"]["schedulingGroup"] == {"podGroupName": "train"}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (GangRequest("train", 2, with_gangs=("other",)), "start together"),
        (GangRequest("train", 2, roles={"master": 1}), "roles"),
        (GangRequest("train", 2, members=(PodRequest("master", 2), PodRequest("worker", 4))), "unlike pods"),
    ],
)
def test_what_cannot_be_said(asked: GangRequest, why: str) -> None:
    with pytest.raises(NotSupported, match=why):
        NativeGangsDialect().gang(asked, "space")


def test_a_group_never_ends() -> None:
    scheduled = {"type": "PodGroupInitiallyScheduled", "status": "True"}
    assert NativeGangsDialect().phase({"status": {"conditions": [scheduled]}}) == "running"
    with pytest.raises(NotSupported, match="finished"):
        NativeGangsDialect().must_know("finished")
    VolcanoDialect().must_know("finished")
