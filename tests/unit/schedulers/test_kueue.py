"""Kueue's words: what its webhooks would write on pods, groups that pods declare, and queues of several objects."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.chronicle.gangs import refused_as_a_gang
from muster.chronicle.lifelines import CANARY_ROLE, ROLE_LABEL
from muster.chronicle.objects import Meta, Thing
from muster.chronicle.preemptions import exactly_preempted, victims
from muster.chronicle.questions import Verdict
from muster.cluster.resources import KUEUE_CLUSTER_QUEUE, resource_of
from muster.errors import NotSupported
from muster.subject.kueue import Kueue, _stored_version_only
from muster.subject.kueue_dialect import KueueDialect
from muster.subject.kueue_objects import NODE_LABELS, environment
from muster.subject.requests import GangRequest, PodRequest, QueueRequest, Toleration
from muster.subject.subjects import Workplace
from tests.tales import Tale

OWN = "kueue.x-k8s.io/"
EVERYBODY = "muster-everybody"


def gates(manifest: dict[str, Any]) -> list[str]:
    return [gate["name"] for gate in manifest["spec"].get("schedulingGates", [])]


def member(dialect: KueueDialect, pod: PodRequest) -> dict[str, Any]:
    return dialect.pod(pod, "space")


def test_a_pod_outside_of_queues_is_left_to_kube_scheduler() -> None:
    manifest = KueueDialect().pod(PodRequest("one", 1), "space")
    assert (manifest["metadata"]["labels"], gates(manifest)) == ({}, [])
    assert manifest["spec"]["schedulerName"] == "default-scheduler"


def test_where_queues_preempt_every_pod_but_the_clusters_own_is_in_one() -> None:
    dialect = KueueDialect(preempts=True)
    manifest = dialect.pod(PodRequest("one", 1, gated=True), "space")
    assert manifest["metadata"]["labels"] == {OWN + "queue-name": EVERYBODY, OWN + "managed": "true"}
    assert manifest["metadata"]["finalizers"] == [OWN + "managed"]
    assert gates(manifest) == ["muster.dev/not-yet", OWN + "admission", OWN + "topology"]
    assert gates(dialect.pod(PodRequest("core", 1, system=True), "kube-system")) == []


def test_a_canary_goes_through_a_queue_of_its_own() -> None:
    canary = PodRequest("canary", labels={ROLE_LABEL: CANARY_ROLE})
    assert KueueDialect().pod(canary, "space")["metadata"]["labels"][OWN + "queue-name"] == "muster-canaries"


def test_members_name_their_group_and_its_size_and_those_alike_have_one_hash() -> None:
    dialect, tolerates = KueueDialect(), (Toleration("gpu"),)
    dialect.gang(GangRequest("train", 4, queue="research"), "space")
    pods = [member(dialect, PodRequest(f"train-{number}", 1, gang="train")) for number in range(2)]
    pods.append(member(dialect, PodRequest("master", 1, gang="train", role="master")))
    pods.append(member(dialect, PodRequest("guest", 1, gang="train", tolerations=tolerates)))
    for manifest in pods:
        assert manifest["metadata"]["labels"][OWN + "pod-group-name"] == "train"
        assert manifest["metadata"]["labels"][OWN + "queue-name"] == "research"
        assert manifest["metadata"]["annotations"][OWN + "pod-group-total-count"] == "4"
    first, second, *others = [manifest["metadata"]["annotations"][OWN + "role-hash"] for manifest in pods]
    assert first == second
    assert len({first, *others}) == 3


def test_what_cannot_be_said_of_gangs() -> None:
    dialect, pods = KueueDialect(), tuple(PodRequest(f"train-{number}", 1) for number in range(5))
    with pytest.raises(NotSupported, match="declares its group itself"):
        member(dialect, PodRequest("train-0", 1, gang="train"))
    with pytest.raises(NotSupported, match="start together"):
        dialect.gang(GangRequest("train", 2, with_gangs=("other",)), "space")
    with pytest.raises(NotSupported, match="no minimum"):
        dialect.gang(GangRequest("train", 3, members=pods), "space")
    with pytest.raises(NotSupported, match="replaces it"):
        dialect.lose(PodRequest("train-0", 1, gang="train"))
    with pytest.raises(NotSupported, match="gated"):
        dialect.bound_by_others()
    with pytest.raises(NotSupported, match="no word"):
        member(dialect, PodRequest("one", 1, protected=True))
    dialect.lose(PodRequest("alone", 1))


def test_a_queue_covers_everything_and_limits_what_it_was_told_to() -> None:
    dialect, request = KueueDialect(), QueueRequest("research", gpus=8, memory="4Gi")
    manifest = dialect.queue(request)
    (group,) = manifest["spec"]["resourceGroups"]
    assert set(group["coveredResources"]) == {"pods", "cpu", "memory", "nvidia.com/gpu"}
    assert dialect.capability(Thing(Meta(name="research"), spec=manifest["spec"])) == {
        "nvidia.com/gpu": "8",
        "memory": "4Gi",
    }
    assert manifest["spec"]["preemption"] == {"withinClusterQueue": "Never"}
    (door,) = dialect.beside_queue(request, "space")
    assert (door["kind"], door["metadata"]["namespace"], door["spec"]) == (
        "LocalQueue",
        "space",
        {"clusterQueue": "research"},
    )
    eager = KueueDialect(preempts=True).queue(QueueRequest("q", strictly_in_order=True))["spec"]
    assert (eager["queueingStrategy"], eager["preemption"]["withinClusterQueue"]) == ("StrictFIFO", "LowerPriority")


@pytest.mark.parametrize(
    "asked", [QueueRequest("q", protects_head=True), QueueRequest("q", lends=True), QueueRequest("q", weight=3)]
)
def test_what_cannot_be_said_of_queues(asked: QueueRequest) -> None:
    with pytest.raises(NotSupported, match="Kueue"):
        KueueDialect().queue(asked)


def test_a_queue_is_closed_by_a_change_of_itself_and_says_whether_it_is_open() -> None:
    dialect = KueueDialect()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    queue = Thing(Meta(name="research"), status=active)
    order = dialect.operate(queue, opened=False, namespace="space")
    assert (resource_of(order), order["spec"]) == (KUEUE_CLUSTER_QUEUE, {"stopPolicy": "Hold"})
    assert dialect.is_open(queue)
    assert not dialect.is_open(Thing(queue.metadata, status={"conditions": [{"type": "Active", "status": "False"}]}))


@pytest.mark.parametrize(
    ("true", "phase"), [((), "queued"), (("Admitted",), "admitted"), (("Admitted", "Finished"), "finished")]
)
def test_how_a_workload_stands(true: tuple[str, ...], phase: str) -> None:
    conditions = [{"type": one, "status": "True"} for one in true] + [{"type": "Requeued", "status": "False"}]
    assert KueueDialect().phase({"status": {"conditions": conditions}}) == phase


def test_a_workload_without_quota_is_a_refusal_of_its_gang() -> None:
    tale = Tale().pod("train-0", 1)
    refusal = {"type": "QuotaReserved", "status": "False", "message": "allows to fit only 3 out of 4 pod(s)"}
    tale.thing("Workload", "train", status={"conditions": [refusal]})
    answer = refused_as_a_gang("train", ("train-0",)).ask(tale.history)
    assert answer.verdict is Verdict.YES
    assert "only 3 out of 4" in answer.seen


def test_kueues_mark_makes_a_victim_where_it_was_preempted_and_not_where_it_was_stopped_for_another_reason() -> None:
    tale = Tale().node("n", 2).pod("left", 1, priority=10).pod("right", 1, priority=10)
    tale.bind("left", "n").bind("right", "n").pod("urgent", 1, priority=100)
    for name, why in (("left", "Preempted to accommodate a workload (UID: 1)"), ("right", "At least two nodes failed")):
        tale._condition(name, "TerminationTarget", "True", "WorkloadEvictedDueToPreempted", why)
    assert [life.name for life in victims(tale.history)] == ["left"]
    assert exactly_preempted(("left", "right"), 1, "urgent").ask(tale.history).verdict is Verdict.YES
    tale._condition("right", "DisruptionTarget", "True", "DeletionByTaintManager", "tainted")
    mark = next(life.mark for life in tale.history.pods if life.name == "right")
    assert mark is not None
    assert mark.reason == "DeletionByTaintManager"  # Kubernetes' own word counts


def test_every_node_is_of_the_one_flavor_and_its_topology_goes_down_to_nodes() -> None:
    topology, flavor, *queues = environment(preempts=True)
    assert topology["spec"]["levels"] == [{"nodeLabel": "kubernetes.io/hostname"}]
    assert flavor["spec"] == {"nodeLabels": NODE_LABELS, "topologyName": topology["metadata"]["name"]}
    assert [queue["spec"]["preemption"]["withinClusterQueue"] for queue in queues] == ["LowerPriority", "Never"]


def test_only_stored_versions_are_served_and_a_webhook_is_named_that_nobody_asks() -> None:
    versions = [{"name": "v1beta1", "storage": False}, {"name": "v1beta2", "storage": True}]
    spec = _stored_version_only({"spec": {"versions": versions}})["spec"]
    assert [version["name"] for version in spec["versions"]] == ["v1beta2"]
    assert "clientConfig" in spec["conversion"]["webhook"]


def test_two_of_them_share_neither_ports_nor_files(tmp_path: Path) -> None:
    written = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        workplace = Workplace(tmp_path / name, tmp_path / "admin", tmp_path / "scheduler", {"kueue": Path("kueue")})
        subject = Kueue("default", workplace)
        (process,) = subject._prepare()
        configuration = yaml.safe_load((tmp_path / name / "kueue" / "configuration.yaml").read_text())
        addresses = {configuration["health"]["healthProbeBindAddress"], configuration["webhook"]["port"]}
        assert (tmp_path / name / "kueue" / "tls.key").exists()
        assert configuration["webhook"]["certDir"] == str(process.directory)
        written.append((subject, addresses))
    assert not written[0][1] & written[1][1]
    for subject, _ in written:
        subject.stop()


def test_what_it_claims() -> None:
    assert set(Kueue.claims("default")) == {"gangs", "queues", "taints"}
    assert set(Kueue.claims("preempt")) == {"gangs", "queues", "preemption", "job-preemption"}
