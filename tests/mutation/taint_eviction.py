"""A taint eviction controller for the fault injector, with one fault: it stands in for that of kube-controller-manager.

`without_controllers` of a mutant switches the real one off. But for its fault it does what the Kubernetes documentation
says: NoExecute evicts a pod after the shortest tolerationSeconds of the matching tolerations, at once if a taint is not
tolerated, and the removal of the taints cancels that.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from muster.assertions.taint_eviction import BY_TAINT
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import POD
from muster.recording.history import History
from muster.recording.objects import Taint
from muster.recording.pod_history import PodHistory

_FOREVER = float("inf")
_HEAD_START = 0.3  # seconds by which a wrong eviction comes before the right one, so that the order is certain

Evict = Callable[..., None]


@dataclass(frozen=True)
class TaintFault:
    """What is wrong; with all defaults nothing is."""

    condition: bool = True
    event: bool = True
    whole_node: bool = False
    seconds_mean_forever: bool = False
    longest_applies: bool = False
    cancels: bool = True
    cancelled_evict: bool = False
    cancels_everywhere: bool = False


TAINT_FAULTS = {
    "taint-eviction-without-condition": TaintFault(condition=False),
    "taint-eviction-without-event": TaintFault(event=False),
    "first-eviction-evicts-the-whole-node": TaintFault(whole_node=True),
    "toleration-seconds-mean-forever": TaintFault(seconds_mean_forever=True),
    "longest-toleration-applies": TaintFault(longest_applies=True),
    "removed-taints-evict": TaintFault(cancels=False),
    "cancelled-evictions-evict": TaintFault(cancelled_evict=True),
    "one-removed-taint-cancels-all-evictions": TaintFault(cancels_everywhere=True),
}


class TaintEviction:
    """Evicts pods from tainted nodes; `step` is called at every change and when the next eviction is due."""

    def __init__(self, api: Api, history: History, fault: TaintFault, evict: Evict) -> None:
        self._api, self._history, self._fault, self._evict = api, history, fault, evict
        self._due: dict[str, float] = {}  # by uid, monotonic seconds
        self._done: set[str] = set()
        self._tolerations: dict[str, list[dict[str, Any]]] = {}

    def step(self) -> float | None:
        """Evict what is due; the seconds until the next eviction."""
        now = time.monotonic()
        pods = {pod.uid: pod for pod in self._history.pods if pod.bound and not pod.deleting and not pod.ended}
        cancelled = False
        for pod in pods.values():
            taints = self._taints_of(pod)
            if taints and pod.uid not in self._due and pod.uid not in self._done:
                self._due[pod.uid] = now + self._seconds(pod, taints)
            elif not taints and pod.uid in self._due and pod.uid not in self._done and self._fault.cancels:
                self._cancel(pod)
                cancelled = True
        if cancelled and self._fault.cancels_everywhere:
            self._done |= self._due.keys()
            self._due.clear()
        for uid in [uid for uid, due in self._due.items() if due <= now]:
            del self._due[uid]
            if uid in pods:
                self._evict_due(pods[uid], pods)
        soonest = min((due for due in self._due.values() if due < _FOREVER), default=None)
        return None if soonest is None else max(0.0, soonest - time.monotonic())

    def _taints_of(self, pod: PodHistory) -> list[Taint]:
        node = self._history.nodes.get(pod.node)
        return [taint for taint in node.latest.spec.taints if taint.effect == "NoExecute"] if node else []

    def _seconds(self, pod: PodHistory, taints: list[Taint]) -> float:
        found = [self._tolerated_for(pod, taint) for taint in taints]
        if None in found:
            return 0.0
        seconds = [one for one in found if one is not None]
        if self._fault.seconds_mean_forever:
            return _FOREVER
        return max(seconds) if self._fault.longest_applies else min(seconds)

    def _tolerated_for(self, pod: PodHistory, taint: Taint) -> float | None:
        """The seconds for which it tolerates the taint; None where it does not."""
        if pod.uid not in self._tolerations:  # the recorder keeps no tolerationSeconds
            with contextlib.suppress(ApiRefused):
                spec = self._api.get(POD, pod.name, pod.namespace)["spec"]
                self._tolerations[pod.uid] = spec.get("tolerations", [])
        times = [
            float(one.get("tolerationSeconds", _FOREVER))
            for one in self._tolerations.get(pod.uid, [])
            if _tolerates(one, taint)
        ]
        return min(times) if times else None

    def _cancel(self, pod: PodHistory) -> None:
        self._record(pod, f"Cancelling deletion of Pod {pod.namespace}/{pod.name}")
        if self._fault.cancelled_evict:
            self._due[pod.uid] -= _HEAD_START
            self._done.add(pod.uid)
        else:
            del self._due[pod.uid]

    def _evict_due(self, pod: PodHistory, pods: Mapping[str, PodHistory]) -> None:
        others = [one for one in pods.values() if one.node == pod.node and one.uid != pod.uid]
        for one in [*(others if self._fault.whole_node else ()), pod]:
            self._done.add(one.uid)
            self._due.pop(one.uid, None)
            if self._fault.event:
                self._record(one, f"Marking for deletion Pod {one.namespace}/{one.name}")
            with contextlib.suppress(ApiRefused):
                self._evict(self._api, one, without_condition=not self._fault.condition, reason=BY_TAINT)

    def _record(self, pod: PodHistory, message: str) -> None:
        name = f"{pod.name}.{time.monotonic_ns():x}"
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        regarding = {"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": pod.uid, "apiVersion": "v1"}
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": pod.namespace},
            "involvedObject": regarding,
            "reason": "TaintManagerEviction",
            "message": message,
            "type": "Normal",
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "source": {"component": "taint-eviction-controller"},
        }
        with contextlib.suppress(ApiRefused):
            self._api.post(f"/api/v1/namespaces/{pod.namespace}/events", event)


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect", "") not in ("", taint.effect):
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return toleration.get("key", "") in ("", taint.key)
    return (toleration.get("key"), toleration.get("value", "")) == (taint.key, taint.value)


def evict_by_taint(fault: TaintFault, evict: Evict) -> Callable[[Api, History], Iterator[float | None]]:
    """As a mode of the fault injector."""

    def run(api: Api, history: History) -> Iterator[float | None]:
        controller = TaintEviction(api, history, fault, evict)
        while True:
            yield controller.step()

    return run
