"""The steps of the walk-throughs: what is a failure of the scheduler, and what is an error of the harness."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from muster.arena.in_process import CommandResult
from muster.assertions.evaluation import Recording
from muster.errors import ConformanceFailure, HarnessError
from steps import walkthroughs
from tests.support.history_builder import HistoryBuilder, full_node

OUTPUT = "NAME STATUS\nleft FAILED\nright FAILED\n"


def scenario(builder: HistoryBuilder, output: str = OUTPUT) -> Any:
    recording = Recording(
        builder.history, check_health=lambda: None, probe=lambda: builder.history.now, longest_backoff=0.0
    )
    jobs = SimpleNamespace(ensure_operator=lambda: SimpleNamespace(check_job_kind=lambda _: None), last_output=output)
    return SimpleNamespace(recording=recording, jobs=jobs, note_activity=lambda: None)


def answers(output: str, exit_code: int = 0) -> Callable[[str], CommandResult]:
    return lambda _: CommandResult(output, exit_code)


def test_the_output_of_a_command_is_kept() -> None:
    context = scenario(HistoryBuilder().node("gpu-1", address="172.16.0.1"))
    walkthroughs.user_runs(context, answers("0/1 (0%)\n"), "muster --loglevel info top node")
    assert context.jobs.last_output == "0/1 (0%)\n"


@pytest.mark.parametrize("exit_code", [2, 64])
def test_a_command_that_fails_is_an_error(exit_code: int) -> None:
    context = scenario(HistoryBuilder())
    with pytest.raises(HarnessError, match="the API server does not answer"):
        walkthroughs.user_runs(context, answers("muster: the API server does not answer", exit_code), "muster top node")


def test_two_victims_are_a_failure_and_no_error() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").preempt("right", by="urgent")
    with pytest.raises(
        ConformanceFailure, match=r"wanted   exactly one of left, right preempted\nseen     .*left, right"
    ):
        walkthroughs.output_does_not_contain_victim(scenario(builder), ("left", "right"))


def test_a_victim_that_is_still_shown() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent")
    with pytest.raises(ConformanceFailure, match="wanted   left not in the output"):
        walkthroughs.output_does_not_contain_victim(scenario(builder), ("left", "right"))
    walkthroughs.output_does_not_contain_victim(scenario(builder, "right FAILED"), ("left", "right"))


def test_a_row_that_the_walkthrough_does_not_show() -> None:
    context = scenario(full_node())
    walkthroughs.check_output_is(context, OUTPUT)
    with pytest.raises(ConformanceFailure, match="seen     not in the walk-through: 'right FAILED'"):
        walkthroughs.check_output_is(context, "NAME STATUS\nleft FAILED")
