"""Configuration and command line: errors are one line each, and a usage error exits with 64."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.__main__ import leader_election, main
from scheduler.runtime.config import ConfigError, read_config, read_leader_election
from scheduler.runtime.leader_election import LeaderElection
from scheduler.runtime.leader_election_config import ConfiguredElection
from scheduler.runtime.metrics import Counter, Histogram

HEAD = "apiVersion: scheduler.muster.dev/v1\nkind: SchedulerConfiguration\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text)
    return path


def test_missing_fields_have_defaults(tmp_path: Path) -> None:
    policy = read_config(written(tmp_path, HEAD))
    assert (policy.preemption, policy.strict_queues, policy.scoring_strategy) == (True, False, "MostAllocated")
    assert "volcano" in policy.schedulers


def test_all_fields_can_be_set(tmp_path: Path) -> None:
    text = (
        HEAD + "schedulerNames: [mine]\npreemption: false\nqueueOrder: fifo\nscoringStrategy: {type: LeastAllocated}\n"
    )
    policy = read_config(written(tmp_path, text))
    assert policy.scoring_strategy == "LeastAllocated"
    assert (policy.schedulers, policy.preemption, policy.strict_queues) == (frozenset({"mine"}), False, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a SchedulerConfiguration must be a mapping, not empty"),
        ("- a", "not a list"),
        (HEAD + "preemtion: true", "unknown field preemtion"),
        (HEAD + "preemption: 'yes'", "preemption must be true or false, not 'yes'"),
        (HEAD + "schedulerNames: volcano", "schedulerNames must be a non-empty list of names"),
        (HEAD + "schedulerNames: []", "non-empty"),
        (HEAD + "queueOrder: random", "queueOrder must be traverse or fifo"),
        (HEAD + "scoringStrategy: LeastAllocated", "scoringStrategy must be {type: MostAllocated or LeastAllocated}"),
        (HEAD + "scoringStrategy: {type: Random}", "scoringStrategy must be {type: MostAllocated or LeastAllocated}"),
        (HEAD + "scoringStrategy: {type: MostAllocated, resources: []}", "scoringStrategy must be"),
        (HEAD + "scoringStrategy: {type: []}", "scoringStrategy must be"),
        (HEAD + "leaderElection: true", "leaderElection must be a mapping, not True"),
        (HEAD + "leaderElection: {leaderElect: 1}", "leaderElection.leaderElect must be true or false, not 1"),
        (HEAD + "leaderElection: {resourceLock: leases}", "unknown field leaderElection.resourceLock"),
        (HEAD + "leaderElection: {retryPeriod: 2}", "leaderElection.retryPeriod must be a duration such as 15s"),
        (HEAD + "leaderElection: {retryPeriod: 0s}", "and more than 0, not '0s'"),
        (HEAD + "leaderElection: {leaseDuration: 10s}", "leaseDuration must be greater than renewDeadline: 10s, 10s"),
        (HEAD + "leaderElection: {leaseDuration: 15500ms}", "leaseDuration must be whole seconds"),
        (HEAD + "leaderElection: {retryPeriod: 9s}", "renewDeadline must be greater than 1.2 times retryPeriod"),
        (HEAD + "leaderElection: {resourceName: A/B}", "leaderElection.resourceName must be a name, not 'A/B'"),
        ("kind: Pod", "kind must be SchedulerConfiguration, not 'Pod'"),
        ("a: [", "is not YAML"),
    ],
)
def test_every_error_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.yaml") as refused:
        read_config(written(tmp_path, text))
    assert message in str(refused.value)
    assert main(["--config", str(tmp_path / "config.yaml")]) == 64


def test_leader_election_has_the_defaults_of_kube_scheduler(tmp_path: Path) -> None:
    assert read_leader_election(written(tmp_path, HEAD)) is None
    found = read_leader_election(written(tmp_path, HEAD + "leaderElection: {}"))
    assert found == ConfiguredElection(True, LeaderElection("muster-scheduler", "kube-system", 15, 10.0, 2.0))
    text = "leaderElection: {leaderElect: false, leaseDuration: 1m, renewDeadline: 1.5s, retryPeriod: 500ms, "
    found = read_leader_election(written(tmp_path, HEAD + text + "resourceName: n, resourceNamespace: s}"))
    assert found == ConfiguredElection(False, LeaderElection("n", "s", 60, 1.5, 0.5))


@pytest.mark.parametrize(
    ("configured", "flag", "elects"),
    [
        ("", None, False),
        ("", True, True),
        ("", False, False),
        ("leaderElection: {}", None, True),
        ("leaderElection: {}", False, False),
        ("leaderElection: {leaderElect: false}", None, False),
        ("leaderElection: {leaderElect: false}", True, True),
    ],
)
def test_the_flag_overrules_the_configuration(tmp_path: Path, configured: str, flag: bool | None, elects: bool) -> None:
    assert (leader_election(written(tmp_path, HEAD + configured), flag) is not None) == elects


@pytest.mark.parametrize(
    ("kubeconfig", "message"),
    [
        ("{}", "there is no context named ''"),
        ("current-context: x\ncontexts: []", "there is no context named 'x'"),
        ("contexts: 5", "not a usable kubeconfig"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kubeconfig: str, message: str
) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(kubeconfig)
    assert main(["--kubeconfig", str(path), "--context", ""]) == 64
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--nonsense"], ["--listen", "nowhere"], ["--listen", "host:x"], ["--leader-elect=x"], ["explain"]]
)
def test_a_usage_error_exits_with_64(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 64


def test_metrics_use_the_prometheus_text_format() -> None:
    counter = Counter("c_total", "Events.", "kind")
    counter.add("a", number=2)
    assert "".join(counter.lines()).endswith('c_total{kind="a"} 2\n')
    histogram = Histogram("h", "Seconds.")
    histogram.observe(0.003)
    histogram.observe(99)
    text = "".join(histogram.lines())
    assert 'h_bucket{le="0.0025"} 0\n' in text
    assert 'h_bucket{le="0.005"} 1\n' in text
    assert 'h_bucket{le="+Inf"} 2\n' in text
