"""KAI's words: groups and queues of scheduling.run.ai, and labels that make priorities mean what they do elsewhere."""

from pathlib import Path

import pytest

from muster.chronicle.objects import Meta, Thing
from muster.cluster.resources import resource_of
from muster.errors import NotSupported
from muster.subject.kai import Kai
from muster.subject.kai_dialect import KaiDialect, environment
from muster.subject.requests import GangRequest, PodRequest, QueueRequest
from muster.subject.subjects import Workplace

DIALECT = KaiDialect()
OWN = "kai.scheduler/"
ORDINARY, EVERYBODY = "muster-ordinary", "muster-everybody"


def gpus_of(queue: QueueRequest) -> dict[str, int]:
    found: dict[str, int] = DIALECT.queue(queue)["spec"]["resources"]["gpu"]
    return found


def test_a_bare_pod_says_that_it_may_be_evicted_and_what_its_class_is_worth() -> None:
    labels = DIALECT.pod(PodRequest("one", 1), "space")["metadata"]["labels"]
    assert labels == {
        OWN + "queue": EVERYBODY,
        OWN + "preemptibility": "preemptible",
        "priorityClassName": ORDINARY,
    }
    labels = DIALECT.pod(PodRequest("two", 1, queue="q", priority_class="high", protected=True), "s")["metadata"][
        "labels"
    ]
    assert labels == {OWN + "queue": "q", OWN + "preemptibility": "non-preemptible", "priorityClassName": "high"}


def test_members_name_their_group_and_their_part_of_it() -> None:
    member = DIALECT.pod(PodRequest("master", 1, gang="train", role="chief"), "space")["metadata"]
    assert member["annotations"]["pod-group-name"] == "train"
    assert member["labels"] == {OWN + "subgroup-name": "chief"}


def test_a_gang_is_a_group_in_a_queue_and_says_that_it_may_be_evicted() -> None:
    gang = DIALECT.gang(GangRequest("train", 3, queue="research", roles={"chief": 1, "worker": 2}), "space")
    assert gang["spec"] == {
        "minMember": 3,
        "queue": "research",
        "priorityClassName": ORDINARY,
        "preemptibility": "preemptible",
        "subGroups": [{"name": "chief", "minMember": 1}, {"name": "worker", "minMember": 2}],
    }
    protected = GangRequest("train", 1, members=(PodRequest("train-0", 1, protected=True),))
    assert DIALECT.gang(protected, "space")["spec"]["preemptibility"] == "non-preemptible"
    with pytest.raises(NotSupported, match="gangs that start together"):
        DIALECT.gang(GangRequest("train", 3, with_gangs=("other",)), "space")


def test_a_limit_is_owned_and_a_queue_without_one_shares_by_weight() -> None:
    assert gpus_of(QueueRequest("q", gpus=4)) == {"quota": 4, "limit": 4, "overQuotaWeight": 1}
    assert gpus_of(QueueRequest("q", weight=3)) == {"quota": 0, "limit": -1, "overQuotaWeight": 3}
    lends = QueueRequest("q", lends=True, guaranteed_gpus=6)
    assert gpus_of(lends) == {"quota": 6, "limit": -1, "overQuotaWeight": 1}
    assert DIALECT.queue(QueueRequest("q", cpus=2, memory="4Gi"))["spec"]["resources"] == {
        "gpu": {"quota": -1, "limit": -1, "overQuotaWeight": 1},
        "cpu": {"quota": 2000, "limit": 2000, "overQuotaWeight": 1},
        "memory": {"quota": 4294, "limit": 4294, "overQuotaWeight": 1},
    }
    with pytest.raises(NotSupported, match="strictly in order"):
        DIALECT.queue(QueueRequest("q", strictly_in_order=True))


def test_what_a_queue_may_use_is_read_back_in_kubernetes_units() -> None:
    spec = DIALECT.queue(QueueRequest("q", gpus=4, cpus=2, memory="1G"))["spec"]
    queue = Thing(Meta("q"), spec=spec)
    assert DIALECT.capability(queue) == {"nvidia.com/gpu": "4", "cpu": "2000m", "memory": "1000M"}


def test_a_group_says_nothing_of_running() -> None:
    assert DIALECT.phase({"status": {}}) == "queued"
    with pytest.raises(NotSupported, match="a gang that is running"):
        DIALECT.must_know("running")


def test_a_victim_is_told_for_which_workload_it_goes() -> None:
    assert DIALECT.blames("train", "space") == ("space/train",)


def test_the_environment_is_made_of_kinds_that_are_known() -> None:
    assert [resource_of(one).kind for one in environment()] == ["PriorityClass", "Queue", "Queue"]


def test_two_of_them_on_one_machine_do_not_meet(tmp_path: Path) -> None:
    flags, both = [], []
    for name in ("left", "right"):
        workplace = Workplace(
            tmp_path, tmp_path / "admin", tmp_path / "scheduler", {one: Path(one) for one in Kai.assets}
        )
        kai = Kai("default", workplace)
        both.append(kai)  # or the ports of the first would be free again
        scheduler, *beside = kai._prepare()
        flags.append({word for word in scheduler.argv if "listen" in word or "port" in word})
        assert all("address=0" in " ".join(process.argv) for process in beside), name
    assert not flags[0] & flags[1]
    for kai in both:
        kai.stop()
