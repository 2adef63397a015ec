"""The context of one scenario: a new namespace, the nodes and pods that its steps create, and its cleanup."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import tenacity

from muster import progress, timeouts
from muster.arena.clients import Client
from muster.assertions.evaluation import Recording
from muster.assertions.pods import deleting, ended, gone
from muster.cluster.api import STRATEGIC_PATCH, Api, ApiRefused
from muster.cluster.interface import Cluster
from muster.cluster.resources import NAMESPACE, NODE, POD, resource_of
from muster.cluster.run_scope import DEFAULT_NAMESPACE, ScopedApi
from muster.environment.cluster_objects import priority_class_manifest, taint_manifest, unreachable_status
from muster.environment.created_objects import CreatedObjects
from muster.environment.given_pods import wait_until_running
from muster.environment.kubectl_script import PAUSE, RESTART, RESUME, KubectlScript
from muster.environment.pod_faults import PodFaults
from muster.environment.podgroups import Groups
from muster.environment.preconditions import create_exhausted_budget
from muster.environment.refused_requests import RefusedBindings, RefusedCreations
from muster.environment.simulated_nodes import SimulatedNodes
from muster.environment.training_jobs import TrainingJobs
from muster.errors import HarnessError, NotStaged
from muster.operators.base import Operator, OperatorSettings
from muster.recording.questions import all_of, eventually
from muster.schedulers import Scheduler
from muster.schedulers.dialect import GATE, Dialect
from muster.schedulers.requests import NodeRequest, PodRequest, Taint

_SYSTEM = "kube-system"
_OTHER_SCHEDULER = Dialect("muster-no-such-scheduler")  # no scheduler of this name runs anywhere
_START_TIMES_APART = 1.1  # seconds: start times have a resolution of one second. The one wait that cannot be an event


class ScenarioContext:
    """The interface of steps to the cluster: each method changes it through the scheduler's dialect.

    `require_operator` and `client` start the training operator and another client when they are first needed.
    """

    def __init__(
        self,
        api: Api,
        scheduler: Scheduler,
        recording: Recording,
        namespace: str,
        ensure_operator: Callable[[OperatorSettings], Operator],
        client: Callable[[], Client],
        create_namespace: Callable[[str], None],
        script: KubectlScript,
        created: CreatedObjects,
        nodes: SimulatedNodes,
    ) -> None:
        self.api, self.scheduler, self.recording, self.namespace = api, scheduler, recording, namespace
        self.ensure_operator = ensure_operator
        self.client = client
        self._create_namespace = create_namespace
        self.script = script  # the scenario as kubectl commands
        self._created = created
        self.nodes = nodes
        self.other_namespaces: dict[str, str] = {}  # by the name that the scenario uses
        self.failure: BaseException | None = None  # why the scenario has failed, if it has
        self._scheduler_may_lag = False  # it may not have seen the newest nodes, budgets or settings yet
        self._classes: dict[tuple[int, bool], str] = {}
        self._requests: dict[str, PodRequest] = {}  # the newest of each name
        self._node_objects: list[dict[str, Any]] = []  # objects that the scheduler needs for nodes
        self.groups = Groups(self)
        self.jobs = TrainingJobs(self)
        self.faults = PodFaults(self)
        self.refused_bindings = RefusedBindings(self)
        self.refused_creations = RefusedCreations(self)

    def add_nodes(self, requests: Iterable[NodeRequest]) -> None:
        """Create nodes and wait until they are ready."""
        wanted = list(requests)
        for request in wanted:
            self.nodes.add(request)
            own = self.nodes.has_own_objects(request.name)
            for manifest in self.scheduler.dialect.node_objects(request) if own else ():
                self.api.ensure(manifest)
                self._node_objects.append(manifest)
        self.recording.set_up(self.nodes.ready(wanted))
        self.nodes.open(wanted)
        self._scheduler_may_lag = True

    def add_namespace(self, name: str) -> None:
        """Another namespace of the scenario; its full name has that of the scenario, and so belongs to the run."""
        self.other_namespaces[name] = f"{self.namespace}-{name}"
        self._create_namespace(self.other_namespaces[name])

    def note_activity(self) -> None:
        """The scenario has just changed something: the quiet period starts again."""
        history = self.recording.history
        with history.changed:
            history.last_activity = time.monotonic()
            history.outside_changes.append(history.last_activity)

    def create_object(self, manifest: dict[str, Any]) -> None:
        """Create an object of a kind of the scheduler; it has seen every node by then."""
        self._sync_scheduler()
        self._create_with_retry(manifest)
        self.note_activity()

    def patch_object(self, manifest: dict[str, Any]) -> None:
        """Change an object that was installed with the scheduler; it has seen the change by the next step."""
        if isinstance(self.api, ScopedApi):
            raise NotStaged(f"Muster does not change {manifest['metadata']['name']} on an existing cluster")
        meta = manifest["metadata"]
        self.api.patch(resource_of(manifest), meta["name"], manifest, namespace=meta.get("namespace"))
        self._scheduler_may_lag = True
        self.note_activity()

    def next_node_name(self) -> str:
        return self.nodes.next_name()

    def submit(self, *requests: PodRequest) -> None:
        """Create pods; the scheduler has seen every node by then."""
        self._sync_scheduler()
        for request in requests:
            self._create_pod(request)
        self.note_activity()

    def run_pods(self, requests: Iterable[PodRequest], *, apart: bool = False) -> None:
        """Create pods and wait until all of them run; with `apart` each starts in a later second than the previous."""
        groups = [[request] for request in requests] if apart else [list(requests)]
        for number, group in enumerate(groups):
            if number:
                self.wait_for_next_second()
            self.submit(*group)
            wait_until_running(self.recording, group)
        self.note_activity()

    def wait_for_next_second(self) -> None:
        """Objects created from now on have a later creation time, which the API rounds to seconds."""
        time.sleep(_START_TIMES_APART)

    def finish_pods(self, *pods: str) -> None:
        """Let the containers of these pods exit with 0, and wait until all pods have ended."""
        for pod in pods:
            self.remove_on_purpose(pod)
            self.nodes.end(self._namespace_of(pod), pod, 0)
        self.recording.set_up(all_of(f"{', '.join(pods)} ended", [eventually(ended(pod)) for pod in pods]))
        self.note_activity()

    def delete_pod(self, pod: str) -> None:
        """Delete a pod as its owner would, and wait until it is gone; the scheduler has seen every node by then."""
        self._sync_scheduler()
        known = self.recording.history.pod(pod)
        if pod in self._requests and not (known and known.ended):
            self.scheduler.dialect.check_pod_deletion(self._requests[pod])
        self.remove_on_purpose(pod)
        self.api.delete(POD, pod, self._namespace_of(pod))
        self.recording.set_up(eventually(gone(pod)))
        self.note_activity()

    def end_grace_periods(self, *pods: str) -> None:
        """Let these terminating pods (or all) end, and wait until they are gone; the scheduler has seen every node."""
        self._sync_scheduler()
        history = self.recording.history
        with history.changed:
            chosen = history.pods_named(pods) if pods else history.pods
            names = [pod.name for pod in chosen if (pod.disrupted or pod.deleting) and not pod.gone]
        if not names:
            raise HarnessError(f"no pod is terminating of {', '.join(pods) or 'the scenario'}")
        self.recording.must(all_of(f"{', '.join(names)} deleted", [eventually(deleting(name)) for name in names]))
        for name in names:
            self.nodes.end_grace_period(self._namespace_of(name), name)
        self.recording.set_up(all_of(f"{', '.join(names)} gone", [eventually(gone(name)) for name in names]))
        self.note_activity()

    def remove_on_purpose(self, pod: str) -> None:
        """The end of this pod is the scenario's doing, not the scheduler's."""
        if known := self.recording.history.pod(pod):
            self.recording.history.removed_on_purpose.add(known.uid)

    def replace_pod(self, pod: str, by: str) -> None:
        """Create a pod like another one under a new name, as a controller does when the old one is deleted."""
        self.submit(replace(self._requests[pod], name=by))

    def remove_scheduling_gate(self, pod: str) -> None:
        """Remove the scenario's scheduling gate; other gates of the pod stay."""
        lifted = {"spec": {"schedulingGates": [{"name": GATE, "$patch": "delete"}]}}
        self.api.patch(POD, pod, lifted, namespace=self.namespace, content_type=STRATEGIC_PATCH)
        self.note_activity()

    def protect_pods(self, *pods: str) -> None:
        """Create an exhausted PodDisruptionBudget; the scheduler has seen it by the next step."""
        create_exhausted_budget(self.api, self.namespace, pods)
        self._scheduler_may_lag = True
        self.note_activity()

    def set_taints(self, node: str, *taints: Taint) -> None:
        """Replace the taints of a node; none at all removes them."""
        self._change_node(node, {"spec": {"taints": [taint_manifest(taint) for taint in taints] or None}})

    def cordon(self, node: str, *, on: bool) -> None:
        self._change_node(node, {"spec": {"unschedulable": on or None}})

    def make_unreachable(self, node: str) -> None:
        """The node's heartbeats have stopped, as of now."""
        patch = unreachable_status(self.api.now())
        self.api.patch(NODE, node, patch, subresource="status", content_type=STRATEGIC_PATCH)
        self.note_activity()

    @contextmanager
    def scheduler_paused(self) -> Iterator[None]:
        """Pods that are created meanwhile compete: the scheduler sees all of them at once."""
        self._sync_scheduler()
        self.scheduler.pause()
        self.script.call(PAUSE)
        try:
            yield
        finally:
            self.scheduler.resume()
            self.script.call(RESUME)
            self.note_activity()

    def restart_scheduler(self) -> None:
        """Kill the scheduler, as a crash would, and start it again; it serves when this returns."""
        self.script.call(RESTART)
        self.scheduler.kill()
        self.scheduler.stop()  # releases its ports
        self.scheduler.start()
        self.recording.prove_live()
        self.note_activity()

    def configure_scheduler(self, **policy: str) -> None:
        """Run the scheduler with other settings until the end of the scenario."""
        self.script.comment(f"Start the scheduler again with {policy}.")
        self.scheduler.configure(policy)
        self.recording.prove_live()
        self.note_activity()

    def priority_class(self, value: int, *, preempts: bool = True, name: str = "") -> str:
        """The name of a PriorityClass of that value, created when it is first needed."""
        found = self._classes.get((value, preempts))
        if found and name in ("", found):
            return found
        chosen = name or f"{'priority' if preempts else 'patient'}-{value}"
        self.api.ensure(priority_class_manifest(chosen, value, preempts=preempts))
        self._classes[value, preempts] = chosen
        return chosen

    def cleanup(self) -> None:
        """Delete everything without grace; a namespace on an existing cluster is deleted in the background."""
        self.scheduler.resume()
        self.jobs.delete_controllers()
        if self.scheduler.policy:
            self.scheduler.configure({})
        self._remove_finalizers()
        self.nodes.delete_pods(self.recording.history, self.namespace)
        self.nodes.remove()
        for manifest in self._node_objects:
            self.api.delete(resource_of(manifest), manifest["metadata"]["name"])
        self.groups.cleanup()
        self.jobs.cleanup()
        self.refused_bindings.cleanup()
        self.refused_creations.cleanup()
        self.nodes.delete_late_pods(self.namespace)
        if isinstance(self.api, ScopedApi):
            for namespace in {self.namespace, *self.other_namespaces.values()} - {DEFAULT_NAMESPACE}:
                self.api.delete(NAMESPACE, namespace)
        else:
            self._created.delete(self.api)

    def _remove_finalizers(self) -> None:
        """Or the pods, and with them the namespace, would never be gone."""
        for name in [name for name, request in self._requests.items() if request.finalizer]:
            with suppress(ApiRefused):  # gone already
                self.api.patch(POD, name, {"metadata": {"finalizers": None}}, namespace=self.namespace)

    def full_namespace(self, name: str) -> str:
        """The scenario's own namespace, or the one that it calls so."""
        return self.other_namespaces[name] if name else self.namespace

    def _namespace_of(self, pod: str) -> str:
        return self.recording.history.other_namespaces.get(pod, self.namespace)

    def _sync_scheduler(self) -> None:
        if self._scheduler_may_lag:
            self.recording.prove_live()
            self._scheduler_may_lag = False

    def _change_node(self, node: str, patch: dict[str, Any]) -> None:
        self.api.patch(NODE, node, patch)
        self._scheduler_may_lag = True
        self.note_activity()

    def _create_pod(self, request: PodRequest) -> None:
        if request.priority is not None and not request.priority_class:
            chosen = self.priority_class(request.priority, preempts=request.may_preempt)
            request = replace(request, priority_class=chosen)
        self._requests[request.name] = request
        if request.system and isinstance(self.api, ScopedApi):
            raise NotStaged(f"the scenario creates a pod in {_SYSTEM}, which a run on an existing cluster never does")
        if request.finalizer and isinstance(self.api, ScopedApi):
            raise NotStaged("a killed run would leave a pod with a finalizer on the existing cluster")
        namespace = _SYSTEM if request.system else self.full_namespace(request.namespace)
        if namespace != self.namespace:
            self.recording.history.other_namespaces[request.name] = namespace
        dialect = _OTHER_SCHEDULER if request.of_another_scheduler else self.scheduler.dialect
        self._create_with_retry(self.nodes.adapt(dialect.pod_manifest(request, namespace), request))

    def _create_with_retry(self, manifest: dict[str, Any]) -> None:
        """Retry while admission does not know a new PriorityClass: its cache lags by some milliseconds."""
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_exception(_is_unknown_priority_class),
            wait=tenacity.wait_fixed(0.02),
            stop=tenacity.stop_after_delay(timeouts.API_TRANSIENT),
            reraise=True,
        )
        attempts(self.api.create, manifest)


def _is_unknown_priority_class(problem: BaseException) -> bool:
    return isinstance(problem, ApiRefused) and problem.status == 403 and "PriorityClass" in problem.message


def pause_until_interrupt(scenario: ScenarioContext, cluster: Cluster) -> None:
    """Leave a failed scenario running until ctrl-C, and say how to inspect it. SIGTERM arrives as ctrl-C as well."""
    lines = [
        *str(scenario.failure).splitlines(),
        "",
        "The scenario is left running until ctrl-C. In another terminal:",
        f"export KUBECONFIG={cluster.client_kubeconfig('admin')}",
        f"kubectl get pods,events -n {scenario.namespace}",
        f"Logs: {cluster.directory}",
    ]
    progress.send("kept", lines=lines)
    with suppress(KeyboardInterrupt), progress.waiting("ctrl-C"):
        while True:
            signal.pause()
