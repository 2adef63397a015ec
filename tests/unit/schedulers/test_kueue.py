"""Kueue's dialect: what its webhooks would write on pods, groups that pods declare, and queues of several objects."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.assertions.gangs import gang_unschedulable
from muster.assertions.preemption import exactly_preempted, victims
from muster.cluster.resources import resource_of
from muster.errors import NotSupported
from muster.recording.objects import CustomObject, Meta
from muster.recording.pod_history import PROBE_ROLE, ROLE_LABEL
from muster.recording.questions import Outcome
from muster.schedulers.base import ProcessContext
from muster.schedulers.kueue import Kueue, _stored_version_only
from muster.schedulers.kueue.dialect import KUEUE, KueueDialect
from muster.schedulers.kueue.objects import KUEUE_CLUSTER_QUEUE, NODE_LABELS, default_objects
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest, Toleration
from tests.support.history_builder import HistoryBuilder

OWN = "kueue.x-k8s.io/"
DEFAULT_QUEUE = "muster-unlimited"


def gates(manifest: dict[str, Any]) -> list[str]:
    return [gate["name"] for gate in manifest["spec"].get("schedulingGates", [])]


def member(dialect: KueueDialect, pod: PodRequest) -> dict[str, Any]:
    return dialect.pod_manifest(pod, "space")


def test_a_pod_outside_of_queues_is_left_to_kube_scheduler() -> None:
    manifest = KueueDialect().pod_manifest(PodRequest("one", 1), "space")
    assert (manifest["metadata"]["labels"], gates(manifest)) == ({}, [])
    assert manifest["spec"]["schedulerName"] == "default-scheduler"


def test_where_queues_preempt_every_pod_except_system_pods_is_in_a_queue() -> None:
    dialect = KueueDialect(preempts=True)
    manifest = dialect.pod_manifest(PodRequest("one", 1, gated=True), "space")
    assert manifest["metadata"]["labels"] == {OWN + "queue-name": DEFAULT_QUEUE, OWN + "managed": "true"}
    assert manifest["metadata"]["finalizers"] == [OWN + "managed"]
    assert gates(manifest) == ["muster.dev/not-yet", OWN + "admission", OWN + "topology"]
    assert gates(dialect.pod_manifest(PodRequest("core", 1, system=True), "kube-system")) == []


def test_a_finalizer_of_the_scenario_stays_beside_that_of_kueue() -> None:
    manifest = KueueDialect(preempts=True).pod_manifest(PodRequest("held", 1, finalizer=True), "space")
    assert manifest["metadata"]["finalizers"] == ["muster.dev/held", OWN + "managed"]


def test_a_probe_pod_has_a_queue_of_its_own() -> None:
    probe = PodRequest("probe", labels={ROLE_LABEL: PROBE_ROLE})
    assert KueueDialect().pod_manifest(probe, "space")["metadata"]["labels"][OWN + "queue-name"] == "muster-probes"


def test_members_name_group_and_size_and_interchangeable_ones_share_a_hash() -> None:
    dialect, tolerates = KueueDialect(), (Toleration("gpu"),)
    dialect.gang_manifest(GangRequest("train", 4, queue="research"), "space")
    pods = [member(dialect, PodRequest(f"train-{number}", 1, gang="train")) for number in range(2)]
    pods.append(member(dialect, PodRequest("master", 1, gang="train", role="master")))
    pods.append(member(dialect, PodRequest("tolerant", 1, gang="train", tolerations=tolerates)))
    for manifest in pods:
        assert manifest["metadata"]["labels"][OWN + "pod-group-name"] == "train"
        assert manifest["metadata"]["labels"][OWN + "queue-name"] == "research"
        assert manifest["metadata"]["annotations"][OWN + "pod-group-total-count"] == "4"
    first, second, *others = [manifest["metadata"]["annotations"][OWN + "role-hash"] for manifest in pods]
    assert first == second
    assert len({first, *others}) == 3


def test_unsupported_gangs() -> None:
    dialect, pods = KueueDialect(), tuple(PodRequest(f"train-{number}", 1) for number in range(5))
    with pytest.raises(NotSupported, match="an annotation of its pods"):
        member(dialect, PodRequest("train-0", 1, gang="train"))
    with pytest.raises(NotSupported, match="linked gangs"):
        dialect.gang_manifest(GangRequest("train", 2, linked_gangs=("other",)), "space")
    with pytest.raises(NotSupported, match="no minimum"):
        dialect.gang_manifest(GangRequest("train", 3, members=pods), "space")
    with pytest.raises(NotSupported, match="replaces it"):
        dialect.check_pod_deletion(PodRequest("train-0", 1, gang="train"))
    with pytest.raises(NotSupported, match="gated"):
        dialect.check_direct_binding()
    with pytest.raises(NotSupported, match="non-preemptible"):
        member(dialect, PodRequest("one", 1, non_preemptible=True))
    dialect.check_pod_deletion(PodRequest("alone", 1))


def test_a_queue_covers_all_resources_and_limits_the_requested_ones() -> None:
    dialect, request = KueueDialect(), QueueRequest("research", gpus=8, memory="4Gi")
    manifest = dialect.queue_manifest(request)
    (group,) = manifest["spec"]["resourceGroups"]
    assert set(group["coveredResources"]) == {"pods", "cpu", "memory", "nvidia.com/gpu"}
    assert dialect.capability(CustomObject(Meta(name="research"), spec=manifest["spec"])) == {
        "nvidia.com/gpu": "8",
        "memory": "4Gi",
    }
    assert manifest["spec"]["preemption"] == {"withinClusterQueue": "Never"}
    (local_queue,) = dialect.queue_objects_in_namespace(request, "space")
    assert (local_queue["kind"], local_queue["metadata"]["namespace"], local_queue["spec"]) == (
        "LocalQueue",
        "space",
        {"clusterQueue": "research"},
    )
    eager = KueueDialect(preempts=True).queue_manifest(QueueRequest("q", strict_fifo=True))["spec"]
    assert (eager["queueingStrategy"], eager["preemption"]["withinClusterQueue"]) == ("StrictFIFO", "LowerPriority")


@pytest.mark.parametrize(
    "asked", [QueueRequest("q", reserves_for_head=True), QueueRequest("q", lends=True), QueueRequest("q", weight=3)]
)
def test_unsupported_queues(asked: QueueRequest) -> None:
    with pytest.raises(NotSupported, match="Kueue"):
        KueueDialect().queue_manifest(asked)


def test_a_queue_is_closed_by_stop_policy_and_reports_whether_it_is_open() -> None:
    dialect = KueueDialect()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    queue = CustomObject(Meta(name="research"), status=active)
    order = dialect.open_or_close_queue(queue, opened=False, namespace="space")
    assert (resource_of(order), order["spec"]) == (KUEUE_CLUSTER_QUEUE, {"stopPolicy": "Hold"})
    assert dialect.is_open(queue)
    assert not dialect.is_open(
        CustomObject(queue.metadata, status={"conditions": [{"type": "Active", "status": "False"}]})
    )


@pytest.mark.parametrize(
    ("true", "phase"), [((), "queued"), (("Admitted",), "admitted"), (("Admitted", "Finished"), "finished")]
)
def test_phase_of_a_workload(true: tuple[str, ...], phase: str) -> None:
    conditions = [{"type": one, "status": "True"} for one in true] + [{"type": "Requeued", "status": "False"}]
    assert KueueDialect().phase({"status": {"conditions": conditions}}) == phase


def test_a_workload_without_quota_means_an_unschedulable_gang() -> None:
    builder = HistoryBuilder(KUEUE).pod("train-0", 1)
    refusal = {"type": "QuotaReserved", "status": "False", "message": "allows to fit only 3 out of 4 pod(s)"}
    builder.custom_object("Workload", "train", status={"conditions": [refusal]})
    answer = gang_unschedulable("train", ("train-0",)).ask(builder.history)
    assert answer.outcome is Outcome.TRUE
    assert "only 3 out of 4" in answer.seen


def test_kueues_condition_marks_a_victim_only_if_it_was_preempted() -> None:
    builder = HistoryBuilder(KUEUE).node("n", 2).pod("left", 1, priority=10).pod("right", 1, priority=10)
    builder.bind("left", "n").bind("right", "n").pod("urgent", 1, priority=100)
    for name, why in (("left", "Preempted to accommodate a workload (UID: 1)"), ("right", "At least two nodes failed")):
        builder._condition(name, "TerminationTarget", "True", "WorkloadEvictedDueToPreempted", why)
    assert [pod.name for pod in victims(builder.history)] == ["left"]
    assert exactly_preempted(("left", "right"), 1, "urgent").ask(builder.history).outcome is Outcome.TRUE
    builder._condition("right", "DisruptionTarget", "True", "DeletionByTaintManager", "tainted")
    mark = next(pod.disruption for pod in builder.history.pods if pod.name == "right")
    assert mark is not None
    assert mark.reason == "DeletionByTaintManager"  # Kubernetes' own condition takes precedence


def test_every_node_has_the_flavor_and_the_topology_goes_down_to_nodes() -> None:
    topology, flavor, *queues = default_objects(preempts=True)
    assert topology["spec"]["levels"] == [{"nodeLabel": "kubernetes.io/hostname"}]
    assert flavor["spec"] == {"nodeLabels": NODE_LABELS, "topologyName": topology["metadata"]["name"]}
    assert [queue["spec"]["preemption"]["withinClusterQueue"] for queue in queues] == ["LowerPriority", "Never"]


def test_only_stored_versions_are_served_and_the_webhook_is_unused() -> None:
    versions = [{"name": "v1beta1", "storage": False}, {"name": "v1beta2", "storage": True}]
    spec = _stored_version_only({"spec": {"versions": versions}})["spec"]
    assert [version["name"] for version in spec["versions"]] == ["v1beta2"]
    assert "clientConfig" in spec["conversion"]["webhook"]


def test_two_share_neither_ports_nor_files(tmp_path: Path) -> None:
    written = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        context = ProcessContext(tmp_path / name, tmp_path / "admin", tmp_path / "scheduler", {"kueue": Path("kueue")})
        scheduler = Kueue("default", context)
        (process,) = scheduler._prepare()
        configuration = yaml.safe_load((tmp_path / name / "kueue" / "configuration.yaml").read_text())
        addresses = {configuration["health"]["healthProbeBindAddress"], configuration["webhook"]["port"]}
        assert (tmp_path / name / "kueue" / "tls.key").exists()
        assert configuration["webhook"]["certDir"] == str(process.directory)
        written.append((scheduler, addresses))
    assert not written[0][1] & written[1][1]
    for scheduler, _ in written:
        scheduler.stop()


def test_claims() -> None:
    assert set(Kueue.claims("default")) == {"pods", "gangs", "queues", "taints", "volumes"}
    assert set(Kueue.claims("preempt")) == {
        "pods",
        "gangs",
        "queues",
        "taints",
        "volumes",
        "preemption",
        "own-victims",
        "job-preemption",
    }
