"""A scheduler of an existing cluster that binds nothing any more: when that is its failure, and when an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from muster import timeouts
from muster.assertions.evaluation import Recording
from muster.cluster.api import Api, ApiRefused
from muster.environment import in_cluster_scheduler
from muster.environment.environment import Environment
from muster.environment.in_cluster_scheduler import InClusterScheduler, SchedulerLease
from muster.errors import ConformanceFailure, HarnessError, SchedulerNotServing
from muster.recording.history import History
from muster.recording.records import Moment
from muster.run_options import RunOptions
from muster.schedulers import ProcessContext, choose
from tests.support.history_builder import full_node

LEASE = "kube-system/kube-scheduler"
NOWHERE = ProcessContext(Path(), Path(), Path(), {})
REFUSED = ApiRefused(403, "Forbidden", "leases is forbidden", "get")


class Leases:
    """An API server with one Lease; each read gives the next (holder, time of renewal), and the last one for ever."""

    def __init__(self, *states: tuple[str, str]) -> None:
        self._states, self.paths = list(states), list[str]()

    def get(self, resource: Any, name: str, namespace: str) -> dict[str, Any]:
        self.paths.append(f"{namespace}/{name}")
        if not self._states:
            raise REFUSED
        holder, renewed = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        return {"spec": {"holderIdentity": holder, "renewTime": renewed}}


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "LEASE_RENEWAL", 0.05)
    monkeypatch.setattr(in_cluster_scheduler, "_POLL", 0.0)


def lease(*states: tuple[str, str], name: str = LEASE) -> SchedulerLease:
    """One that was noted when the scheduler served."""
    found = SchedulerLease(cast(Api, Leases(*states)), name)
    found.note_holder()
    return found


def test_a_process_that_goes_on_to_renew_its_lease_is_alive() -> None:
    alive = lease(("a", "10:00:00"), ("a", "10:00:02"), ("a", "10:00:02"), ("a", "10:00:04"))
    assert alive.proof_of_life() == "its process is alive: a goes on to renew the Lease kube-system/kube-scheduler"


@pytest.mark.parametrize(
    "later",
    [
        [("a", "10:00:02")],
        [("a", "10:00:02"), ("b", "10:00:04")],
        [("", ""), ("", "")],
    ],
    ids=["not renewed", "another process", "released"],
)
def test_a_process_that_does_not_renew_it_may_have_been_stopped(later: list[tuple[str, str]]) -> None:
    assert lease(("a", "10:00:00"), *later).proof_of_life() == ""


def test_nothing_is_known_without_a_lease() -> None:
    assert lease().proof_of_life() == ""
    assert lease(("a", "1"), ("a", "2"), ("a", "3"), name="").proof_of_life() == ""


class StoppedProbe:
    """A probe that binds once and then never again."""

    def __init__(self) -> None:
        self._moments: Iterator[Moment] = iter([Moment(1, 0.1)])

    def run(self, _: History, __: float) -> Moment:
        for moment in self._moments:
            return moment
        raise SchedulerNotServing("the scheduler did not bind the probe pod within 15 s")


def stopped(*states: tuple[str, str], last_binding: float = float("-inf")) -> Recording:
    """A scenario on an existing cluster whose kube-scheduler has served, and serves no more."""
    environment: Any = Environment(RunOptions(scheduler="kube-scheduler", kubeconfig=Path("nowhere")))
    chosen, configuration = choose("kube-scheduler")
    environment.scheduler = InClusterScheduler(chosen, configuration, NOWHERE)
    environment.probe = StoppedProbe()
    environment._policy.guard = SimpleNamespace(last_binding=last_binding)
    environment._policy._lease = SchedulerLease(cast(Api, Leases(*states)), environment.scheduler.leader_lease)
    history = full_node().history
    recording = Recording(
        history, check_health=lambda: None, probe=lambda: environment._prove_live(history), longest_backoff=0.0
    )
    recording.prove_live()
    return recording


ALIVE = (("a", "10:00:00"), ("a", "10:00:02"), ("a", "10:00:04"))


def test_a_scheduler_that_is_alive_and_stopped_serving_has_failed() -> None:
    with pytest.raises(ConformanceFailure, match="goes on to renew the Lease kube-system/kube-scheduler; look at"):
        stopped(*ALIVE).prove_live()


def test_a_scheduler_that_may_have_been_stopped_is_an_error() -> None:
    with pytest.raises(HarnessError, match="within 15 s; look at its log in the cluster"):
        stopped(("a", "10:00:00")).prove_live()


def test_a_scheduler_that_binds_pods_of_other_tenants_is_busy() -> None:
    with pytest.raises(HarnessError, match="and it binds pods of other tenants; look at its log"):
        stopped(*ALIVE, last_binding=float("inf")).prove_live()
