"""YuniKorn's dialect: gangs and queues without objects of their own, declared by pods and by one ConfigMap."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.assertions.gangs import gang_unschedulable
from muster.assertions.preemption import no_other_pod_evicted_or_failed, no_pod_preempted
from muster.assertions.queues import gang_queued, within_capability
from muster.errors import NotSupported
from muster.recording.pod_history import PROBE_ROLE, ROLE_LABEL
from muster.recording.questions import Outcome
from muster.schedulers.base import ProcessContext
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest, Toleration
from muster.schedulers.yunikorn import YuniKorn, YuniKornDialect
from tests.support.history_builder import HistoryBuilder

OWN = "yunikorn.apache.org/"


def task_groups(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {group["name"]: group for group in json.loads(manifest["metadata"]["annotations"][OWN + "task-groups"])}


def queue_label(manifest: dict[str, Any]) -> str:
    return str(manifest["metadata"]["labels"][OWN + "queue"])


def test_a_pod_without_a_gang_is_an_application_of_its_own() -> None:
    manifest = YuniKornDialect().pod_manifest(PodRequest("one", 1), "space")
    assert manifest["metadata"]["labels"] == {OWN + "app-id": "space.one", OWN + "queue": "root.muster-unlimited"}
    assert OWN + "task-groups" not in manifest["metadata"]["annotations"]
    assert manifest["spec"]["schedulerName"] == "yunikorn"


def test_every_member_declares_the_whole_gang_and_only_its_minimum_is_reserved() -> None:
    dialect, pods = YuniKornDialect(), tuple(PodRequest(f"train-{number}", 2, gang="train") for number in range(5))
    dialect.gang_manifest(GangRequest("train", 3, members=pods), "space")
    for pod in pods:
        manifest = dialect.pod_manifest(pod, "space")
        (group,) = task_groups(manifest).values()
        assert (group["minMember"], group["minResource"]) == (3, {"nvidia.com/gpu": "2"})
        assert manifest["metadata"]["annotations"][OWN + "task-group-name"] == group["name"]
        assert manifest["metadata"]["labels"][OWN + "app-id"] == "space.train"
        assert "gangSchedulingStyle=Hard" in manifest["metadata"]["annotations"][OWN + "schedulingPolicyParameters"]


def test_each_shape_of_pod_is_a_task_group_with_its_placement() -> None:
    dialect, tolerates = YuniKornDialect(), (Toleration("gpu", effect="NoSchedule"),)
    master = PodRequest("train-master-0", 4, role="master", gang="train", tolerations=tolerates)
    workers = tuple(PodRequest(f"train-worker-{number}", 1, role="worker", gang="train") for number in range(3))
    dialect.gang_manifest(GangRequest("train", 4, members=(master, *workers)), "space")
    groups = task_groups(dialect.pod_manifest(workers[0], "space"))
    assert {name: group["minMember"] for name, group in groups.items()} == {"master": 1, "worker": 3}
    assert groups["master"]["tolerations"] == [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert "tolerations" not in groups["worker"]
    assert dialect.pod_manifest(master, "space")["metadata"]["annotations"][OWN + "task-group-name"] == "master"


def test_the_minimum_of_a_role_is_that_of_its_task_group() -> None:
    workers = [PodRequest(f"worker-{number}", 2, role="worker", gang="train") for number in range(4)]
    chief = PodRequest("chief-0", 1, role="chief", gang="train")
    dialect = YuniKornDialect()
    dialect.gang_manifest(GangRequest("train", 3, roles={"worker": 2, "chief": 1}, members=(*workers, chief)), "space")
    groups = task_groups(dialect.pod_manifest(chief, "space"))
    assert {name: group["minMember"] for name, group in groups.items()} == {"worker": 2, "chief": 1}


def test_a_gang_without_members_takes_the_shape_of_its_pods() -> None:
    dialect = YuniKornDialect()
    dialect.gang_manifest(GangRequest("train", 2), "space")
    (group,) = task_groups(dialect.pod_manifest(PodRequest("train-0", 1, gang="train"), "space")).values()
    assert (group["minMember"], group["minResource"]) == (2, {"nvidia.com/gpu": "1"})


def test_unsupported_gangs() -> None:
    dialect = YuniKornDialect()
    with pytest.raises(NotSupported, match="annotations of its first pod"):
        dialect.pod_manifest(PodRequest("train-0", 1, gang="train"), "space")
    with pytest.raises(NotSupported, match="linked gangs"):
        dialect.gang_manifest(GangRequest("train", 2, linked_gangs=("other",)), "space")
    with pytest.raises(NotSupported, match="as a unit"):
        dialect.gang_manifest(GangRequest("train", 2, disruption_mode_all=True), "space")
    with pytest.raises(NotSupported, match="non-preemptible"):
        dialect.pod_manifest(PodRequest("one", 1, non_preemptible=True), "space")


def test_all_queues_are_one_object_and_a_name_is_never_used_twice() -> None:
    dialect = YuniKornDialect()
    first = dialect.queue_manifest(QueueRequest("research", gpus=8, cpus=4))
    assert first["metadata"] == {"name": "yunikorn-configs", "namespace": "yunikorn"}
    assert queues_in(first) == {"muster-unlimited": {}, "research-1": {"max": {"nvidia.com/gpu": "8", "vcore": "4"}}}
    assert queues_in(dialect.queue_manifest(QueueRequest("teaching"))) == {**queues_in(first), "teaching-2": {}}
    dialect.gang_manifest(GangRequest("train", 1, queue="research"), "space")
    assert queue_label(dialect.pod_manifest(PodRequest("train-0", 1, gang="train"), "space")) == "root.research-1"
    assert queue_label(dialect.pod_manifest(PodRequest("one", 1, queue="teaching"), "space")) == "root.teaching-2"
    assert dialect.limits_of("research") == {"nvidia.com/gpu": "8", "cpu": "4"}
    assert set(queues_in(dialect.queues_without("research"))) == {"muster-unlimited", "teaching-2"}
    assert "research-3" in queues_in(dialect.queue_manifest(QueueRequest("research", gpus=2)))


def queues_in(manifest: dict[str, Any]) -> dict[str, Any]:
    (root,) = yaml.safe_load(manifest["data"]["queues.yaml"])["partitions"][0]["queues"]
    assert all(queue["properties"] == {"application.sort.policy": "fifo"} for queue in root["queues"])
    return {queue["name"]: queue.get("resources", {}) for queue in root["queues"]}


def test_a_probe_pod_uses_the_newest_queue() -> None:
    dialect, probe = YuniKornDialect(), PodRequest("probe", labels={ROLE_LABEL: PROBE_ROLE})
    assert queue_label(dialect.pod_manifest(probe, "space")) == "root.muster-unlimited"
    dialect.queue_manifest(QueueRequest("research", gpus=1))
    assert queue_label(dialect.pod_manifest(probe, "space")) == "root.research-1"
    dialect.queues_without("research")
    assert queue_label(dialect.pod_manifest(probe, "space")) == "root.muster-unlimited"


@pytest.mark.parametrize(
    "asked",
    [
        QueueRequest("q", strict_fifo=True),
        QueueRequest("q", reserves_for_head=True),
        QueueRequest("q", lends=True),
        QueueRequest("q", weight=3),
    ],
)
def test_unsupported_queues(asked: QueueRequest) -> None:
    with pytest.raises(NotSupported, match="YuniKorn"):
        YuniKornDialect().queue_manifest(asked)


def test_queue_assertions_work_without_queue_objects() -> None:
    dialect = YuniKornDialect()
    dialect.queue_manifest(QueueRequest("research", gpus=1))
    builder = HistoryBuilder().node("n", 4).pod("train-0", 1).pod("tg-train", 1)
    for pod in ("train-0", "tg-train"):
        builder._change(pod, "metadata", labels={OWN + "queue": "root.research-1"})
    builder.bind("tg-train", "n")
    assert gang_queued("train", ("train-0",), dialect).ask(builder.history).outcome is Outcome.TRUE
    assert within_capability("research", dialect).ask(builder.history).outcome is Outcome.TRUE
    builder.bind("train-0", "n")
    assert gang_queued("train", ("train-0",), dialect).ask(builder.history).outcome is Outcome.FALSE
    answer = within_capability("research", dialect).ask(builder.history)
    assert answer.outcome is Outcome.FALSE
    assert "research then used 2 of 1 nvidia.com/gpu" in answer.seen


def test_a_placeholder_reports_for_its_gang_and_its_end_is_no_eviction() -> None:
    dialect, pod = YuniKornDialect(), PodRequest("train-0", 1, gang="train")
    dialect.gang_manifest(GangRequest("train", 1, members=(pod,)), "space")
    (group,) = task_groups(dialect.pod_manifest(pod, "space")).values()
    builder = HistoryBuilder().pod("train-0", 1).unschedulable("train-0", "no capacity").pod("tg-1", 1)
    builder._change("tg-1", "metadata", labels=group["labels"])
    assert gang_unschedulable("train", ("train-0",)).ask(builder.history).outcome is Outcome.PENDING
    answer = gang_unschedulable("train", ("train-0",)).ask(builder.unschedulable("tg-1", "no capacity").history)
    assert (answer.outcome, answer.seen) == (Outcome.TRUE, "tg-1: no capacity")
    assert gang_unschedulable("rain", ("rain-0",)).ask(builder.history).outcome is Outcome.PENDING
    builder.delete("tg-1")
    assert no_pod_preempted().ask(builder.history).outcome is Outcome.TRUE
    assert no_other_pod_evicted_or_failed().ask(builder.history).outcome is Outcome.TRUE
    assert no_pod_preempted().ask(builder.delete("train-0").history).outcome is Outcome.FALSE
    assert no_other_pod_evicted_or_failed().ask(builder.history).seen == "also evicted or failed: train-0 (deleted)"


def test_it_is_configured_by_environment_variables(tmp_path: Path) -> None:
    context = ProcessContext(tmp_path, tmp_path / "admin", tmp_path / "scheduler", {"yunikorn": tmp_path / "yunikorn"})
    scheduler = YuniKorn("default", context)
    assert scheduler.dialect is scheduler.dialect  # it remembers gangs from one step to the next
    assert set(YuniKorn.claims("default")) == {"pods", "gangs", "queues", "taints"}
    (process,) = scheduler._prepare()
    assert process.argv == [str(tmp_path / "yunikorn")]
