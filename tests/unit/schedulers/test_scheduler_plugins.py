"""SIG Scheduling's plugins: their dialect, and the configuration that they run with."""

from pathlib import Path

import pytest
import yaml

from muster import schedulers
from muster.errors import NotSupported
from muster.schedulers import ProcessContext
from muster.schedulers.requests import GangRequest, PodRequest
from muster.schedulers.scheduler_plugins import SchedulerPlugins, SchedulerPluginsDialect

_SHIPPED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: REPLACE_ME}
profiles:
- schedulerName: default-scheduler
  plugins: {multiPoint: {enabled: [{name: Coscheduling}]}}
"""


def test_a_gang_and_its_pods() -> None:
    dialect = SchedulerPluginsDialect()
    group = dialect.gang_manifest(GangRequest("train", 3), "space")
    assert (group["apiVersion"], group["kind"]) == ("scheduling.x-k8s.io/v1alpha1", "PodGroup")
    assert group["metadata"] == {"name": "train", "namespace": "space"}
    assert group["spec"] == {"minMember": 3, "scheduleTimeoutSeconds": 1}
    pod = dialect.pod_manifest(PodRequest("train-0", 1, gang="train"), "space")
    assert pod["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "train"}
    assert dialect.pod_manifest(PodRequest("alone", 1), "space")["metadata"]["labels"] == {}


@pytest.mark.parametrize(
    "request_",
    [
        GangRequest("train", 2, linked_gangs=("other",)),
        GangRequest("train", 2, disruption_mode_all=True),
        GangRequest("train", 3, roles={"master": 1, "worker": 2}),
    ],
    ids=["linked", "disruption mode all", "roles"],
)
def test_what_a_group_cannot_express_is_not_left_out(request_: GangRequest) -> None:
    with pytest.raises(NotSupported, match="is not asked for"):
        SchedulerPluginsDialect().gang_manifest(request_, "space")


def test_non_preemptible_pods_are_not_supported() -> None:
    with pytest.raises(NotSupported, match="non-preemptible"):
        SchedulerPluginsDialect().pod_manifest(PodRequest("pod", 1, non_preemptible=True), "space")


@pytest.mark.parametrize(
    ("status", "phase"),
    [({}, "queued"), ({"phase": "Scheduling"}, "queued"), ({"phase": "Running"}, "running")]
    + [({"phase": last}, "finished") for last in ("Finished", "Failed")],
)
def test_phases(status: dict[str, str], phase: str) -> None:
    assert SchedulerPluginsDialect().phase({"status": status}) == phase


def test_the_shipped_configuration_is_changed_where_it_must_be(tmp_path: Path) -> None:
    shipped = tmp_path / "shipped.yaml"
    shipped.write_text(_SHIPPED)
    files = {name: tmp_path / name for name in SchedulerPlugins.assets} | {"scheduler-plugins-config.yaml": shipped}
    chosen, configuration = schedulers.choose("scheduler-plugins")
    plugins = chosen(configuration, ProcessContext(tmp_path, tmp_path / "admin", tmp_path / "scheduler", files))
    assert [process.name for process in plugins._prepare()] == ["scheduler-plugins", "scheduler-plugins-controller"]
    written = yaml.safe_load((tmp_path / "scheduler-plugins.yaml").read_text())
    assert written["clientConnection"]["kubeconfig"] == str(tmp_path / "admin")
    assert written["profiles"] == [
        {
            "schedulerName": plugins.dialect.scheduler_name,
            "plugins": {"multiPoint": {"enabled": [{"name": "Coscheduling"}]}},
        }
    ]
    assert "queues" not in plugins.claims(configuration)
