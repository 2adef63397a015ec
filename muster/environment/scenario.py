"""The stage of one scenario: a fresh namespace, the nodes and pods that its steps ask for, and its undoing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import tenacity

from muster import timeouts
from muster.chronicle.chronicle import Chronicle
from muster.chronicle.facts import ended, gone, runs
from muster.chronicle.questions import Answer, Question, Verdict, all_of, eventually
from muster.cluster.api import STRATEGIC_PATCH, Api, ApiRefused
from muster.cluster.fenced_api import FencedApi
from muster.cluster.resources import NAMESPACE, NODE, POD, resource_of
from muster.errors import NotStaged
from muster.stage.budgets import exhausted_budget
from muster.stage.groups import Groups
from muster.stage.jobs import HOME, Jobs
from muster.stage.nodes import node_manifest, taint_manifest
from muster.subject import Subject
from muster.subject.clients import Client
from muster.subject.dialect import GATE
from muster.subject.operators import Operator
from muster.subject.requests import NodeRequest, PodRequest, Taint

_SYSTEM = "kube-system"
_START_TIMES_APART = 1.1  # seconds: start times have a resolution of one second. The one wait that cannot be an event


class Scene:
    """What steps speak to: each method changes the cluster through the subject's dialect."""

    def __init__(
        self,
        api: Api,
        subject: Subject,
        chronicle: Chronicle,
        namespace: str,
        need_operator: Callable[[str], Operator],
        client: Callable[[], Client | None] = lambda: None,
    ) -> None:
        self.api, self.subject, self.chronicle, self.namespace = api, subject, chronicle, namespace
        self.need_operator = need_operator
        self.client = client
        self.failure: BaseException | None = None  # why the scenario has failed, as soon as it has
        self._nodes: list[str] = []
        self._nodes_are_news = False  # the scheduler may not have seen the newest nodes yet
        self._classes: dict[tuple[int, bool], str] = {}
        self._requests: dict[str, PodRequest] = {}  # the newest of each name
        self._beside: list[dict[str, Any]] = []  # objects that the subject wants beside nodes
        self.groups = Groups(self)
        self.jobs = Jobs(self)

    def add_nodes(self, requests: Iterable[NodeRequest]) -> None:
        """Create nodes and wait until they are ready."""
        wanted = list(requests)
        for request in wanted:
            self._nodes.append(request.name)
            self.api.create(node_manifest(request, self.subject.dialect.node_labels))
            for manifest in self.subject.dialect.beside(request):
                self.api.ensure(manifest)
                self._beside.append(manifest)
        self.chronicle.staged(_nodes_ready([request.name for request in wanted]))
        self._nodes_are_news = True

    def touch(self) -> None:
        """Something was changed just now: quiet begins anew."""
        history = self.chronicle.history
        with history.changed:
            history.last_stir = time.monotonic()

    def create(self, manifest: dict[str, Any]) -> None:
        """An object of the subject's own kind."""
        self._let_nodes_be_seen()
        self._admit(manifest)
        self.touch()

    def change(self, manifest: dict[str, Any]) -> None:
        """An object that the subject brought along gets other content; the scheduler has seen it by the next step."""
        if isinstance(self.api, FencedApi):
            raise NotStaged(f"{manifest['metadata']['name']} is not ours to change on this cluster")
        meta = manifest["metadata"]
        self.api.patch(resource_of(manifest), meta["name"], manifest, namespace=meta.get("namespace"))
        self._nodes_are_news = True  # a canary more, as for budgets
        self.touch()

    def next_node_name(self) -> str:
        return f"gpu-{len(self._nodes) + 1}"

    def submit(self, *requests: PodRequest) -> None:
        """Create pods; the scheduler has seen every node by then."""
        self._let_nodes_be_seen()
        for request in requests:
            self._create_pod(request)
        self.touch()

    def running(self, requests: Iterable[PodRequest], *, apart: bool = False) -> None:
        """Create pods and wait until all of them run; `apart` lets each start in a later second than the one before."""
        groups = [[request] for request in requests] if apart else [list(requests)]
        for number, group in enumerate(groups):
            if number:
                self.next_second()
            self.submit(*group)
            names = [request.name for request in group]
            self.chronicle.staged(all_of(f"{', '.join(names)} running", [eventually(runs(name)) for name in names]))
        self.touch()

    def next_second(self) -> None:
        """What is created from now on is younger, by the clock of the API, than what is there."""
        time.sleep(_START_TIMES_APART)

    def finish(self, *pods: str) -> None:
        """Let the processes of these pods come to a good end, together."""
        mark = {"metadata": {"annotations": {"muster.dev/exit-code": "0"}}}
        for pod in pods:
            self.api.patch(POD, pod, mark, namespace=self.chronicle.history.elsewhere.get(pod, self.namespace))
        self.chronicle.staged(all_of(f"{', '.join(pods)} at an end", [eventually(ended(pod)) for pod in pods]))
        self.touch()

    def remove(self, pod: str) -> None:
        """Delete a pod as its owner would, and wait until it is gone."""
        life = self.chronicle.history.pod(pod)
        if pod in self._requests and not (life and life.ended):
            self.subject.dialect.lose(self._requests[pod])
        self.api.delete(POD, pod, self.namespace)
        if life is not None:
            self.chronicle.history.removed_on_purpose.add(life.uid)
        self.chronicle.staged(eventually(gone(pod)))
        self.touch()

    def replace(self, pod: str, by: str) -> None:
        """A pod like another one under a new name, as a controller makes it when the old one is asked to go."""
        self.submit(replace(self._requests[pod], name=by))

    def ungate(self, pod: str) -> None:
        """Nothing of ours keeps the scheduler from looking at it any more; others may have gates of their own."""
        lifted = {"spec": {"schedulingGates": [{"name": GATE, "$patch": "delete"}]}}
        self.api.patch(POD, pod, lifted, namespace=self.namespace, content_type=STRATEGIC_PATCH)
        self.touch()

    def protect(self, *pods: str) -> None:
        """A disruption budget that spares none of them, and that the scheduler can have seen by the next step."""
        exhausted_budget(self.api, self.namespace, pods)
        self._nodes_are_news = True  # a canary more: budgets come to the scheduler by a watch of their own
        self.touch()

    def taint(self, node: str, *taints: Taint) -> None:
        """Replace the taints of a node; none at all removes them."""
        self._change_node(node, {"spec": {"taints": [taint_manifest(taint) for taint in taints] or None}})

    def cordon(self, node: str, *, on: bool) -> None:
        self._change_node(node, {"spec": {"unschedulable": on or None}})

    def silence(self, node: str) -> None:
        """A node of which nothing is heard any more: what the node controller would say of it."""
        unknown = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
        patch = {"status": {"conditions": [unknown]}}
        self.api.patch(NODE, node, patch, subresource="status", content_type=STRATEGIC_PATCH)
        self.touch()

    @contextmanager
    def scheduler_paused(self) -> Iterator[None]:
        """Rivals are created while the scheduler looks away, so that they truly compete."""
        self._let_nodes_be_seen()
        self.subject.pause()
        try:
            yield
        finally:
            self.subject.resume()
            self.touch()

    def configure(self, **policy: str) -> None:
        """The scheduler goes on with other settings until the scene is over."""
        self.subject.configure(policy)
        self.chronicle.prove_live()
        self.touch()

    def priority_class(self, value: int, *, preempts: bool = True, name: str = "") -> str:
        """The name of a PriorityClass of that value, created when it is first asked for."""
        found = self._classes.get((value, preempts))
        if found and name in ("", found):
            return found
        chosen = name or f"{'priority' if preempts else 'patient'}-{value}"
        manifest = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": chosen},
            "value": value,
            "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never",
        }
        self.api.ensure(manifest)
        self._classes[value, preempts] = chosen
        return chosen

    def strike(self) -> None:
        """Take everything down by force; the namespace goes in the background."""
        self.subject.resume()
        self.jobs.stop()
        if self.subject.policy:
            self.subject.configure({})
        self.api.delete_all(POD, self.namespace, gracePeriodSeconds="0")
        for pod in self.chronicle.history.elsewhere:
            self.api.delete(POD, pod, _SYSTEM, grace=0)
        for node in self._nodes:
            self.api.delete(NODE, node, grace=0)
        for manifest in self._beside:
            self.api.delete(resource_of(manifest), manifest["metadata"]["name"])
        self.groups.strike()
        self.jobs.strike()
        if self.namespace == HOME:
            self._leave_nobody_at_home()
        else:
            self.api.delete(NAMESPACE, self.namespace)

    def _leave_nobody_at_home(self) -> None:
        """A namespace that stays is shared with the next scene: a controller may have replaced a pod meanwhile."""
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(bool),
            wait=tenacity.wait_fixed(0.05),
            stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        )

        def left() -> list[Any]:
            self.api.delete_all(POD, self.namespace, gracePeriodSeconds="0")
            found: list[Any] = self.api.list(POD, self.namespace)["items"]
            return found

        attempts(left)

    def _let_nodes_be_seen(self) -> None:
        if self._nodes_are_news:
            self.chronicle.prove_live()
            self._nodes_are_news = False

    def _change_node(self, node: str, patch: dict[str, Any]) -> None:
        self.api.patch(NODE, node, patch)
        self._nodes_are_news = True
        self.touch()

    def _create_pod(self, request: PodRequest) -> None:
        if request.priority is not None and not request.priority_class:
            chosen = self.priority_class(request.priority, preempts=request.may_preempt)
            request = replace(request, priority_class=chosen)
        self._requests[request.name] = request
        if request.system and isinstance(self.api, FencedApi):
            raise NotStaged(f"{_SYSTEM} is not ours to put pods into on this cluster")
        if request.system:
            self.chronicle.history.elsewhere[request.name] = _SYSTEM
        self._admit(self.subject.dialect.pod(request, _SYSTEM if request.system else self.namespace))

    def _admit(self, manifest: dict[str, Any]) -> None:
        """Admission looks priority classes up in a cache of its own, which may be some milliseconds behind."""
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_class_not_seen_yet),
            wait=tenacity.wait_fixed(0.02),
            stop=tenacity.stop_after_delay(timeouts.API_TRANSIENT),
            reraise=True,
        )
        attempts(self.api.create, manifest)


def _class_not_seen_yet(problem: BaseException) -> bool:
    return isinstance(problem, ApiRefused) and problem.status == 403 and "PriorityClass" in problem.message


def _nodes_ready(names: list[str]) -> Question:
    def ask(history: Any) -> Answer:
        missing = [name for name in names if name not in history.nodes or not history.nodes[name].ready]
        return Answer(Verdict.OPEN, f"not ready: {', '.join(missing)}") if missing else Answer(Verdict.YES)

    return Question(f"nodes {', '.join(names)} ready", ask)
