"""The running pods of a Given: one that fits and is not bound is a failure of the scheduler, all else is an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muster.assertions.allocation import fits, free_resources
from muster.assertions.evaluation import Recording
from muster.assertions.invariants import excluding_taints, tolerated
from muster.assertions.pods import runs
from muster.errors import ConformanceFailure, HarnessError
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.questions import all_of, eventually
from muster.schedulers.requests import PodRequest

Allowed = Callable[[PodHistory, str], bool]  # whether the scenario lets the pod be bound to that node


def wait_until_running(recording: Recording, requests: Sequence[PodRequest], gang: str = "") -> None:
    """Wait until all of these pods run; the pods of a gang only count as fitting if all of them fit together."""
    names = [request.name for request in requests]
    wanted = f"gang {gang} running" if gang else f"{', '.join(names)} running"
    try:
        recording.set_up(all_of(wanted, [eventually(runs(name)) for name in names]))
    except HarnessError as error:
        with recording.history.changed:
            unused = _unused_capacity(recording.history, requests, gang)
        if unused:
            raise ConformanceFailure(f"{unused}, and the scheduler binds other pods\n{error}") from None
        raise


def _unused_capacity(history: History, requests: Sequence[PodRequest], gang: str) -> str:
    """Where the pods that are not bound fit; empty if they do not."""
    node_of = {request.name: request.node for request in requests}
    pods = history.pods_named(tuple(node_of))

    def allowed(pod: PodHistory, node: str) -> bool:
        return node_of[pod.name] in ("", node)

    unbound = [pod for pod in pods if not pod.bound and not pod.deleting]
    if gang:
        is_whole = len(pods) == len(requests) and not any(pod.deleting or pod.ended for pod in pods)
        placement = placement_of_all(history, unbound, allowed) if is_whole else {}
        places = ", ".join(f"{name} on {node}" for name, node in placement.items())
        return f"the pods of gang {gang} that are not bound fit together ({places})" if places else ""
    for pod in unbound:
        if nodes := [node for node in nodes_that_fit(history, pod) if allowed(pod, node)]:
            return f"{pod.name} is not bound and fits on {', '.join(nodes)}"
    return ""


def nodes_that_fit(history: History, pod: PodHistory) -> list[str]:
    """The nodes on which the pod's requests are free now and whose taints it tolerates."""
    return [name for name in _open_nodes(history, pod) if fits(pod, free_resources(history, name, history.now))]


def placement_of_all(history: History, pods: Sequence[PodHistory], allowed: Allowed) -> dict[str, str]:
    """A node for each of these pods, on which all of them fit together now; empty if none was found.

    The largest pods choose first. That finds no placement for some sets of pods of several sizes which do fit, and
    never one for pods which do not.
    """
    free = {name: free_resources(history, name, history.now) for name in history.nodes}
    placed: dict[str, str] = {}
    for pod in sorted(pods, key=lambda pod: sorted(pod.requests.items()), reverse=True):
        nodes = [name for name in _open_nodes(history, pod) if allowed(pod, name) and fits(pod, free[name])]
        if not nodes:
            return {}
        placed[pod.name] = nodes[0]
        for resource, amount in pod.requests.items():
            free[nodes[0]][resource] -= amount
    return placed


def _open_nodes(history: History, pod: PodHistory) -> list[str]:
    return [
        name
        for name, node in history.nodes.items()
        if not node.is_probe
        and node.ready
        and all(tolerated(taint, pod.latest) for taint in excluding_taints(node.latest))
    ]
