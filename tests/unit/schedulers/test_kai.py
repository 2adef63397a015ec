"""KAI's dialect: PodGroups and queues of scheduling.run.ai, and labels that give priorities Kubernetes' meaning."""

from pathlib import Path

import pytest

from muster.cluster.resources import resource_of
from muster.errors import NotSupported
from muster.recording.objects import CustomObject, Meta
from muster.schedulers.base import ProcessContext
from muster.schedulers.kai import Kai, KaiDialect, default_objects
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest

DIALECT = KaiDialect()
OWN = "kai.scheduler/"
DEFAULT_PRIORITY_CLASS, DEFAULT_QUEUE = "muster-default", "muster-unlimited"


def gpus_of(queue: QueueRequest) -> dict[str, int]:
    found: dict[str, int] = DIALECT.queue_manifest(queue)["spec"]["resources"]["gpu"]
    return found


def test_a_pod_without_a_gang_states_preemptibility_and_priority_class() -> None:
    labels = DIALECT.pod_manifest(PodRequest("one", 1), "space")["metadata"]["labels"]
    assert labels == {
        OWN + "queue": DEFAULT_QUEUE,
        OWN + "preemptibility": "preemptible",
        "priorityClassName": DEFAULT_PRIORITY_CLASS,
    }
    labels = DIALECT.pod_manifest(PodRequest("two", 1, queue="q", priority_class="high", non_preemptible=True), "s")[
        "metadata"
    ]["labels"]
    assert labels == {OWN + "queue": "q", OWN + "preemptibility": "non-preemptible", "priorityClassName": "high"}


def test_members_name_their_group_and_subgroup() -> None:
    member = DIALECT.pod_manifest(PodRequest("master", 1, gang="train", role="chief"), "space")["metadata"]
    assert member["annotations"]["pod-group-name"] == "train"
    assert member["labels"] == {OWN + "subgroup-name": "chief"}


def test_a_gang_is_a_preemptible_group_in_a_queue() -> None:
    gang = DIALECT.gang_manifest(GangRequest("train", 3, queue="research", roles={"chief": 1, "worker": 2}), "space")
    assert gang["spec"] == {
        "minMember": 3,
        "queue": "research",
        "priorityClassName": DEFAULT_PRIORITY_CLASS,
        "preemptibility": "preemptible",
        "subGroups": [{"name": "chief", "minMember": 1}, {"name": "worker", "minMember": 2}],
    }
    protected = GangRequest("train", 1, members=(PodRequest("train-0", 1, non_preemptible=True),))
    assert DIALECT.gang_manifest(protected, "space")["spec"]["preemptibility"] == "non-preemptible"
    with pytest.raises(NotSupported, match="linked gangs"):
        DIALECT.gang_manifest(GangRequest("train", 3, linked_gangs=("other",)), "space")


def test_a_limit_is_also_a_quota_and_a_queue_without_one_shares_by_weight() -> None:
    assert gpus_of(QueueRequest("q", gpus=4)) == {"quota": 4, "limit": 4, "overQuotaWeight": 1}
    assert gpus_of(QueueRequest("q", weight=3)) == {"quota": 0, "limit": -1, "overQuotaWeight": 3}
    lends = QueueRequest("q", lends=True, guaranteed_gpus=6)
    assert gpus_of(lends) == {"quota": 6, "limit": -1, "overQuotaWeight": 1}
    assert DIALECT.queue_manifest(QueueRequest("q", cpus=2, memory="4Gi"))["spec"]["resources"] == {
        "gpu": {"quota": -1, "limit": -1, "overQuotaWeight": 1},
        "cpu": {"quota": 2000, "limit": 2000, "overQuotaWeight": 1},
        "memory": {"quota": 4294, "limit": 4294, "overQuotaWeight": 1},
    }
    with pytest.raises(NotSupported, match="strict FIFO"):
        DIALECT.queue_manifest(QueueRequest("q", strict_fifo=True))


def test_a_capability_is_read_back_in_kubernetes_units() -> None:
    spec = DIALECT.queue_manifest(QueueRequest("q", gpus=4, cpus=2, memory="1G"))["spec"]
    queue = CustomObject(Meta("q"), spec=spec)
    assert DIALECT.capability(queue) == {"nvidia.com/gpu": "4", "cpu": "2000m", "memory": "1000M"}


def test_a_group_does_not_report_running() -> None:
    assert DIALECT.phase({"status": {}}) == "queued"
    with pytest.raises(NotSupported, match=r"phase of group objects \(running"):
        DIALECT.check_phase_supported("running")


def test_a_victim_condition_names_the_preempting_workload() -> None:
    assert DIALECT.victim_message_parts("train", "space") == ("space/train",)


def test_the_kinds_of_the_default_objects_are_registered() -> None:
    assert [resource_of(one).kind for one in default_objects()] == ["PriorityClass", "Queue", "Queue"]


def test_two_on_one_machine_use_different_ports(tmp_path: Path) -> None:
    flags, both = [], []
    for name in ("left", "right"):
        context = ProcessContext(
            tmp_path, tmp_path / "admin", tmp_path / "scheduler", {one: Path(one) for one in Kai.assets}
        )
        kai = Kai("default", context)
        both.append(kai)  # or the ports of the first would be free again
        scheduler, *beside = kai._prepare()
        flags.append({flag for flag in scheduler.argv if "listen" in flag or "port" in flag})
        assert all("address=0" in " ".join(process.argv) for process in beside), name
    assert not flags[0] & flags[1]
    for kai in both:
        kai.stop()
