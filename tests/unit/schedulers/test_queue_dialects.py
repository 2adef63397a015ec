"""Queues in dialects, and what a dialect without queues answers."""

import pytest

from muster.cluster.resources import resource_of
from muster.errors import NotSupported
from muster.recording.objects import CustomObject, Meta, Pod, PodSpec
from muster.schedulers import SCHEDULERS, Scheduler, recording_conventions
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.volcano import VolcanoDialect

VOLCANO = VolcanoDialect()


def test_a_queue_with_limits() -> None:
    spec = VOLCANO.queue_manifest(QueueRequest("q", gpus=8, cpus=4, memory="64Gi", weight=3))["spec"]
    assert spec["capability"] == {"nvidia.com/gpu": "8", "cpu": "4", "memory": "64Gi"}
    assert spec["weight"] == 3
    assert "capability" not in VOLCANO.queue_manifest(QueueRequest("q"))["spec"]


def test_a_lending_queue_keeps_its_guarantee() -> None:
    spec = VolcanoDialect(reclaims=True).queue_manifest(QueueRequest("q", lends=True, guaranteed_gpus=6))["spec"]
    assert (spec["reclaimable"], spec["guarantee"]) == (True, {"resource": {"nvidia.com/gpu": "6"}})


@pytest.mark.parametrize(
    "asked",
    [QueueRequest("q", strict_fifo=True), QueueRequest("q", reserves_for_head=True), QueueRequest("q", lends=True)],
)
def test_queues_that_volcano_does_not_support(asked: QueueRequest) -> None:
    with pytest.raises(NotSupported, match="Volcano"):
        VOLCANO.queue_manifest(asked)


def test_min_resources_of_a_gang() -> None:
    gang = GangRequest("g", 2, queue="q", min_gpus=2, min_other_resources={"cpu": "4"})
    spec = VOLCANO.gang_manifest(gang, "space")["spec"]
    assert spec["minResources"] == {"nvidia.com/gpu": "2", "cpu": "4"}


def test_objects_are_read_back() -> None:
    manifest = VOLCANO.pod_manifest(PodRequest("one", 1, gang="g"), "space")
    pod = Pod(Meta("one", annotations=manifest["metadata"]["annotations"]), PodSpec())
    assert VOLCANO.gang_of(pod) == "g"
    assert VOLCANO.gang_of(Pod(Meta("alone"), PodSpec())) == ""
    assert (
        VOLCANO.queue_of(
            CustomObject(Meta("g"), VOLCANO.gang_manifest(GangRequest("g", 2, queue="q"), "space")["spec"])
        )
        == "q"
    )
    queue = CustomObject(
        Meta("q", "uid-q"), VOLCANO.queue_manifest(QueueRequest("q", gpus=8))["spec"], {"state": "Open"}
    )
    assert VOLCANO.capability(queue) == {"nvidia.com/gpu": "8"}
    assert VOLCANO.is_open(queue)
    assert not VOLCANO.is_open(CustomObject(Meta("q"), status={"state": "Closing"}))
    assert VOLCANO.running_members(CustomObject(Meta("g"), status={"running": 3})) == 3
    assert VOLCANO.running_members(CustomObject(Meta("g"))) == 0


@pytest.mark.parametrize(("opened", "action"), [(True, "OpenQueue"), (False, "CloseQueue")])
def test_a_queue_is_opened_and_closed_by_a_command(opened: bool, action: str) -> None:
    command = VOLCANO.open_or_close_queue(CustomObject(Meta("q", "uid-q")), opened=opened, namespace="space")
    assert resource_of(command).plural == "commands"
    assert command["action"] == action
    assert (command["target"]["kind"], command["target"]["name"], command["target"]["uid"]) == ("Queue", "q", "uid-q")


def test_plain_kubernetes_does_not_support_queues() -> None:
    plain, queue = Dialect("plain"), CustomObject(Meta("q"))
    with pytest.raises(NotSupported, match="plain does not support queues"):
        plain.queue_manifest(QueueRequest("q"))
    with pytest.raises(NotSupported, match="closing a queue"):
        plain.open_or_close_queue(queue, opened=False, namespace="space")
    with pytest.raises(NotSupported, match="priority of gangs"):
        plain.priority_patch("high")
    for method in (plain.queue_of, plain.capability, plain.is_open, plain.running_members):
        with pytest.raises(NotSupported):
            method(queue)


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_the_history_of_a_gang_knows_its_group_kind(scheduler: type[Scheduler]) -> None:
    """Questions about gangs use the conventions, those about queues the dialect: they must agree."""
    dialect = scheduler.dialect_class()
    assert dialect.group_kind is None or dialect.group_kind.kind in recording_conventions(dialect).group_kinds
