"""Cleanup after a run on an existing cluster: leftovers are reported, and change the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.cluster.existing import cleanup
from muster.cluster.existing.cleanup import clean_up_after_run
from muster.cluster.run_scope import SchedulerObjects
from muster.errors import EXIT_FAILED, EXIT_HARNESS_BROKE, EXIT_PASSED, HarnessError
from muster.run_options import RunOptions
from muster.runner import run_suite

RUN = "kbcd240"


@pytest.mark.parametrize(
    ("keep", "left", "printed", "clean"),
    [
        (False, [], "run kbcd241 was deleted after its process had ended", True),
        (
            False,
            ["node n"],
            "left on the cluster: node n; try again with: muster cleanup --run kbcd241 --kubeconfig k",
            False,
        ),
        (
            True,
            [],
            "kept on the cluster: run kbcd241; to delete it: muster cleanup --run kbcd241 --kubeconfig k",
            True,
        ),
    ],
    ids=["crashed", "stuck", "kept"],
)
def test_the_cleanup_after_a_run_is_reported(
    keep: bool,
    left: list[str],
    printed: str,
    clean: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(cleanup, "open_api", lambda *_: None)
    monkeypatch.setattr(cleanup, "find_runs", lambda *_: {"kbcd241": None, "zzzzzz0": None})
    monkeypatch.setattr(cleanup, "delete_run", lambda *_, **__: left)
    args = RunOptions(kubeconfig=Path("k"), keep=keep, run_id=RUN)
    assert clean_up_after_run(args, SchedulerObjects()) is clean
    assert capsys.readouterr().err == f"muster: {printed}\n"


def test_a_cluster_that_does_not_answer_counts_as_not_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def find(*_: object) -> None:
        raise HarnessError("the API server does not answer")

    monkeypatch.setattr(cleanup, "open_api", lambda *_: None)
    monkeypatch.setattr(cleanup, "find_runs", find)
    assert not clean_up_after_run(RunOptions(kubeconfig=Path("k"), run_id=RUN), SchedulerObjects())
    assert f"later: muster cleanup --run {RUN} --kubeconfig k" in capsys.readouterr().err


class FakeProcess:
    """Whatever a run has beside the clearing away; it does nothing."""

    received = False
    address = ""

    def __init__(self, *_: object, **__: object) -> None:
        return

    def __enter__(self) -> FakeProcess:
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
def test_leftover_objects_are_a_harness_error(
    clean: bool, verdict: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in ("SignalForwarder", "LiveView", "PytestProcess"):
        monkeypatch.setattr(run_suite, part, FakeProcess)
    monkeypatch.setattr(run_suite, "ensure_binaries", lambda _: None)
    monkeypatch.setattr(run_suite, "_pytest_arguments", lambda *_: [])
    monkeypatch.setattr(run_suite, "_report", lambda *_, **__: verdict)
    monkeypatch.setattr(run_suite, "clean_up_after_run", lambda *_: clean)
    options = RunOptions(cluster="kubeconfig", results=tmp_path / "r", scheduler="x")
    assert run_suite.run_suite(options, []) == code
