"""YuniKorn's words: gangs and queues without objects of their own, told by pods and by one ConfigMap."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.chronicle.gangs import refused_as_a_gang
from muster.chronicle.lifelines import CANARY_ROLE, ROLE_LABEL
from muster.chronicle.preemptions import nobody_preempted, nothing_else_disturbed
from muster.chronicle.questions import Verdict
from muster.chronicle.queues import is_queued, within_capability
from muster.errors import NotSupported
from muster.subject.requests import GangRequest, PodRequest, QueueRequest, Toleration
from muster.subject.subjects import Workplace
from muster.subject.yunikorn import YuniKorn
from muster.subject.yunikorn_dialect import YuniKornDialect
from tests.tales import Tale

OWN = "yunikorn.apache.org/"


def task_groups(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {group["name"]: group for group in json.loads(manifest["metadata"]["annotations"][OWN + "task-groups"])}


def queue_label(manifest: dict[str, Any]) -> str:
    return str(manifest["metadata"]["labels"][OWN + "queue"])


def test_a_pod_without_a_gang_is_an_application_of_its_own() -> None:
    manifest = YuniKornDialect().pod(PodRequest("one", 1), "space")
    assert manifest["metadata"]["labels"] == {OWN + "app-id": "space.one", OWN + "queue": "root.default"}
    assert OWN + "task-groups" not in manifest["metadata"]["annotations"]
    assert manifest["spec"]["schedulerName"] == "yunikorn"


def test_every_member_declares_the_whole_gang_and_only_its_minimum_is_reserved() -> None:
    dialect, pods = YuniKornDialect(), tuple(PodRequest(f"train-{number}", 2, gang="train") for number in range(5))
    dialect.gang(GangRequest("train", 3, members=pods), "space")
    for pod in pods:
        manifest = dialect.pod(pod, "space")
        (group,) = task_groups(manifest).values()
        assert (group["minMember"], group["minResource"]) == (3, {"nvidia.com/gpu": "2"})
        assert manifest["metadata"]["annotations"][OWN + "task-group-name"] == group["name"]
        assert manifest["metadata"]["labels"][OWN + "app-id"] == "space.train"
        assert "gangSchedulingStyle=Hard" in manifest["metadata"]["annotations"][OWN + "schedulingPolicyParameters"]


def test_each_kind_of_pod_is_a_task_group_that_is_placed_like_its_pods() -> None:
    dialect, tolerates = YuniKornDialect(), (Toleration("gpu", effect="NoSchedule"),)
    master = PodRequest("train-master-0", 4, role="master", gang="train", tolerations=tolerates)
    workers = tuple(PodRequest(f"train-worker-{number}", 1, role="worker", gang="train") for number in range(3))
    dialect.gang(GangRequest("train", 4, members=(master, *workers)), "space")
    groups = task_groups(dialect.pod(workers[0], "space"))
    assert {name: group["minMember"] for name, group in groups.items()} == {"master": 1, "worker": 3}
    assert groups["master"]["tolerations"] == [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert "tolerations" not in groups["worker"]
    assert dialect.pod(master, "space")["metadata"]["annotations"][OWN + "task-group-name"] == "master"


def test_a_gang_of_which_only_the_number_is_known_is_like_its_pods() -> None:
    dialect = YuniKornDialect()
    dialect.gang(GangRequest("train", 2), "space")
    (group,) = task_groups(dialect.pod(PodRequest("train-0", 1, gang="train"), "space")).values()
    assert (group["minMember"], group["minResource"]) == (2, {"nvidia.com/gpu": "1"})


def test_what_cannot_be_said_of_gangs() -> None:
    dialect = YuniKornDialect()
    with pytest.raises(NotSupported, match="declares its gang itself"):
        dialect.pod(PodRequest("train-0", 1, gang="train"), "space")
    with pytest.raises(NotSupported, match="start together"):
        dialect.gang(GangRequest("train", 2, with_gangs=("other",)), "space")
    with pytest.raises(NotSupported, match="leaves as one"):
        dialect.gang(GangRequest("train", 2, leaves_whole=True), "space")
    with pytest.raises(NotSupported, match="cannot insist"):
        dialect.pod(PodRequest("one", 1, protected=True), "space")


def test_all_queues_are_one_object_and_a_name_is_never_used_twice() -> None:
    dialect = YuniKornDialect()
    first = dialect.queue(QueueRequest("research", gpus=8, cpus=4))
    assert first["metadata"] == {"name": "yunikorn-configs", "namespace": "yunikorn"}
    assert queues_in(first) == {"default": {}, "research-1": {"max": {"nvidia.com/gpu": "8", "vcore": "4"}}}
    assert queues_in(dialect.queue(QueueRequest("teaching"))) == {**queues_in(first), "teaching-2": {}}
    dialect.gang(GangRequest("train", 1, queue="research"), "space")
    assert queue_label(dialect.pod(PodRequest("train-0", 1, gang="train"), "space")) == "root.research-1"
    assert queue_label(dialect.pod(PodRequest("one", 1, queue="teaching"), "space")) == "root.teaching-2"
    assert dialect.limits_of("research") == {"nvidia.com/gpu": "8", "cpu": "4"}
    assert set(queues_in(dialect.without_queue("research"))) == {"default", "teaching-2"}
    assert "research-3" in queues_in(dialect.queue(QueueRequest("research", gpus=2)))


def queues_in(manifest: dict[str, Any]) -> dict[str, Any]:
    (root,) = yaml.safe_load(manifest["data"]["queues.yaml"])["partitions"][0]["queues"]
    assert all(queue["properties"] == {"application.sort.policy": "fifo"} for queue in root["queues"])
    return {queue["name"]: queue.get("resources", {}) for queue in root["queues"]}


def test_a_canary_proves_that_the_newest_queue_is_known() -> None:
    dialect, canary = YuniKornDialect(), PodRequest("canary", labels={ROLE_LABEL: CANARY_ROLE})
    assert queue_label(dialect.pod(canary, "space")) == "root.default"
    dialect.queue(QueueRequest("research", gpus=1))
    assert queue_label(dialect.pod(canary, "space")) == "root.research-1"
    dialect.without_queue("research")
    assert queue_label(dialect.pod(canary, "space")) == "root.default"


@pytest.mark.parametrize(
    "asked",
    [
        QueueRequest("q", strictly_in_order=True),
        QueueRequest("q", protects_head=True),
        QueueRequest("q", lends=True),
        QueueRequest("q", weight=3),
    ],
)
def test_what_cannot_be_said_of_queues(asked: QueueRequest) -> None:
    with pytest.raises(NotSupported, match="YuniKorn"):
        YuniKornDialect().queue(asked)


def test_questions_about_queues_do_without_objects() -> None:
    dialect = YuniKornDialect()
    dialect.queue(QueueRequest("research", gpus=1))
    tale = Tale().node("n", 4).pod("train-0", 1).pod("tg-train", 1)
    for pod in ("train-0", "tg-train"):
        tale._change(pod, "metadata", labels={OWN + "queue": "root.research-1"})
    tale.bind("tg-train", "n")
    assert is_queued("train", ("train-0",), dialect).ask(tale.history).verdict is Verdict.YES
    assert within_capability("research", dialect).ask(tale.history).verdict is Verdict.YES
    tale.bind("train-0", "n")
    assert is_queued("train", ("train-0",), dialect).ask(tale.history).verdict is Verdict.NO
    answer = within_capability("research", dialect).ask(tale.history)
    assert answer.verdict is Verdict.NO
    assert "research then used 2 of 1 nvidia.com/gpu" in answer.seen


def test_what_is_said_of_a_placeholder_is_said_of_its_gang_and_its_end_disturbs_nobody() -> None:
    dialect, pod = YuniKornDialect(), PodRequest("train-0", 1, gang="train")
    dialect.gang(GangRequest("train", 1, members=(pod,)), "space")
    (group,) = task_groups(dialect.pod(pod, "space")).values()
    tale = Tale().pod("train-0", 1).refuse("train-0", "no room").pod("tg-1", 1)
    tale._change("tg-1", "metadata", labels=group["labels"])
    assert refused_as_a_gang("train", ("train-0",)).ask(tale.history).verdict is Verdict.OPEN
    answer = refused_as_a_gang("train", ("train-0",)).ask(tale.refuse("tg-1", "no room").history)
    assert (answer.verdict, answer.seen) == (Verdict.YES, "tg-1: no room")
    assert refused_as_a_gang("rain", ("rain-0",)).ask(tale.history).verdict is Verdict.OPEN
    tale.delete("tg-1")
    assert (nobody_preempted().ask(tale.history).verdict, nothing_else_disturbed(tale.history)) == (Verdict.YES, "")
    assert nobody_preempted().ask(tale.delete("train-0").history).verdict is Verdict.NO
    assert nothing_else_disturbed(tale.history) == "also disturbed: train-0 (asked to go)"


def test_it_is_told_where_everything_is_by_its_environment(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path, tmp_path / "admin", tmp_path / "scheduler", {"yunikorn": tmp_path / "yunikorn"})
    subject = YuniKorn("default", workplace)
    assert subject.dialect is subject.dialect  # it remembers gangs from one step to the next
    assert set(YuniKorn.claims("default")) == {"gangs", "queues", "taints"}
    (process,) = subject._prepare()
    assert process.argv == [str(tmp_path / "yunikorn")]
