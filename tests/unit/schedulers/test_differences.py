"""What Muster configures otherwise than a project is said once, and a configuration as shipped has none of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from muster.schedulers import SCHEDULERS
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.kai import Kai
from muster.schedulers.koordinator import Koordinator
from muster.schedulers.volcano import Volcano
from muster.schedulers.yunikorn import _POLICY, YuniKorn, _defaults
from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root

BEHAVIOURS = read_features(suite_root() / "features").by_id()
CHART = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [{"plugins": [{"name": "priority"}, {"name": "gang", "enablePreemptable": False}]}],
}


def context(directory: Path, **assets: Path) -> ProcessContext:
    return ProcessContext(directory, directory / "admin", directory / "scheduler", assets)


def volcano(configuration: str, directory: Path) -> dict[str, object]:
    chart = directory / "volcano-scheduler.conf"
    chart.write_text(yaml.safe_dump(CHART))
    return Volcano(configuration, context(directory, **{chart.name: chart}))._conf()


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_a_difference_says_both_values_and_why(scheduler: type[Scheduler]) -> None:
    for each in scheduler.differences:
        assert each.shipped != each.here
        assert each.because
        assert set(each.only) <= set(scheduler.configurations)
        assert all(finding in BEHAVIOURS for finding in each.findings)
        assert bool(each.findings) == bool(each.seen), "a finding that depends on a setting was looked for with both"


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_what_is_as_shipped_is_in_no_matrix(scheduler: type[Scheduler]) -> None:
    shipped = {each for each in scheduler.configurations if each.endswith("as-shipped")}
    assert not shipped & set(scheduler.matrix_configurations or scheduler.configurations)
    if any(each.findings for each in scheduler.differences) and not scheduler.name.endswith("@1.7.0"):
        assert shipped


def test_volcano_as_shipped(tmp_path: Path) -> None:
    assert volcano("preempt-as-shipped", tmp_path) == {**CHART, "actions": "enqueue, allocate, backfill, preempt"}
    assert volcano("preempt-no-enqueue-as-shipped", tmp_path) == {**CHART, "actions": "allocate, backfill, preempt"}
    assert volcano("preempt", tmp_path)["tiers"] != CHART["tiers"]
    assert volcano("default", tmp_path) == CHART


def test_the_longest_backoff_is_the_one_in_force(tmp_path: Path) -> None:
    assert Volcano("default", context(tmp_path)).longest_backoff == 1.0
    assert Volcano("preempt-as-shipped", context(tmp_path)).longest_backoff == 5.0
    assert Koordinator("default", context(tmp_path)).longest_backoff == 2.0
    assert Koordinator("as-shipped", context(tmp_path)).longest_backoff == Koordinator.existing_cluster_backoff
    assert Kai("as-shipped", context(tmp_path)).longest_backoff == 5.0


def test_settings_name_the_differences_in_force(tmp_path: Path) -> None:
    assert len(Kai("default", context(tmp_path)).settings()) == 1 + len(Kai.differences)
    assert set(Koordinator("as-shipped", context(tmp_path)).settings()) == {"scheduler"}
    assert "scheduler period" not in Kai("as-shipped", context(tmp_path)).settings()
    assert "actions" in Volcano("preempt", context(tmp_path)).settings()
    assert "actions" not in Volcano("default", context(tmp_path)).settings()


def test_what_yunikorn_is_told_is_listed() -> None:
    listed = {each.setting: each.here for each in YuniKorn.differences}
    for setting in _POLICY.split():
        name, _, value = setting.partition("=")
        assert listed[name] == value
    assert _defaults()["data"]["service.schedulingInterval"] == listed["scheduler interval"]
