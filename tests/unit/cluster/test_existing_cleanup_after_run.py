"""After a run on somebody's cluster: what is left is said, and counts."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from muster.cli import clearing, judging
from muster.cluster.api import Api
from muster.cluster.foreign import sweeping
from muster.errors import EXIT_FAILED, EXIT_HARNESS_BROKE, EXIT_PASSED, HarnessError

RUN = "kbcd240"


@pytest.mark.parametrize(
    ("keep", "left", "said", "clean"),
    [
        (False, [], "run kbcd241 was cleared away after its process had ended", True),
        (
            False,
            ["node n"],
            "left on the cluster: node n; try again with: muster sweep --run kbcd241 --kubeconfig k",
            False,
        ),
        (
            True,
            [],
            "kept on the cluster: run kbcd241; to clear it away: muster sweep --run kbcd241 --kubeconfig k",
            True,
        ),
    ],
    ids=["crashed", "stuck", "kept"],
)
def test_what_is_said_after_a_run(
    keep: bool,
    left: list[str],
    said: str,
    clean: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Api, "connect", lambda *_: None)
    monkeypatch.setattr(sweeping, "find", lambda _: {"kbcd241": None, "zzzzzz0": None})
    monkeypatch.setattr(sweeping, "clear", lambda *_, **__: left)
    args = argparse.Namespace(kubeconfig=Path("k"), context=None, keep=keep, run_id=RUN)
    assert clearing.after_run(args) is clean
    assert capsys.readouterr().err == f"muster: {said}\n"


def test_a_cluster_that_cannot_be_asked_afterwards_counts_as_not_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(_: object) -> None:
        raise HarnessError("the API server does not answer")

    monkeypatch.setattr(Api, "connect", lambda *_: None)
    monkeypatch.setattr(sweeping, "find", find)
    assert not clearing.after_run(argparse.Namespace(kubeconfig=Path("k"), context=None, keep=False, run_id=RUN))
    assert f"later: muster sweep --run {RUN} --kubeconfig k" in capsys.readouterr().err


class Part:
    """Whatever a run has beside the clearing away; it does nothing."""

    happened = False
    address = ""

    def __init__(self, *_: object, **__: object) -> None:
        return

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def forward_to(self, *_: object) -> None:
        return

    watch = ignore = forward_to


@pytest.mark.parametrize(
    ("clean", "verdict", "code"),
    [(True, EXIT_FAILED, EXIT_FAILED), (False, EXIT_FAILED, EXIT_HARNESS_BROKE), (False, EXIT_PASSED, 2)],
)
def test_a_leak_is_the_harness_breaking(
    clean: bool, verdict: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("Interruptions", "Live", "PytestProcess"):
        monkeypatch.setattr(judging, part, Part)
    monkeypatch.setattr(judging, "_ensure_binaries", lambda _: None)
    monkeypatch.setattr(judging, "_pytest_arguments", lambda *_: [])
    monkeypatch.setattr(judging, "_report", lambda *_, **__: verdict)
    monkeypatch.setattr(clearing, "after_run", lambda _: clean)
    args = argparse.Namespace(cluster="kubeconfig", junit=None, results=tmp_path / "r", scheduler="x", repeat=1)
    assert judging.judge(args, []) == code
