"""Where pods that are not bound would fit: then it is the scheduler's failure that a Given is not carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muster.assertions.allocation import fits, free_resources
from muster.assertions.invariants import excluding_taints, tolerated
from muster.recording.history import History
from muster.recording.pod_history import PodHistory

Allowed = Callable[[PodHistory, str], bool]  # whether the scenario lets the pod be bound to that node


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
