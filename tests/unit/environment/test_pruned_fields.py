"""A setting that the CRD of an operator prunes is not supported by it: the scenario would test another job."""

from __future__ import annotations

from typing import Any, cast

import pytest

from muster.environment import ScenarioContext
from muster.environment.training_jobs import TrainingJobs
from muster.errors import NotSupported


class Operator:
    """Reconciles all kinds."""

    name = "old"
    documentation = "https://example.org/jobs"

    def check_job_kind(self, _kind: str, _version: str) -> None:
        return


class Api:
    """Prunes managedBy, as a CRD that does not list it."""

    def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        manifest["spec"]["runPolicy"].pop("managedBy", None)
        return manifest


class Scenario:
    """As much of a scenario as creating a job needs before it is refused."""

    namespace = "test"
    api = Api()

    def ensure_operator(self, _settings: object) -> Operator:
        return Operator()


def test_a_pruned_setting_is_not_supported() -> None:
    jobs = TrainingJobs(cast("ScenarioContext", cast("Any", Scenario())))
    with pytest.raises(NotSupported, match=r"operator old has no field spec\.runPolicy\.managedBy"):
        jobs.create_job("pytorch", "job", changed={"spec.runPolicy.managedBy": "other"})
