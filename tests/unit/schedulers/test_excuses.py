"""Excuses name behaviours that exist and a text that can be read, and they are applied."""

from __future__ import annotations

from urllib.parse import urlparse

import pytest

from muster.operators import OPERATORS, Operator
from muster.operators.base import ReferenceOperator
from muster.operators.training_operator import TrainingOperator
from muster.schedulers import SCHEDULERS
from muster.schedulers.base import Scheduler
from muster.schedulers.excuses import Excuse
from muster.schedulers.volcano import Volcano
from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root

BEHAVIOURS = read_features(suite_root() / "features").by_id()
EXCUSES = [(scheduler, excuse) for scheduler in SCHEDULERS for excuse in scheduler.excuses]


@pytest.mark.parametrize(("scheduler", "excuse"), EXCUSES, ids=lambda value: getattr(value, "name", None) or value.text)
def test_an_excuse_names_behaviours_a_reason_and_its_source(scheduler: type[Scheduler], excuse: Excuse) -> None:
    assert excuse.because
    assert urlparse(excuse.source).scheme == "https"
    for behaviour in excuse.behaviours:
        claimed = {claim for each in scheduler.configurations for claim in scheduler.claims(each)}
        assert set(BEHAVIOURS[behaviour].capabilities) <= claimed, "what is not claimed needs no excuse"


OPERATOR_EXCUSES = [(operator, excuse) for operator in OPERATORS for excuse in operator.excuses]


@pytest.mark.parametrize(("operator", "excuse"), OPERATOR_EXCUSES, ids=lambda value: getattr(value, "name", None))
def test_an_operator_is_excused_from_behaviours_of_jobs_alone(operator: type[Operator], excuse: Excuse) -> None:
    assert excuse.because
    assert urlparse(excuse.source).scheme == "https"
    for behaviour in excuse.behaviours:
        assert "jobs" in BEHAVIOURS[behaviour].tags
        assert operator.excuse_for(behaviour) is excuse


def test_mpi_jobs_are_asked_of_the_training_operator_in_v1() -> None:
    for behaviour in ("JOB-19", "JOB-20", "JOB-27", "JOB-28"):
        assert TrainingOperator.excuse_for(behaviour) is None
    assert ReferenceOperator.excuses == ()


def test_a_part_excuses_no_whole_behaviour() -> None:
    assert Volcano.excuse_for("PRE-07")
    assert Volcano.excuse_for("JPR-18") is None
    assert Volcano.excuse_for("PRE-01") is None


def test_who_asks_less_of_victim_events_is_excused() -> None:
    """The flags of dialects that weaken a step have an excuse."""
    for scheduler in SCHEDULERS:
        if "job-preemption" in {claim for each in scheduler.configurations for claim in scheduler.claims(each)}:
            excused = any("JPR-18" in excuse.behaviours for excuse in scheduler.excuses)
            assert excused is not scheduler.dialect_class.victim_event_names_preemptor


def test_who_asks_less_of_gated_pods_is_excused() -> None:
    for scheduler in SCHEDULERS:
        excused = any("TNT-01" in excuse.behaviours and excuse.part for excuse in scheduler.excuses)
        assert excused is scheduler.dialect_class.conventions.reports_gated_pods_on_groups
