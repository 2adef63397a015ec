"""Configuration and command line: errors are one line each, and a usage error exits with 64."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler.__main__ import main
from scheduler.runtime.config import ConfigError, read_config
from scheduler.runtime.metrics import Counter, Histogram

HEAD = "apiVersion: scheduler.muster.dev/v1\nkind: SchedulerConfiguration\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text)
    return path


def test_missing_fields_have_defaults(tmp_path: Path) -> None:
    policy = read_config(written(tmp_path, HEAD))
    assert (policy.preemption, policy.strict_queues) == (True, False)
    assert "volcano" in policy.schedulers


def test_all_fields_can_be_set(tmp_path: Path) -> None:
    text = HEAD + "schedulerNames: [mine]\npreemption: false\nqueueOrder: fifo\n"
    policy = read_config(written(tmp_path, text))
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
        ("kind: Pod", "kind must be SchedulerConfiguration, not 'Pod'"),
        ("a: [", "is not YAML"),
    ],
)
def test_every_error_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"config\.yaml") as refused:
        read_config(written(tmp_path, text))
    assert message in str(refused.value)
    assert main(["--config", str(tmp_path / "config.yaml")]) == 64


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


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--listen", "nowhere"], ["--listen", "host:x"], ["explain"]])
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
