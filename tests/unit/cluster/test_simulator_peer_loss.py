"""Who crashes when a member of a job is lost, decided on made-up events."""

from __future__ import annotations

from typing import Any

import pytest

from muster.player.jobs import Jobs, PodName


def member(name: str, phase: str = "Running", *, job: str = "j", uid: str = "", **more: Any) -> dict[str, Any]:
    marks = {"muster.dev/on-peer-loss": "crash", **more.pop("marks", {})}
    meta = {
        "namespace": "ns",
        "name": name,
        "uid": uid or name,
        "labels": {"muster.dev/job": job},
        "annotations": marks,
    }
    return {"metadata": {**meta, **more}, "status": {"phase": phase}}


def names(pods: set[PodName]) -> set[str]:
    return {pod.name for pod in pods}


@pytest.fixture
def jobs() -> Jobs:
    jobs = Jobs()
    for name in ("a", "b", "c"):
        assert not jobs.changed("ADDED", member(name))
    jobs.changed("ADDED", member("stranger", job="other"))
    jobs.changed("ADDED", member("elsewhere", namespace="ns2"))
    return jobs


def test_peers_crash_when_a_running_member_goes(jobs: Jobs) -> None:
    assert names(jobs.changed("DELETED", member("a"))) == {"b", "c"}


def test_peers_crash_when_a_member_fails_and_only_once(jobs: Jobs) -> None:
    assert names(jobs.changed("MODIFIED", member("a", "Failed"))) == {"b", "c"}
    assert not jobs.changed("MODIFIED", member("a", "Failed", marks={"x": "y"}))
    assert not jobs.changed("DELETED", member("a", "Failed"))


def test_being_deleted_is_not_yet_lost(jobs: Jobs) -> None:
    assert not jobs.changed("MODIFIED", member("a", deletionTimestamp="2030-01-01T00:00:00Z"))


@pytest.mark.parametrize("phase", ["Succeeded", "Pending"])
def test_a_member_that_ended_well_or_never_ran_is_no_loss(jobs: Jobs, phase: str) -> None:
    jobs.changed("MODIFIED", member("a", phase))
    assert not jobs.changed("DELETED", member("a", phase))


@pytest.mark.parametrize(
    "peer",
    [
        member("b", "Pending"),
        member("b", "Succeeded"),
        member("b", marks={"muster.dev/exit-code": "0"}),
        member("b", marks={"muster.dev/on-peer-loss": "wait"}),
        member("b", deletionTimestamp="2030-01-01T00:00:00Z"),
    ],
    ids=["not running", "ended", "already marked", "does not mind", "being deleted"],
)
def test_a_peer_that_cannot_or_will_not_crash_is_left_alone(jobs: Jobs, peer: dict[str, Any]) -> None:
    jobs.changed("MODIFIED", peer)
    assert names(jobs.changed("DELETED", member("a"))) == {"c"}


def test_a_loss_during_a_gap_is_found_by_the_next_list(jobs: Jobs) -> None:
    assert names(jobs.replaced([member("b"), member("c")])) == {"b", "c"}


def test_a_member_recreated_under_its_name_during_a_gap_is_a_loss(jobs: Jobs) -> None:
    crashed = jobs.replaced([member("a", "Pending", uid="new"), member("b"), member("c")])
    assert names(crashed) == {"b", "c"}


def test_the_same_list_again_changes_nothing(jobs: Jobs) -> None:
    assert not jobs.replaced([member("a"), member("b"), member("c")])
