"""Wrong writes about pods: deleted, preempted, bound, held or created without a reason."""

from __future__ import annotations

from muster.cluster.api import STRATEGIC_PATCH
from muster.cluster.resources import EVENT, POD
from muster.environment import ScenarioContext
from muster.recording.conventions import BY_SCHEDULER
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.questions import Question
from tests.mutation.injection.registry import recorded, wrong_write

_GPU = "nvidia.com/gpu"
_TOO_MANY_GPUS = {_GPU: "99"}
_LARGE = {
    "name": "main",
    "image": "training",
    "resources": {"requests": _TOO_MANY_GPUS, "limits": _TOO_MANY_GPUS},
}
_RECORDED_WITHIN = 10.0  # seconds


@wrong_write
def pod_is_deleted(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A running pod is deleted without a reason."""
    return _delete(scenario, chosen_pod(scenario, names))


@wrong_write
def unfinished_pods_are_deleted(scenario: ScenarioContext, _names: tuple[str, ...]) -> Question:
    """All pods that have not finished are deleted."""
    pods = [pod for pod in present_pods(scenario) if not pod.ended]
    return [_delete(scenario, pod) for pod in pods][-1]


@wrong_write
def pod_is_preempted(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A pod is preempted, and no pod needs its resources."""
    pod = chosen_pod(scenario, names)
    mark = {"type": "DisruptionTarget", "status": "True", "reason": BY_SCHEDULER, "message": "injected fault"}
    scenario.api.patch(
        POD,
        pod.name,
        {"status": {"conditions": [mark]}},
        namespace=pod.namespace,
        subresource="status",
        content_type=STRATEGIC_PATCH,
    )
    return _delete(scenario, pod)


@wrong_write
def pending_pods_are_bound(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """Pending pods are bound, whether anything allows it or not."""
    known = set(pod_names(scenario, names))
    pods = [pod for pod in present_pods(scenario) if not pod.bound and (not names or pod.name in known)]
    node = newest_node(scenario.recording.history)
    for pod in pods:
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod.name}, "target": target}
        scenario.api.post(POD.path(pod.namespace, pod.name, "binding"), body)
    return recorded("the pods bound", lambda _: pods and all(pod.bound for pod in pods))


