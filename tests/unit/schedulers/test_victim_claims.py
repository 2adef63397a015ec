"""Whether pods of another schedulerName may be preempted is a claim, with its source, of whoever preempts."""

from __future__ import annotations

import pytest

from muster.schedulers import SCHEDULERS, matrix_choices
from muster.schedulers.base import Scheduler
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root

CLAIMS = ("own-victims", "any-victims")
CONFIGURATIONS = [(scheduler, each) for scheduler in SCHEDULERS for each in scheduler.configurations]


@pytest.mark.parametrize(("scheduler", "configuration"), CONFIGURATIONS)
def test_a_scheduler_that_preempts_claims_which_pods(scheduler: type[Scheduler], configuration: str) -> None:
    claims = scheduler.claims(configuration)
    chosen = [claim for claim in CLAIMS if claim in claims]
    assert len(chosen) == ("preemption" in claims)
    assert all(claims[claim] not in ("", claims["preemption"]) or scheduler.name == "kueue" for claim in chosen)


def test_kube_scheduler_preempts_pods_of_other_schedulers_by_its_source() -> None:
    assert KubeScheduler.claims("default")["any-victims"].endswith("/defaultpreemption/default_preemption.go")
    assert "kube-scheduler" in matrix_choices()


def test_each_of_the_claims_has_a_scenario() -> None:
    behaviours = read_features(suite_root() / "features").behaviours
    assert {one.id: one.level for one in behaviours if set(CLAIMS) & set(one.capabilities)} == {
        "PRE-37": "must",
        "PRE-38": "should",
    }
