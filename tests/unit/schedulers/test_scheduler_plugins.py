"""SIG Scheduling's plugins: what a gang becomes in their words, and the configuration that they are run with."""

from pathlib import Path

import pytest
import yaml

from muster import subject
from muster.errors import NotSupported
from muster.subject import Workplace
from muster.subject.requests import GangRequest, PodRequest
from muster.subject.scheduler_plugins import SchedulerPlugins
from muster.subject.scheduler_plugins_dialect import SchedulerPluginsDialect

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
    group = dialect.gang(GangRequest("train", 3, roles={"master": 1, "worker": 2}), "space")
    assert (group["apiVersion"], group["kind"]) == ("scheduling.x-k8s.io/v1alpha1", "PodGroup")
    assert group["metadata"] == {"name": "train", "namespace": "space"}
    assert group["spec"] == {"minMember": 3, "scheduleTimeoutSeconds": 1}
    pod = dialect.pod(PodRequest("train-0", 1, gang="train"), "space")
    assert pod["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "train"}
    assert dialect.pod(PodRequest("alone", 1), "space")["metadata"]["labels"] == {}


@pytest.mark.parametrize(
    "request_",
    [GangRequest("train", 2, with_gangs=("other",)), GangRequest("train", 2, leaves_whole=True)],
    ids=["with others", "leaves whole"],
)
def test_what_a_group_cannot_say_is_not_left_out(request_: GangRequest) -> None:
    with pytest.raises(NotSupported, match="no word"):
        SchedulerPluginsDialect().gang(request_, "space")


def test_a_protected_pod_has_no_words() -> None:
    with pytest.raises(NotSupported, match="may not be evicted"):
        SchedulerPluginsDialect().pod(PodRequest("guarded", 1, protected=True), "space")


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
    chosen, configuration = subject.choose("scheduler-plugins")
    plugins = chosen(configuration, Workplace(tmp_path, tmp_path / "admin", tmp_path / "scheduler", files))
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