@wrong_write
def one_pending_pod_is_bound(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """One pod of a gang is bound, and no other pod of it."""
    return pending_pods_are_bound(scenario, pod_names(scenario, names)[:1])


@wrong_write
def gates_are_removed(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """The scheduling gates of pods are removed by a component that does not own them, and the pods are bound."""
    pods = scenario.recording.history.pods_named(pod_names(scenario, names))
    for pod in pods:
        scenario.api.patch(POD, pod.name, {"spec": {"schedulingGates": None}}, namespace=pod.namespace)
    return pending_pods_are_bound(scenario, names)


@wrong_write
def victim_names_another_preemptor(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """An event on a victim names a pod that has not preempted it."""
    history = scenario.recording.history
    pod = next(pod for pod in history.pods_named(names) if pod.disrupted)
    involved = {"apiVersion": "v1", "kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": pod.uid}
    before = len(list(history.events("Preempted", about=pod.uid)))
    event = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": f"{pod.name}.injected", "namespace": pod.namespace},
        "involvedObject": involved,
        "type": "Normal",
        "reason": "Preempted",
        "message": f"Preempted by {pod.namespace}/{pod.name} on node {pod.node}",
    }
    scenario.api.create(event)
    return recorded("the event", lambda now: len(list(now.events("Preempted", about=pod.uid))) > before)


@wrong_write
def finalizers_are_removed(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """The finalizers of a pod are removed by a component that does not own them."""
    pod = scenario.recording.history.pods_named(names)[0]
    scenario.api.patch(POD, pod.name, {"metadata": {"finalizers": None}}, namespace=pod.namespace)
    return recorded(f"{pod.name} gone", lambda _: pod.gone)


@wrong_write
def pod_is_removed(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A running pod is removed at once, without its grace period."""
    pod = chosen_pod(scenario, names)
    scenario.api.delete(POD, pod.name, pod.namespace, grace=0)
    return recorded(f"{pod.name} gone", lambda _: pod.gone)


@wrong_write
def pod_is_created_on_a_full_node(scenario: ScenarioContext, _names: tuple[str, ...]) -> Question:
    """A pod that requests more GPUs than there are is created on a node, past the scheduler."""
    return _create(scenario, "injected", newest_node(scenario.recording.history), _LARGE)


@wrong_write
def member_is_created_on_a_full_node(scenario: ScenarioContext, _names: tuple[str, ...]) -> Question:
    """A member of a gang that requests more GPUs than there are is created on a node, past scheduler and queue."""
    history, gang_of = scenario.recording.history, scenario.scheduler.dialect.gang_of
    metadata = next(pod.latest.metadata for pod in reversed(history.pods) if gang_of(pod.latest))
    of_gang = {"labels": dict(metadata.labels or {}), "annotations": dict(metadata.annotations or {})}
    return _create(scenario, "injected", newest_node(history), _LARGE, **of_gang)


@wrong_write
def pod_is_created_again(scenario: ScenarioContext, names: tuple[str, ...]) -> Question:
    """A pod is created once more, on another node if there is one."""
    pod = scenario.recording.history.pods_named(pod_names(scenario, names))[0]
    scenario.api.delete(POD, pod.name, pod.namespace, grace=0)
    scenario.recording.wait(recorded(f"{pod.name} gone", lambda _: pod.gone), within=_RECORDED_WITHIN)
    node = newest_node(scenario.recording.history, without=pod.node)
    return _create(scenario, pod.name, node, {"name": "main", "image": "training"})


def _create(scenario: ScenarioContext, name: str, node: str, container: object, **more: object) -> Question:
    spec = {"nodeName": node, "containers": [container]}
    metadata = {"name": name, "namespace": scenario.namespace, **more}
    created = scenario.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    uid = created["metadata"]["uid"]
    return recorded(f"{name} created", lambda now: (found := now.pod(name)) and found.uid == uid)


def _delete(scenario: ScenarioContext, pod: PodHistory) -> Question:
    scenario.api.delete(POD, pod.name, pod.namespace)
    return recorded(f"{pod.name} deleted", lambda _: pod.deleting or pod.gone)


def chosen_pod(scenario: ScenarioContext, names: tuple[str, ...]) -> PodHistory:
    """One of these pods, gangs or jobs that is still there; of all pods if none is named. A running one if possible."""
    known, removed = pod_names(scenario, names), scenario.recording.history.removed_on_purpose
    if names:
        ran = recorded("a pod running", lambda now: any(pod.running for pod in now.pods_named(known)))
        scenario.recording.wait(ran, within=_RECORDED_WITHIN)
    found = [pod for pod in present_pods(scenario) if pod.name in known] if names else present_pods(scenario)
    counted = [pod for pod in found if pod.uid not in removed] or [_bystander(scenario)]
    return next((pod for pod in counted if pod.running and not pod.ended), counted[0])


def _bystander(scenario: ScenarioContext) -> PodHistory:
    """A pod of another owner, where all pods of the scenario have ended."""
    history = scenario.recording.history
    question = _create(scenario, "bystander", newest_node(history), {"name": "main", "image": "training"})
    scenario.recording.wait(question, within=_RECORDED_WITHIN)
    return history.pods_named(("bystander",))[0]


def pod_names(scenario: ScenarioContext, names: tuple[str, ...]) -> tuple[str, ...]:
    """The pods of these names, and those of gangs and jobs of these names."""
    return tuple(pod for name in names for pod in scenario.groups.members(name) or (name,))


def present_pods(scenario: ScenarioContext) -> list[PodHistory]:
    """The pods that are there and are not being deleted."""
    return [pod for pod in scenario.recording.history.pods if not pod.gone and not pod.deleting]


def newest_node(history: History, *, without: str = "") -> str:
    """The newest one; another one than `without` if there is any."""
    found = [name for name, node in history.nodes.items() if node.gone is None and not node.is_probe]
    return ([name for name in found if name != without] or found)[-1]
