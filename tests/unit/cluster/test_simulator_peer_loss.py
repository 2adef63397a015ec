"""Which pods crash when a member of a job is lost."""

from __future__ import annotations

from typing import Any

import pytest

from muster.simulator.peer_loss import JobMembers, PodName


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
def members() -> JobMembers:
    members = JobMembers()
    for name in ("a", "b", "c"):
        assert not members.update("ADDED", member(name))
    members.update("ADDED", member("unrelated", job="other"))
    members.update("ADDED", member("elsewhere", namespace="ns2"))
    return members


def test_peers_crash_when_a_running_member_is_deleted(members: JobMembers) -> None:
    assert names(members.update("DELETED", member("a"))) == {"b", "c"}


def test_peers_crash_when_a_member_fails_and_only_once(members: JobMembers) -> None:
    assert names(members.update("MODIFIED", member("a", "Failed"))) == {"b", "c"}
    assert not members.update("MODIFIED", member("a", "Failed", marks={"x": "y"}))
    assert not members.update("DELETED", member("a", "Failed"))


def test_a_terminating_member_is_not_lost_yet(members: JobMembers) -> None:
    assert not members.update("MODIFIED", member("a", deletionTimestamp="2030-01-01T00:00:00Z"))


@pytest.mark.parametrize("phase", ["Succeeded", "Pending"])
def test_a_member_that_succeeded_or_never_ran_is_not_lost(members: JobMembers, phase: str) -> None:
    members.update("MODIFIED", member("a", phase))
    assert not members.update("DELETED", member("a", phase))


@pytest.mark.parametrize(
    "peer",
    [
        member("b", "Pending"),
        member("b", "Succeeded"),
        member("b", marks={"muster.dev/exit-code": "0"}),
        member("b", marks={"muster.dev/on-peer-loss": "wait"}),
        member("b", deletionTimestamp="2030-01-01T00:00:00Z"),
    ],
    ids=["not running", "ended", "already marked", "does not crash with its peers", "being deleted"],
)
def test_a_peer_that_does_not_crash_is_not_marked(members: JobMembers, peer: dict[str, Any]) -> None:
    members.update("MODIFIED", peer)
    assert names(members.update("DELETED", member("a"))) == {"c"}


def test_a_loss_during_a_gap_is_found_by_the_next_list(members: JobMembers) -> None:
    assert names(members.relist_pods([member("b"), member("c")])) == {"b", "c"}


def test_a_member_recreated_under_its_name_during_a_gap_is_a_loss(members: JobMembers) -> None:
    crashed = members.relist_pods([member("a", "Pending", uid="new"), member("b"), member("c")])
    assert names(crashed) == {"b", "c"}


def test_the_same_list_again_changes_nothing(members: JobMembers) -> None:
    assert not members.relist_pods([member("a"), member("b"), member("c")])
