"""A second hand in the cluster that does what a broken scheduler would do, so that scenarios can be seen to fail.

Started by the stage when MUSTER_SABOTEUR names it: `MUSTER_SABOTEUR="python tests/saboteur.py reckless" muster run`.
  reckless     binds every new pod at once to the first node it names or finds, whatever room or taints say
  massacre     when one pod is preempted, evicts every other less important pod as well
  trigger-happy  evicts a running pod as soon as a new one asks, whether that helps or not
  silent       deletes a less important pod for a waiting one, without a condition and without an event
  merciless    drives every pod out of a node with a NoExecute taint at once, whatever it tolerates
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from muster.chronicle.evictions import BY_TAINT
from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.preemptions import BY_SCHEDULER, victims
from muster.chronicle.recorder import Recorder
from muster.cluster.api import STRATEGIC_PATCH, Api, ApiRefused
from muster.cluster.resources import POD


def bind(api: Api, pod: PodLife, node: str) -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": pod.name},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    }
    with contextlib.suppress(ApiRefused):  # the real scheduler was faster
        api.post(POD.path(pod.namespace, pod.name, "binding"), body)


def evict(api: Api, pod: PodLife, *, silently: bool = False, reason: str = BY_SCHEDULER) -> None:
    if not silently:
        mark = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "sabotage"}
        api.patch(
            POD,
            pod.name,
            {"status": {"conditions": [mark]}},
            namespace=pod.namespace,
            subresource="status",
            content_type=STRATEGIC_PATCH,
        )
    api.delete(POD, pod.name, pod.namespace)


def reckless(api: Api, history: History) -> Iterator[None]:
    done: set[str] = set()
    while True:
        for pod in history.pods:
            nodes = [name for name, node in history.nodes.items() if node.gone is None and "canary" not in name]
            if pod.uid not in done and pod.bound is None and nodes:
                done.add(pod.uid)
                bind(api, pod, nodes[-1])
        yield


def massacre(api: Api, history: History) -> Iterator[None]:
    done: set[str] = set()
    while True:
        gone = victims(history)
        for pod in history.pods if gone else []:
            if pod.uid not in done and pod.bound and not pod.deleting and pod.namespace == gone[-1].namespace:
                waiting = [other for other in history.pods if other.priority > pod.priority and other.deleting is None]
                if waiting:
                    done.add(pod.uid)
                    evict(api, pod)
        yield


def trigger_happy(api: Api, history: History, *, silently: bool = False) -> Iterator[None]:
    served: set[str] = set()
    while True:
        for pod in history.pods:
            settled = [o for o in history.pods if o.running and not o.deleting and o.namespace == pod.namespace]
            if pod.uid not in served and pod.refused and settled:
                served.add(pod.uid)
                evict(api, settled[-1], silently=silently)
            elif pod.uid not in served and not silently and settled and settled[0].uid != pod.uid and pod.bound is None:
                served.add(pod.uid)
                evict(api, settled[0])
        yield


def silent(api: Api, history: History) -> Iterator[None]:
    yield from trigger_happy(api, history, silently=True)


def merciless(api: Api, history: History) -> Iterator[None]:
    done: set[str] = set()
    while True:
        for pod in history.pods:
            node = history.nodes.get(pod.node) if pod.bound and not pod.deleting else None
            driven = node is not None and any(taint.effect == "NoExecute" for taint in node.node.spec.taints)
            if driven and pod.uid not in done:
                done.add(pod.uid)
                evict(api, pod, reason=BY_TAINT)
        yield


MODES = {
    "reckless": reckless,
    "massacre": massacre,
    "trigger-happy": trigger_happy,
    "silent": silent,
    "merciless": merciless,
}


def main() -> None:
    mode, kubeconfig = sys.argv[1:3]
    api = Api.connect(Path(kubeconfig))
    history = Recorder(api).start().open(History())
    deed = MODES[mode](api, history)
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "saboteur-at-work"}})
    with history.changed:
        while True:
            next(deed)
            history.changed.wait()


if __name__ == "__main__":
    main()
