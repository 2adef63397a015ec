"""What a kubelet reports of nodes and containers: an error with one clear sentence, at once."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from muster import timeouts
from muster.environment.kubelet_checks import KubeletLeases, check_containers, check_nodes
from muster.errors import HarnessError
from muster.recording.objects import Condition
from tests.support.history_builder import HistoryBuilder

LOOK = "kubectl describe node {}"


def waiting(reason: str, message: str = "why", *, init: bool = False, kind: str = "waiting") -> HistoryBuilder:
    state = {"image": "registry.example/x:1", "state": {kind: {"reason": reason, "message": message}}}
    key = "initContainerStatuses" if init else "containerStatuses"
    builder = HistoryBuilder().node("w", 1).pod("p", 1).bind("p", "w")
    return builder._change("p", "status", **{key: [state]})


@pytest.mark.parametrize("reason", ["ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"])
@pytest.mark.parametrize("init", [False, True])
def test_an_image_that_is_not_there_is_named_with_its_node(reason: str, init: bool) -> None:
    with pytest.raises(HarnessError) as raised:
        check_containers(waiting(reason, init=init).history, ["w"])
    assert str(raised.value) == (
        f"the node w does not have the image registry.example/x:1 of p, and cannot pull it ({reason}: why)"
    )


@pytest.mark.parametrize(("reason", "kind"), [("RunContainerError", "waiting"), ("StartError", "terminated")])
def test_a_container_that_cannot_be_started_is_an_error(reason: str, kind: str) -> None:
    with pytest.raises(HarnessError, match=rf"the kubelet of w cannot start p from .*x:1 \({reason}: why\)"):
        check_containers(waiting(reason, kind=kind).history, ["w"])


def test_a_container_that_ended_by_itself_does_not_matter() -> None:
    check_containers(waiting("Error", kind="terminated").history, ["w"])


def test_a_container_that_is_being_created_and_other_nodes_do_not_matter() -> None:
    check_containers(waiting("ContainerCreating").history, ["w"])
    check_containers(waiting("ErrImagePull").history, ["other"])


def test_a_pod_that_its_kubelet_evicted_is_an_error() -> None:
    builder = HistoryBuilder().node("w", 1).running_pod("p", "w", 1)
    low = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: ephemeral-storage."}
    with pytest.raises(HarnessError, match="the kubelet of w evicted p: The node was low on resource: ephemeral"):
        check_containers(builder._change("p", "status", **low).history, ["w"])


def node_with(condition: str, status: str) -> HistoryBuilder:
    builder = HistoryBuilder().node("w", 1)
    conditions = builder.history.nodes["w"].latest.status.conditions
    conditions[:] = [one for one in conditions if one.type != condition]
    conditions.append(Condition(condition, status, "Kubelet", "kubelet has disk pressure"))
    return builder


def test_a_full_disk_is_named_with_its_node() -> None:
    with pytest.raises(
        HarnessError, match=r"^the disk of the node w is full \(DiskPressure: kubelet has disk pressure\)"
    ):
        check_nodes(node_with("DiskPressure", "True").history, ["w"], LOOK)
    check_nodes(node_with("DiskPressure", "False").history, ["w"], LOOK)


def test_a_node_that_is_not_ready_is_an_error() -> None:
    with pytest.raises(HarnessError, match="the node w is not ready: see `kubectl describe node w`"):
        check_nodes(node_with("Ready", "Unknown").history, ["w"], LOOK)
    check_nodes(node_with("Ready", "Unknown").history, ["other"], LOOK)


class Leases:
    """Leases that are renewed at every look, but for those of silent kubelets."""

    def __init__(self, *silent: str) -> None:
        self._silent, self._looks = silent, 0

    def get(self, _: Any, node: str, namespace: str) -> dict[str, Any]:
        assert namespace == "kube-node-lease"
        self._looks += 1
        seconds = 0 if node in self._silent else self._looks
        at = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(seconds=seconds)
        return {"spec": {"renewTime": at.isoformat()}}


def test_a_silent_kubelet_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "KUBELET_SILENT", 0.01)
    alive: Any = Leases()
    KubeletLeases(alive).await_renewal(["a", "b"], LOOK)
    one_silent: Any = Leases("b")
    with pytest.raises(HarnessError, match="the kubelet of b has not renewed its lease for"):
        KubeletLeases(one_silent).await_renewal(["a", "b"], LOOK)
