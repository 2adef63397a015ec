"""What goes wrong on a real node without the scheduler's doing, found in what its kubelet reports: always an error.

Without these checks a scenario would wait in vain for its pods to run, and count that as a failure of the scheduler.
"""

from __future__ import annotations

from collections.abc import Collection

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import LEASE
from muster.errors import HarnessError
from muster.recording.history import History
from muster.recording.objects import NotRunning
from muster.recording.pod_history import PodHistory

_NO_IMAGE = (
    "ErrImagePull",
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ImageInspectError",
    "RegistryUnavailable",
)
_NO_START = ("CreateContainerError", "CreateContainerConfigError", "RunContainerError", "StartError")
_PRESSURES = {"DiskPressure": "disk", "MemoryPressure": "memory", "PIDPressure": "table of processes"}
_LEASES = "kube-node-lease"  # a namespace
_PAUSE = 0.5  # seconds between two looks at leases: polled, because this is rare and no watch is open
_EVICTED = "Evicted"  # the reason of a pod that its kubelet has ended for want of disk or memory


def check_nodes(history: History, nodes: Collection[str], look_at: str) -> None:
    """Every node is ready, with disk and memory left; `look_at` is the command that shows more of a node."""
    for name in nodes:
        node = history.nodes.get(name)
        if node is None:
            continue
        for condition in node.latest.status.conditions:
            if condition.status == "True" and condition.type in _PRESSURES:
                full = _PRESSURES[condition.type]
                raise HarnessError(
                    f"the {full} of the node {name} is full ({condition.type}: {condition.message}): free some of it"
                )
        if not node.ready:
            raise HarnessError(f"the node {name} is not ready: see `{look_at.format(name)}`")


def check_containers(history: History, nodes: Collection[str]) -> None:
    """Every container on these nodes can be started, and none was ended for want of disk or memory."""
    for pod in history.pods:
        if pod.node in nodes and not pod.deleting:
            _check_pod(pod)


def _check_pod(pod: PodHistory) -> None:
    status = pod.latest.status
    if status.phase == "Failed" and status.reason == _EVICTED:
        raise HarnessError(f"the kubelet of {pod.node} evicted {pod.name}: {status.message}")
    for container in (*status.init_container_statuses, *status.container_statuses):
        state = container.state.waiting or container.state.terminated or NotRunning()
        why = ": ".join(filter(None, (state.reason, state.message)))
        if state.reason in _NO_IMAGE:
            raise HarnessError(
                f"the node {pod.node} does not have the image {container.image} of {pod.name}, and cannot pull it"
                f" ({why})"
            )
        if state.reason in _NO_START:
            raise HarnessError(f"the kubelet of {pod.node} cannot start {pod.name} from {container.image} ({why})")


class KubeletLeases:
    """Whether kubelets are alive, by their node leases: on kind the control plane itself waits a day before it says so.

    Asked before a wait that was in vain counts against the scheduler, and only then: the proof takes as long as a
    kubelet needs to renew its lease, 10 s by default.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def await_renewal(self, nodes: Collection[str], look_at: str) -> None:
        """Return when each of these kubelets has renewed its lease since the call."""
        before = {name: self._renewed(name) for name in nodes}
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(_PAUSE),
            stop=tenacity.stop_after_delay(timeouts.KUBELET_SILENT),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
        )
        silent = attempts(lambda: [name for name, renewed in before.items() if self._renewed(name) == renewed])
        if silent:
            raise HarnessError(
                f"the kubelet of {', '.join(silent)} has not renewed its lease for {timeouts.KUBELET_SILENT:g} s:"
                f" see `{look_at.format(silent[0])}`"
            )

    def _renewed(self, node: str) -> str:
        return str(self._api.get(LEASE, node, _LEASES)["spec"].get("renewTime", ""))
