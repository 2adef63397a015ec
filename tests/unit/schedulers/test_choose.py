"""Choosing a scheduler and its configuration: mistakes are reported before anything is started."""

from pathlib import Path

import pytest

from muster import schedulers
from muster.errors import UsageError
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import PodRequest, Taint, Toleration


def test_names_and_defaults() -> None:
    assert "kube-scheduler" in schedulers.names()
    kind, configuration = schedulers.choose("kube-scheduler")
    assert (kind.name, configuration) == ("kube-scheduler", "default")
    assert schedulers.full_name("kube-scheduler") == "kube-scheduler"


def test_the_matrix_runs_every_scheduler_in_configurations_that_exist() -> None:
    choices = schedulers.matrix_choices()
    assert {choice.partition(":")[0] for choice in choices} == set(schedulers.names())
    assert [schedulers.full_name(choice) for choice in choices] == list(choices)
    assert {"volcano", "volcano:preempt", "kueue:preempt"} <= set(choices)


def test_what_a_run_may_create_on_an_existing_cluster() -> None:
    objects = schedulers.existing_cluster_objects()
    assert {kind.plural for kind in objects.cluster_scoped} == {"queues", "devices"}
    assert {kind.api_version.partition("/")[0] for kind in objects.kinds} == {
        "scheduling.volcano.sh",
        "bus.volcano.sh",
        "scheduling.sigs.k8s.io",
        "scheduling.koordinator.sh",
    }


def test_a_walkthrough_may_use_the_group_labels_of_any_scheduler() -> None:
    keys = schedulers.recording_conventions(Dialect()).group_name_keys
    assert {"scheduling.k8s.io/group-name", "pod-group.scheduling.sigs.k8s.io"} <= set(keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kubescheduler", "unknown scheduler 'kubescheduler': choose from reference, kube-scheduler"),
        ("mine=missing.yaml", "cannot read the description of a scheduler"),
        ("mine=broken.yaml", "cannot read the description of a scheduler"),
        ("mine=other.yaml", "unknown key 'kind'"),
        ("mine=list.yaml", "does not describe a scheduler"),
        ("mine=no-command.yaml", "'command' is missing"),
        ("mine=unknown-claim.yaml", "unknown capability 'speed'"),
        ("mine=dialect.yaml", "unknown dialect 'klingon'"),
        ("volcano:fast", "has no configuration 'fast': choose from default, preempt"),
        ("koordinator:fast", "has no configuration 'fast': choose from default, preemption-off"),
        ("kube-scheduler:tuned", "has no configuration 'tuned': choose from default"),
        ("kube-scheduler:missing.yaml", "No such file"),
        ("kube-scheduler:broken.yaml", "cannot read"),
        ("kube-scheduler:other.yaml", "is not a configuration of kube-scheduler"),
    ],
)
def test_a_wrong_choice_is_reported_in_one_line(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.yaml").write_text("kind: [")
    Path("other.yaml").write_text("kind: Pod")
    Path("list.yaml").write_text("[1]")
    Path("no-command.yaml").write_text("claims: {taints: doc}")
    Path("unknown-claim.yaml").write_text("{command: [x], scheduler-name: x, claims: {speed: doc}}")
    Path("dialect.yaml").write_text("{command: [x], scheduler-name: x, claims: {taints: doc}, dialect: klingon}")
    with pytest.raises(UsageError, match=message):
        schedulers.choose(text)


def test_a_users_own_configuration_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert schedulers.full_name("kube-scheduler:mine.yaml") == f"kube-scheduler:{tmp_path / 'mine.yaml'}"


def test_a_pod_in_plain_kubernetes() -> None:
    request = PodRequest(
        "one", 2, priority_class="high", node="n", tolerations=(Toleration("gpu", effect="NoSchedule"),)
    )
    manifest = Dialect("some-scheduler").pod_manifest(request, "space")
    assert manifest["spec"] == {
        "schedulerName": "some-scheduler",
        "containers": [
            {
                "name": "main",
                "image": "muster.dev/nothing-runs-here",
                "resources": {"limits": {"nvidia.com/gpu": "2"}},
            }
        ],
        "nodeSelector": {"kubernetes.io/hostname": "n"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "priorityClassName": "high",
    }


def test_taints() -> None:
    assert Taint.parse("gpu_node=invalid:NoSchedule") == Taint("gpu_node", "invalid", "NoSchedule")
    assert Taint.parse("role/control-plane:NoExecute") == Taint("role/control-plane", "", "NoExecute")
    with pytest.raises(UsageError, match="write key=value:NoSchedule"):
        Taint.parse("gpu_node")
