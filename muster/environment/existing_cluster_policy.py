"""What a run on an existing cluster does differently: it stays in its scope, watches bystanders and checks more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from muster import assets
from muster.cluster.api import Api
from muster.cluster.existing import ExistingCluster
from muster.cluster.existing.pool_check import pool_nodes
from muster.cluster.existing.preflight import is_served
from muster.cluster.existing.rbac import served_groups
from muster.cluster.interface import Connection
from muster.cluster.kind.training_images import variables_by_reference
from muster.cluster.kubeconfig_files import Kubeconfig
from muster.cluster.node_pool import NodePool
from muster.cluster.resources import Resource
from muster.environment.bystander_guard import BystanderGuard
from muster.environment.in_cluster_scheduler import (
    SchedulerLease,
    brought_scheduler_name,
    check_existing_cluster_choices,
    scheduler_on,
)
from muster.environment.node_plan import NodePlan, StepText
from muster.environment.pool_nodes import describe_nodes, offers_of, plan_pool
from muster.errors import HarnessError, NotStaged, SchedulerNotServing
from muster.recording.history import History
from muster.run_options import RunOptions, node_labels
from muster.schedulers import Scheduler, choose, existing_cluster_objects


class ExistingClusterPolicy:
    """One per environment; `guard` watches other tenants' pods while the run is there."""

    def __init__(self, options: RunOptions, print_line: Callable[[str], None]) -> None:
        check_existing_cluster_choices(options.scheduler, options.operator, options.client)
        self._options, self._print_line = options, print_line
        self._connection = Connection(Kubeconfig.find(options.kubeconfig), options.context)
        self.guard: BystanderGuard | None = None
        self._lease: SchedulerLease | None = None
        self.left: list[str] = []  # objects of the run that could not be deleted

    @property
    def description(self) -> str:
        return f"context {self._connection.context or 'current'} (run {self._options.run_id})"

    @property
    def alarm(self) -> str:
        """Why the whole run must end; empty if it need not."""
        return self.guard.alarm if self.guard else ""

    def new_cluster(self) -> ExistingCluster:
        """Not started yet."""
        brought = brought_scheduler_name(self._options.scheduler)
        return ExistingCluster(
            self._connection,
            run=self._options.run_id,
            scheduler=brought,
            objects=existing_cluster_objects(),
            pool=self._new_pool(),
            print_line=self._print_line,
        )

    def _new_pool(self) -> NodePool | None:
        """The real nodes that the owner gives to the run; they were checked before."""
        selector = node_labels(self._options.node_selector)
        if not selector:
            return None
        names = tuple(node["metadata"]["name"] for node in pool_nodes(self._connection.api, selector))
        return NodePool(selector, self._options.training_image, variables_by_reference(), names)

    def new_scheduler(self, cluster: ExistingCluster) -> Scheduler:
        """The scheduler under test: it runs there already, or Muster starts it beside the cluster."""
        scheduler_class, _ = choose(self._options.scheduler)
        needed = scheduler_class.assets if brought_scheduler_name(self._options.scheduler) else ()
        return scheduler_on(cluster, self._options.scheduler, assets.ensure(needed, print_line=self._print_line))

    def watch_bystanders(
        self, cluster: ExistingCluster, scheduler: Scheduler, find_preemptors: Callable[[int], list[str]]
    ) -> None:
        """A scheduler that Muster starts beside the cluster has a name that no bystander's pod has."""
        scope, dialect = cluster.scope, scheduler.dialect
        names = () if scope.scheduler else (dialect.scheduler_name, *dialect.other_scheduler_names)
        self.guard = BystanderGuard(self._connection, scope, frozenset(names), find_preemptors).start()
        self._lease = SchedulerLease(self._connection.api, scheduler.leader_lease)

    def note_serving(self) -> None:
        """The scheduler that runs there has just bound the probe pod."""
        if self._lease is not None:
            self._lease.note_holder()

    def not_serving_error(self, error: SchedulerNotServing, since: float) -> HarnessError:
        """For a scheduler that runs there and has not bound the probe pod since that time.

        Only one that is shown to be alive, and not busy with other tenants' pods, has stopped serving.
        """
        alive = self._lease.proof_of_life() if self._lease is not None else ""
        busy = self.guard is not None and self.guard.last_binding >= since
        seen = f"{error}; {alive}" if alive else str(error)
        kind = SchedulerNotServing if alive and not busy else HarnessError
        return kind(f"{seen}{', and it binds pods of other tenants' if busy else ''}; look at its log in the cluster")

    def check(self) -> None:
        if self.guard is not None:
            self.guard.check()

    def plan(self, cluster: ExistingCluster, behaviour: str, steps: Sequence[StepText]) -> NodePlan | None:
        """Which real nodes stand for those of a scenario; None where all nodes are simulated."""
        if cluster.scope.pool is None or self.guard is None:
            return None
        offers = offers_of(pool_nodes(self._connection.api, cluster.scope.pool.selector), self.guard.pods_on)
        plan = plan_pool(behaviour, steps, [offer for offer in offers if offer.name in cluster.scope.pool.nodes])
        if plan.reason:
            raise NotStaged(plan.reason)
        return plan

    def describe_pool(self, cluster: ExistingCluster) -> str:
        """The nodes that were given, and the versions that they report; empty if there are none."""
        pool = cluster.scope.pool
        nodes = pool_nodes(self._connection.api, pool.selector) if pool else []
        return describe_nodes(nodes, self._options.node_selector) if nodes else ""

    def check_nodes(self, history: History, reproduce: str) -> None:
        """Raise if another tenant's pod uses capacity on a node of the scenario."""
        if self.guard is not None:
            self.guard.check_nodes(history, reproduce)

    def stop(self) -> None:
        if self.guard is not None:
            self.guard.stop()


def require_kinds(api: Api, kinds: Iterable[Resource]) -> None:
    """NotStaged unless the cluster serves these kinds."""
    groups = served_groups(api)
    if missing := [kind.plural for kind in kinds if not is_served(api, kind, groups)]:
        raise NotStaged(f"the cluster does not serve {', '.join(missing)}")


def no_scheduler_error(scheduler: Scheduler, error: HarnessError) -> HarnessError:
    """The error for a scheduler that did not bind the first probe pod."""
    return HarnessError(
        f"no scheduler binds pods with schedulerName {scheduler.dialect.scheduler_name!r} there ({error}): is"
        f" {scheduler.name} running, and is that its name?"
    )
