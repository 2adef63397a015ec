"""A Given that is not carried out: whether that is an error, or the failure of a scheduler that serves others."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from muster import timeouts
from muster.assertions.evaluation import Recording
from muster.environment.given_pods import wait_until_running
from muster.environment.scenario import ScenarioContext
from muster.errors import ConformanceFailure, HarnessError
from muster.schedulers.requests import GangRequest, PodRequest
from tests.support.history_builder import HistoryBuilder

GANG = [PodRequest("train-0", 1), PodRequest("train-1", 1)]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "SETTING_UP", 0.0)


def recording(builder: HistoryBuilder) -> Recording:
    return Recording(builder.history, check_health=lambda: None, probe=lambda: builder.history.now, longest_backoff=0.0)


def test_a_pod_that_fits_and_is_not_bound_is_a_failure() -> None:
    builder = HistoryBuilder().node("gpu-1", 1).pod("left", 1)
    with pytest.raises(ConformanceFailure, match="left is not bound and fits on gpu-1"):
        wait_until_running(recording(builder), [PodRequest("left", 1)])
    with pytest.raises(HarnessError, match="the Given steps could not be carried out"):
        wait_until_running(recording(builder), [PodRequest("left", 1, node="gpu-2")])


def test_a_gang_that_fits_and_is_not_bound_is_a_failure() -> None:
    builder = HistoryBuilder().node("gpu-1", 2).pod("train-0", 1).pod("train-1", 1)
    with pytest.raises(ConformanceFailure, match=r"gang train .* fit together \(train-0 on gpu-1, train-1 on gpu-1\)"):
        wait_until_running(recording(builder), GANG, "train")


def test_a_gang_that_was_bound_in_part_is_a_failure_where_the_rest_fits() -> None:
    builder = HistoryBuilder().node("gpu-1", 2).pod("train-0", 1).pod("train-1", 1).run("train-0", "gpu-1")
    with pytest.raises(ConformanceFailure, match=r"not bound fit together \(train-1 on gpu-1\)"):
        wait_until_running(recording(builder), GANG, "train")


def test_a_gang_of_which_only_a_part_fits_is_an_error() -> None:
    builder = HistoryBuilder().node("gpu-1", 1).pod("train-0", 1).pod("train-1", 1)
    with pytest.raises(HarnessError, match="the Given steps could not be carried out"):
        wait_until_running(recording(builder), GANG, "train")


def test_a_gang_without_all_its_pods_is_an_error() -> None:
    builder = HistoryBuilder().node("gpu-1", 2).pod("train-0", 1)
    with pytest.raises(HarnessError, match="the Given steps could not be carried out"):
        wait_until_running(recording(builder), GANG, "train")
    builder.pod("train-1", 1).delete("train-1")
    with pytest.raises(HarnessError, match="the Given steps could not be carried out"):
        wait_until_running(recording(builder), GANG, "train")


def test_the_gang_of_a_given_and_its_pods_follow_the_same_rule() -> None:
    builder = HistoryBuilder().node("gpu-1", 2).pod("train-0", 1).pod("train-1", 1)
    others = [MagicMock() for _ in range(6)]
    scenario = ScenarioContext(MagicMock(), MagicMock(), recording(builder), "test", *others)
    with pytest.raises(ConformanceFailure, match="gang train"):
        scenario.groups.run_gang(GangRequest("train", 2), GANG)
    with pytest.raises(ConformanceFailure, match="train-0"):
        scenario.run_pods(GANG)
