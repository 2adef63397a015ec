"""Fault injector: a process beside the scheduler that does what a broken scheduler would do, so that scenarios fail.

`MUSTER_FAULT_INJECTOR="python tests/mutation/fault_injector.py binds-every-pod" muster run` starts it beside the
scheduler. MODES has the names; what each of them does wrong is the description of the mutant of that name. A mode is
an iterator: it acts at every change, and yields the seconds after which it wants to act again without one.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from muster.assertions.preemption import victims
from muster.assertions.taint_eviction import BY_TAINT
from muster.cluster.api import STRATEGIC_PATCH, Api, ApiRefused
from muster.cluster.resources import POD
from muster.cluster.run_scope import open_api
from muster.recording.conventions import BY_SCHEDULER
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.recorder import Recorder
from tests.mutation.taint_eviction import TAINT_FAULTS, evict_by_taint


def bind(api: Api, pod: PodHistory, node: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    with contextlib.suppress(ApiRefused):  # the real scheduler was faster
        api.post(POD.path(pod.namespace, pod.name, "binding"), body)


def evict(api: Api, pod: PodHistory, *, without_condition: bool = False, reason: str = BY_SCHEDULER) -> None:
    if not without_condition:
        mark = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "injected fault"}
        api.patch(
            POD,
            pod.name,
            {"status": {"conditions": [mark]}},
            namespace=pod.namespace,
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )
    api.delete(POD, pod.name, pod.namespace)


def bind_every_pod(api: Api, history: History) -> Iterator[float | None]:
    done: set[str] = set()
    while True:
        for pod in history.pods:
            nodes = [name for name, node in history.nodes.items() if node.gone is None and not node.is_probe]
            if pod.uid not in done and pod.bound is None and nodes:
                done.add(pod.uid)
                bind(api, pod, nodes[-1])
        yield None


def evict_all_lower_priority_pods(api: Api, history: History) -> Iterator[float | None]:
    done: set[str] = set()
    while True:
        gone = victims(history)
        for pod in history.pods if gone else []:
            if pod.uid not in done and pod.bound and not pod.deleting and pod.namespace == gone[-1].namespace:
                pending = [other for other in history.pods if other.priority > pod.priority and other.deleting is None]
                if pending:
                    done.add(pod.uid)
                    evict(api, pod)
        yield None


def evict_for_every_pending_pod(
    api: Api, history: History, *, without_condition: bool = False
) -> Iterator[float | None]:
    done: set[str] = set()
    while True:
        for pod in history.pods:
            running = [o for o in history.pods if o.running and not o.deleting and o.namespace == pod.namespace]
            if pod.uid not in done and pod.scheduling_failed and running:
                done.add(pod.uid)
                evict(api, running[-1], without_condition=without_condition)
            elif (
                pod.uid not in done
                and not without_condition
                and running
                and running[0].uid != pod.uid
                and pod.bound is None
            ):
                done.add(pod.uid)
                evict(api, running[0])
        yield None


def evict_without_condition(api: Api, history: History) -> Iterator[float | None]:
    yield from evict_for_every_pending_pod(api, history, without_condition=True)


def evict_tolerating_pods(api: Api, history: History) -> Iterator[float | None]:
    done: set[str] = set()
    while True:
        for pod in history.pods:
            node = history.nodes.get(pod.node) if pod.bound and not pod.deleting else None
            evicted = node is not None and any(taint.effect == "NoExecute" for taint in node.latest.spec.taints)
            if evicted and pod.uid not in done:
                done.add(pod.uid)
                evict(api, pod, reason=BY_TAINT)
        yield None


MODES = {
    "binds-every-pod": bind_every_pod,
    "evicts-all-lower-priority-pods": evict_all_lower_priority_pods,
    "evicts-for-every-pending-pod": evict_for_every_pending_pod,
    "evicts-without-condition": evict_without_condition,
    "evicts-tolerating-pods": evict_tolerating_pods,
    **{name: evict_by_taint(fault, evict) for name, fault in TAINT_FAULTS.items()},
}


def main() -> None:
    mode, kubeconfig = sys.argv[1:3]
    api = open_api(Path(kubeconfig))
    history = Recorder(api).start().open(History())
    fault = MODES[mode](api, history)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fault-injector-ready"}})
    with history.changed:
        while True:
            history.changed.wait(next(fault))


if __name__ == "__main__":
    main()
