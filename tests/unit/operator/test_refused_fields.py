"""Fields of a job that the operator respects by leaving it alone, or refuses by name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.reconcile_harness import JobSimulation, mpi, pytorch


@pytest.mark.parametrize("manager", ["kueue.x-k8s.io/multikueue", "example.com/mine"])
@pytest.mark.parametrize(("kind", "spec"), [("PyTorchJob", pytorch), ("MPIJob", mpi)])
def test_a_job_that_another_controller_manages_is_left_alone(kind: str, spec: Any, manager: str) -> None:
    job = JobSimulation(spec(managedBy=manager), kind=kind).settle()
    assert (job.pods, job.services, job.status, job.events) == ({}, {}, {}, [])


@pytest.mark.parametrize(
    ("kind", "spec", "manager"),
    [
        ("PyTorchJob", pytorch, "kubeflow.org/training-operator"),
        ("MPIJob", mpi, "kubeflow.org/training-operator"),
        ("MPIJob", mpi, "kubeflow.org/mpi-operator"),
        ("MPIJob", mpi, ""),
    ],
)
def test_a_job_that_names_this_operator_is_reconciled(kind: str, spec: Any, manager: str) -> None:
    assert JobSimulation(spec(managedBy=manager), kind=kind).settle().pods


def test_a_manager_that_is_not_a_string_is_refused() -> None:
    job = JobSimulation(pytorch(managedBy=7)).settle()
    assert "spec.runPolicy.managedBy" in job.condition("Failed")["message"]


def test_an_elastic_job_is_refused_with_the_field() -> None:
    job = JobSimulation({**pytorch(), "elasticPolicy": {"minReplicas": 1, "maxReplicas": 4}}).settle()
    assert job.condition("Failed")["reason"] == "PyTorchJobFailedValidation"
    assert "spec.elasticPolicy" in job.condition("Failed")["message"]
    assert any("spec.elasticPolicy" in one for one in job.events)
    assert (job.pods, job.services) == ({}, {})
