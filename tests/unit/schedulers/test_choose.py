"""Choosing a scheduler and its configuration: mistakes are told before anything is started."""

from pathlib import Path

import pytest

from muster import subject
from muster.errors import UsageError
from muster.subject.dialect import Dialect
from muster.subject.requests import PodRequest, Taint, Toleration


def test_names_and_defaults() -> None:
    assert "kube-scheduler" in subject.names()
    kind, configuration = subject.choose("kube-scheduler")
    assert (kind.name, configuration) == ("kube-scheduler", "default")
    assert subject.full_name("kube-scheduler") == "kube-scheduler"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kubescheduler", "unknown scheduler 'kubescheduler': choose from reference, kube-scheduler"),
        ("mine=missing.yaml", "cannot read the description"),
        ("mine=broken.yaml", "cannot read the description"),
        ("mine=other.yaml", "there is no 'kind'"),
        ("mine=list.yaml", "does not describe a scheduler"),
        ("mine=silent.yaml", "'command' is missing"),
        ("mine=boastful.yaml", "nobody can claim 'speed'"),
        ("mine=foreign.yaml", "unknown dialect 'klingon'"),
        ("volcano:fast", "has no configuration 'fast': choose from default, preempt"),
        ("koordinator:fast", "has no configuration 'fast': choose from default, preemption-off"),
        ("kube-scheduler:tuned", "has no configuration 'tuned': choose from default"),
        ("kube-scheduler:missing.yaml", "No such file"),
        ("kube-scheduler:broken.yaml", "cannot read"),
        ("kube-scheduler:other.yaml", "is not a configuration of kube-scheduler"),
    ],
)
def test_a_wrong_choice_is_one_sentence(
    text: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.yaml").write_text("kind: [")
    Path("other.yaml").write_text("kind: Pod")
    Path("list.yaml").write_text("[1]")
    Path("silent.yaml").write_text("claims: {taints: doc}")
    Path("boastful.yaml").write_text("{command: [x], scheduler-name: x, claims: {speed: doc}}")
    Path("foreign.yaml").write_text("{command: [x], scheduler-name: x, claims: {taints: doc}, dialect: klingon}")
    with pytest.raises(UsageError, match=sentence):
        subject.choose(text)


def test_a_users_own_configuration_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    assert subject.full_name("kube-scheduler:mine.yaml") == f"kube-scheduler:{tmp_path / 'mine.yaml'}"


def test_a_pod_in_plain_kubernetes() -> None:
    request = PodRequest(
        "one", 2, priority_class="high", node="n", tolerations=(Toleration("gpu", effect="NoSchedule"),)
    )
    manifest = Dialect("some-scheduler").pod(request, "space")
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
