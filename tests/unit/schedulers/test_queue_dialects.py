"""What dialects say about queues, and what they say when they have no word for it."""

import pytest

from muster.chronicle.objects import Meta, Pod, PodSpec, Thing
from muster.cluster.resources import resource_of
from muster.errors import NotSupported
from muster.subject.dialect import Dialect
from muster.subject.requests import GangRequest, PodRequest, QueueRequest
from muster.subject.volcano_dialect import VolcanoDialect

VOLCANO = VolcanoDialect()


def test_a_queue_with_limits() -> None:
    spec = VOLCANO.queue(QueueRequest("q", gpus=8, cpus=4, memory="64Gi", weight=3))["spec"]
    assert spec["capability"] == {"nvidia.com/gpu": "8", "cpu": "4", "memory": "64Gi"}
    assert spec["weight"] == 3
    assert "capability" not in VOLCANO.queue(QueueRequest("q"))["spec"]


def test_a_queue_that_lends_keeps_what_is_guaranteed() -> None:
    spec = VolcanoDialect(reclaims=True).queue(QueueRequest("q", lends=True, guaranteed_gpus=6))["spec"]
    assert (spec["reclaimable"], spec["guarantee"]) == (True, {"resource": {"nvidia.com/gpu": "6"}})


@pytest.mark.parametrize(
    "asked",
    [QueueRequest("q", strictly_in_order=True), QueueRequest("q", protects_head=True), QueueRequest("q", lends=True)],
)
def test_what_volcano_does_not_do(asked: QueueRequest) -> None:
    with pytest.raises(NotSupported, match="Volcano"):
        VOLCANO.queue(asked)


def test_what_a_gang_asks_for_all_together() -> None:
    gang = GangRequest("g", 2, queue="q", asks_gpus=2, asks_beside={"cpu": "4"})
    spec = VOLCANO.gang(gang, "space")["spec"]
    assert spec["minResources"] == {"nvidia.com/gpu": "2", "cpu": "4"}


def test_back_from_objects_to_words() -> None:
    manifest = VOLCANO.pod(PodRequest("one", 1, gang="g"), "space")
    pod = Pod(Meta("one", annotations=manifest["metadata"]["annotations"]), PodSpec())
    assert VOLCANO.gang_of(pod) == "g"
    assert VOLCANO.gang_of(Pod(Meta("alone"), PodSpec())) == ""
    assert VOLCANO.queue_of(Thing(Meta("g"), VOLCANO.gang(GangRequest("g", 2, queue="q"), "space")["spec"])) == "q"
    queue = Thing(Meta("q", "uid-q"), VOLCANO.queue(QueueRequest("q", gpus=8))["spec"], {"state": "Open"})
    assert VOLCANO.capability(queue) == {"nvidia.com/gpu": "8"}
    assert VOLCANO.is_open(queue)
    assert not VOLCANO.is_open(Thing(Meta("q"), status={"state": "Closing"}))
    assert VOLCANO.running_members(Thing(Meta("g"), status={"running": 3})) == 3
    assert VOLCANO.running_members(Thing(Meta("g"))) == 0


@pytest.mark.parametrize(("opened", "action"), [(True, "OpenQueue"), (False, "CloseQueue")])
def test_a_queue_is_operated_by_a_command(opened: bool, action: str) -> None:
    command = VOLCANO.operate(Thing(Meta("q", "uid-q")), opened=opened, namespace="space")
    assert resource_of(command).plural == "commands"
    assert command["action"] == action
    assert (command["target"]["kind"], command["target"]["name"], command["target"]["uid"]) == ("Queue", "q", "uid-q")


def test_plain_kubernetes_has_no_word_for_queues() -> None:
    plain, thing = Dialect("plain"), Thing(Meta("q"))
    with pytest.raises(NotSupported, match="plain has no word for a queue"):
        plain.queue(QueueRequest("q"))
    with pytest.raises(NotSupported, match="closing a queue"):
        plain.operate(thing, opened=False, namespace="space")
    with pytest.raises(NotSupported, match="importance of a gang"):
        plain.promotion("high")
    for word in (plain.queue_of, plain.capability, plain.is_open, plain.running_members):
        with pytest.raises(NotSupported):
            word(thing)
