"""The environment of one worker: a cluster, a scheduler and a recorder, replaced when one of them breaks."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from muster import assets, timeouts
from muster.arena.clients import Client, choose_client
from muster.assertions.evaluation import Recording
from muster.cluster.api import Api
from muster.cluster.existing import ExistingCluster
from muster.cluster.interface import Cluster
from muster.cluster.kind import KindCluster
from muster.cluster.kind.machine_files import CPUS, GIBIBYTES
from muster.cluster.kind.training_images import KUBECTL_DELIVERY
from muster.cluster.resources import CONFIG_MAP, NODE, POD, SERVICE, TRAINING_JOBS
from muster.cluster.run_scope import DEFAULT_NAMESPACE
from muster.environment.bystander_guard import possible_preemptors_of
from muster.environment.cluster_objects import namespace_manifests
from muster.environment.created_objects import CreatedObjects
from muster.environment.existing_cluster_policy import ExistingClusterPolicy, no_scheduler_error, require_kinds
from muster.environment.fault_injector import start_fault_injector
from muster.environment.kubectl_script import KubectlScript
from muster.environment.node_plan import StepText, Workers, plan_nodes
from muster.environment.own_clusters import (
    cluster_description,
    own_cluster,
    own_scheduler,
    report_kept_files,
    scheduler_assets,
)
from muster.environment.pool_nodes import PoolNodes
from muster.environment.probe import NAME as PROBE_NAME
from muster.environment.probe import SchedulerProbe
from muster.environment.real_nodes import RealNodes
from muster.environment.scenario import ScenarioContext
from muster.environment.simulated_nodes import SimulatedNodes
from muster.errors import ConformanceFailure, HarnessError, SchedulerCrashed, SchedulerNotServing
from muster.operators import Operator, choose_operator
from muster.operators.base import OperatorSettings
from muster.operators.deployed import deployed_operator
from muster.processes import Process
from muster.recording.history import History
from muster.recording.recorder import RECORDED, Recorder
from muster.recording.records import Moment
from muster.run_options import RunOptions
from muster.schedulers import Scheduler, choose, recording_conventions


class Environment:
    """One per worker. `scenario()` returns a clean context, on a new cluster if the old one is broken."""

    def __init__(self, options: RunOptions, *, print_line: Callable[[str], None] | None = None) -> None:
        """Starts nothing yet; `print_line` prints a line to the user."""
        self._options, self._print_line = options, print_line or (lambda _: None)
        self._scheduler_class, _ = choose(options.scheduler)
        self._policy = ExistingClusterPolicy(options, self._print_line) if options.on_existing_cluster else None
        self._operator_class, self._client_class = choose_operator(options.operator), choose_client(options.client)
        self.failed = False  # set by the first failed scenario: only then is there something to keep
        self._scenarios = 0
        self._live: Sequence[Process] | None = None  # the scheduler's processes that have bound a probe pod
        self._crashes: list[str] = []  # of the scheduler, in this scenario
        self._fault_injector: Process | None = None
        self.cluster: Cluster | None = None
        self.operator: Operator | None = None
        self._client: Client | None = None

    def start(self) -> None:
        try:
            self._start()
        except BaseException:
            self.failed = self._policy is None  # keep the logs; on an existing cluster nothing is kept
            self.stop()
            raise

    def _start(self) -> None:
        if self._policy:
            cluster = self._policy.new_cluster()
            self.cluster = cluster
            self.api: Api = cluster.start().api
            self.scheduler: Scheduler = self._policy.new_scheduler(cluster)
            self._policy.watch_bystanders(cluster, self.scheduler, self._possible_preemptors)
        else:
            files = assets.ensure(scheduler_assets(self._options), print_line=self._print_line)
            self.cluster = own_cluster(self._options, self._print_line)
            self.api = self.cluster.start().api
            self.scheduler = own_scheduler(self.cluster, self._options.scheduler, files)
        self.api.guard = self.cluster.check
        self.scheduler.install(self.api)
        self.recorder = Recorder(self.api, (*RECORDED, *self.scheduler.dialect.recorded_kinds())).start()
        self.scheduler.start()
        self._fault_injector = start_fault_injector(self.cluster, self.api)
        if not self._run_namespace:
            self._create_namespace(PROBE_NAME)
        self.probe = SchedulerProbe(
            self.api, self.scheduler.dialect, self._run_namespace or PROBE_NAME, self._check_or_restart
        )
        self.probe.install()
        if isinstance(self.cluster, ExistingCluster):
            self._require_live_scheduler()
            self.cluster.check_namespaces()  # again: controllers may add limits some time after the creation

    @property
    def _run_namespace(self) -> str:
        """The run's first namespace on an existing cluster; empty on a cluster of Muster's own."""
        return self.cluster.scope.token if isinstance(self.cluster, ExistingCluster) else ""

    def _require_live_scheduler(self) -> None:
        """The scheduler that is expected there binds a pod, before any scenario relies on it."""
        history = self.recorder.open(History(self._run_namespace))
        try:
            self._prove_live(history)
        except HarnessError as error:
            self.check()
            raise no_scheduler_error(self.scheduler, error) from None

    def _prove_live(self, history: History) -> Moment:
        """Run the probe. After a start of the scheduler it may take as long as the start does."""
        processes, began = self.scheduler.processes, time.monotonic()
        try:
            moment = self.probe.run(history, timeouts.PROBE if processes == self._live else timeouts.COMPONENT_READY)
        except SchedulerNotServing as error:
            if self._policy and not processes:  # in the cluster: it may have been stopped there
                raise self._policy.not_serving_error(error, began) from None
            raise SchedulerNotServing(f"{error}; last log lines:\n{self.scheduler.last_log_lines()}") from None
        self._live = processes
        if self._policy and not processes:
            self._policy.note_serving()
        return moment

    def _possible_preemptors(self, priority: int) -> list[str]:
        history = self.recorder.history if hasattr(self, "recorder") else None
        if history is None:
            return []
        return possible_preemptors_of(history, priority, reclaims=self.scheduler.dialect.queue_kind is not None)

    def check(self) -> None:
        """Raise when a component of the control plane, the scheduler, the operator or a watch has died."""
        assert self.cluster is not None
        self.cluster.check()
        self.scheduler.check()
        if self._policy:
            self._policy.check()
        if self.operator is not None:
            self.operator.check()
        self.recorder.check()

    def _check_scenario(self, history: History, reproduce: str, nodes: SimulatedNodes | None = None) -> None:
        """What a scenario relies on: all processes run, all is recorded, its nodes have no pods of other tenants."""
        self._check_or_restart()
        if nodes is not None:
            nodes.check(history)
        with history.changed:  # no answer from a history that a watch does not write to: it comes back, or is an error
            while not self.recorder.is_complete:
                history.changed.wait(timeouts.HEALTH_CHECK)
                self._check_or_restart()
        if self._policy:
            self._policy.check_nodes(history, reproduce)

    def _check_or_restart(self) -> None:
        """A crashed scheduler is restarted, as a kubelet would: the scenario goes on, but a second crash fails it."""
        try:
            self.check()
            return
        except SchedulerCrashed as crash:
            if not self._scenarios:
                raise
            self._crashes.append(str(crash))
        if len(self._crashes) > 1:
            seen = "\n".join(["it crashed twice in this scenario", *self._crashes])
            raise ConformanceFailure(f"wanted   the scheduler running until the scenario ends\nseen     {seen}")
        self.scheduler.stop()
        self.scheduler.start()

    def ensure_operator(self, settings: OperatorSettings) -> Operator:
        """Start the training operator when a scenario first needs it: most never do."""
        if self.operator is not None:
            self.operator.configure(settings)
            self.operator.wait_until_ready()
            return self.operator
        if self._policy:
            require_kinds(self.api, TRAINING_JOBS)
        self.operator = self._new_operator()
        if not self._policy:
            self.operator.install(self.api)
        for resource in (*TRAINING_JOBS, SERVICE, CONFIG_MAP):
            self.recorder.follow(resource)
        self.operator.settings = settings
        if isinstance(self.cluster, KindCluster) and self.cluster.workers:
            self.operator.kubectl_image = KUBECTL_DELIVERY
        self.operator.start()
        self.operator.wait_until_ready()
        return self.operator

    def _new_operator(self) -> Operator:
        """Beside the cluster, unless it was installed there with the scheduler."""
        context, dialect = self.scheduler.context, self.scheduler.dialect
        if isinstance(self.cluster, KindCluster) and self.cluster.installation and self.cluster.installation.operator:
            deployment = self.cluster.installation.operator
            return deployed_operator(self._operator_class, context, dialect, self.cluster, deployment)
        files = assets.ensure(self._operator_class.assets, print_line=self._print_line)
        return self._operator_class(replace(context, assets=files), dialect)

    def client(self) -> Client:
        """The command-line client that was chosen for the run, installed."""
        if self._client is None:
            files = assets.ensure(self._client_class.assets, print_line=self._print_line)
            context = self.scheduler.context
            self._client = self._client_class(context.directory, context.admin_kubeconfig, files)
            self._client.install()
        return self._client

    def scenario(self, requirement: str, *, namespace: str = "", steps: Sequence[StepText] = ()) -> ScenarioContext:
        """A clean context in a new namespace, or in `namespace`, with a scheduler that is proven live.

        `steps` decide whether it runs on real nodes, where the cluster has any.
        """
        self._ensure_healthy()
        nodes = self._nodes_for(requirement, steps)
        self._scenarios += 1
        self._crashes.clear()
        script_name = namespace or requirement.lower()
        if not namespace:
            namespace = f"{self._run_namespace or f'muster-{os.getpid()}'}-{self._scenarios}"
        cluster = f"muster up --nodes 0 --scheduler {self._options.scheduler}"
        script = KubectlScript(namespace, script_name, cluster)
        created = CreatedObjects()
        self.api.on_write = created.and_for(script.write)
        if namespace != DEFAULT_NAMESPACE:
            self._create_namespace(namespace)
        tolerance = 0.0 if self.api.versions_compare else timeouts.RECORD_ORDER_TOLERANCE
        history = self.recorder.open(
            History(
                namespace,
                tolerance=tolerance,
                conventions=recording_conventions(self.scheduler.dialect),
                unused_nodes=self._unused_nodes(nodes),
            )
        )
        reproduce = f"{self._options.command} --only {requirement} --keep"
        recording = Recording(
            history,
            check_health=lambda: self._check_scenario(history, reproduce, nodes),
            prove_nodes=nodes.prove_live,
            probe=lambda: self._prove_live(history),
            longest_backoff=self.scheduler.longest_backoff,
            reproduce=reproduce,
        )
        recording.prove_live()
        history.began = time.monotonic()
        return ScenarioContext(
            self.api,
            self.scheduler,
            recording,
            namespace,
            self.ensure_operator,
            self.client,
            self._create_namespace,
            script,
            created,
            nodes,
        )

    def _nodes_for(self, requirement: str, steps: Sequence[StepText]) -> SimulatedNodes:
        """Real ones where the cluster has workers that can hold the scenario; the simulators run only where not."""
        labels = dict(self.scheduler.dialect.node_labels)
        if self._policy and isinstance(self.cluster, ExistingCluster):
            if given := self._policy.plan(self.cluster, requirement, steps):
                return PoolNodes(self.api, labels, given, self.cluster.use_nodes)
            return SimulatedNodes(self.api, labels)
        if not isinstance(self.cluster, KindCluster) or not self.cluster.workers:
            return SimulatedNodes(self.api, labels)
        workers = Workers(self.cluster.workers, CPUS, f"{GIBIBYTES}Gi")
        plan = plan_nodes(requirement, steps, workers, asked=self._options.node_type)
        used = plan.real.values()
        self.cluster.set_gpus({worker: 0 for worker in self.cluster.workers if worker not in used})
        self.cluster.simulate(on=not plan.real)
        return RealNodes(self.api, labels, plan, self.cluster) if plan.real else SimulatedNodes(self.api, labels, plan)

    def _unused_nodes(self, nodes: SimulatedNodes) -> frozenset[str]:
        """Real nodes that the scenario does not use."""
        used = frozenset(nodes.plan.real.values() if nodes.plan else ())
        if isinstance(self.cluster, ExistingCluster) and self.cluster.scope.pool:
            return frozenset(self.cluster.scope.pool.nodes) - used
        return frozenset(self.cluster.nodes) - used if isinstance(self.cluster, KindCluster) else frozenset()

    def cleanup(self, scenario: ScenarioContext) -> None:
        """Delete the objects of a scenario; if that fails because a component died, raise that error.

        A scenario in which the scheduler crashed once has no verdict: it may have been the machine.
        """
        self.api.on_write = lambda _: None
        try:
            scenario.cleanup()
        except HarnessError:
            self.check()
            raise
        if len(self._crashes) == 1:
            raise HarnessError(f"no verdict, because the scheduler crashed once and was restarted: {self._crashes[0]}")

    def facts(self) -> dict[str, str]:
        """Where and with what the verdicts were made, for the reader of the report."""
        server = json.loads(self.api.read("/version"))["gitVersion"]
        options = self._options
        where = self._policy.description if self._policy else cluster_description(options)
        others = {"operator": self._operator_class.title(), "client": options.client}
        if isinstance(self.cluster, KindCluster) and self.cluster.workers:
            others["real nodes"] = self.cluster.describe_workers()
        if self._policy and isinstance(self.cluster, ExistingCluster):
            pool = self._policy.describe_pool(self.cluster)
            others |= {"real nodes": pool} if pool else {}
        return {"cluster": where, "kubernetes": server, **self.scheduler.settings(), **others}

    def leaks(self) -> list[str]:
        """Nodes and pods that scenarios left behind."""
        nodes = self.api.list(NODE)["items"]
        pods = self.api.list(POD)["items"]
        left = [f"node {one['metadata']['name']}" for one in nodes if one["metadata"]["name"] != PROBE_NAME]
        left += [f"pod {one['metadata']['namespace']}/{one['metadata']['name']}" for one in pods]
        return left

    @property
    def keeps_failures(self) -> bool:
        """Whether --keep leaves the objects of a failed scenario; on Muster's own clusters it keeps the files."""
        return self._options.keep and self._policy is not None

    @property
    def left(self) -> list[str]:
        """Objects of a run on an existing cluster that could not be deleted, by name."""
        return self._policy.left if self._policy else []

    @property
    def alarm(self) -> str:
        """Why the whole run must end; empty if it need not."""
        return self._policy.alarm if self._policy else ""

    def stop(self) -> None:
        if self._policy:
            self._policy.stop()
        for part in ("recorder", "scheduler"):
            if hasattr(self, part):
                getattr(self, part).stop()
        if self.operator is not None:
            self.operator.close()
            self.operator = None
        self._client = None
        if self._fault_injector is not None:
            self._fault_injector.kill()
        if self.cluster is not None:
            self.cluster.keep = self._options.keep and self.failed
            self.cluster.stop()
            report_kept_files(self.cluster, self._print_line)
            if self._policy and isinstance(self.cluster, ExistingCluster):
                self._policy.left = self.cluster.left
            self.cluster = None

    def _ensure_healthy(self) -> None:
        try:
            self.check()
        except HarnessError:
            if self.alarm:  # a new start would only repeat it
                raise
            self.stop()
            self.start()

    def _create_namespace(self, name: str) -> None:
        if isinstance(self.cluster, ExistingCluster):
            self.cluster.add_namespace(name)
            return
        namespace, account = namespace_manifests(name)
        self.api.create(namespace)
        for manifest in (account, *self.scheduler.dialect.namespace_objects(name)):
            self.api.ensure(manifest)
