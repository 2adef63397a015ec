"""Schedulers on an existing cluster: one that runs there already, or one that Muster starts beside it.

A scheduler that runs there is only observed: Muster does not pause, kill or configure it, and scenarios that need this
are not staged. One that Muster starts runs under a renamed scheduler name and sees nothing but the run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.existing import ExistingCluster
from muster.cluster.resources import LEASE, TRAINING_JOBS, Resource
from muster.errors import NotStaged, UsageError
from muster.processes import Process
from muster.schedulers import ProcessContext, Scheduler, choose, names_on_existing_clusters
from muster.schedulers.custom import CustomScheduler
from muster.schedulers.dialect import Dialect

_POLL = 0.5  # seconds; kube-scheduler renews its Lease every 2 s


def brought_scheduler_name(scheduler: str) -> str:
    """The scheduler name of pods if Muster starts the scheduler beside the cluster; empty if it runs there."""
    chosen, _ = choose(scheduler)
    return chosen.name_beside_existing_cluster


def required_kinds(scheduler: str, capabilities: Collection[str]) -> tuple[Resource, ...]:
    """The kinds that the cluster must serve for these capabilities to be tested."""
    dialect = _dialect(scheduler)
    control = dialect.queue_control_kinds if "queues" in capabilities else ()
    return tuple(dict.fromkeys((*dialect.recorded_kinds(), *dialect.node_kinds, *control)))


def optional_kinds(scheduler: str, capabilities: Collection[str]) -> tuple[Resource, ...]:
    """The kinds that some scenarios use: if they are not served, all others can still be tested."""
    if not {"documents", "jobs"}.intersection(capabilities):
        return ()
    return tuple(dict.fromkeys((*_dialect(scheduler).kinds_read, *TRAINING_JOBS)))


def _dialect(scheduler: str) -> Dialect:
    chosen, configuration = choose(scheduler)
    nowhere = Path()
    return chosen(configuration, ProcessContext(nowhere, nowhere, nowhere, {})).dialect


class InClusterScheduler(Scheduler):
    """A scheduler that runs in the cluster: its dialect and its claims, without processes."""

    def __init__(self, chosen: type[Scheduler], configuration: str, context: ProcessContext) -> None:
        super().__init__(configuration, context)
        self._chosen = chosen(configuration, context)
        self.name = chosen.name  # type: ignore[misc]
        self.dialect = self._chosen.dialect
        self.leader_lease = chosen.leader_lease  # type: ignore[misc]
        has_own_file = configuration.endswith((".yaml", ".yml"))
        usual = None if has_own_file else chosen.existing_cluster_backoff
        self.longest_backoff = self._chosen.longest_backoff if usual is None else usual

    def claims(self, configuration: str) -> Mapping[str, str]:  # type: ignore[override]
        return self._chosen.claims(configuration)

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": f"{self.name}, as it runs there ({self.dialect.scheduler_name})",
            "scheduler longest back-off": f"{self.longest_backoff:g} s",
        }

    def _prepare(self) -> Sequence[Process]:
        return ()

    def configure(self, policy: Mapping[str, str]) -> None:
        if policy:
            raise NotStaged(f"Muster does not configure {self.name} on an existing cluster")

    def pause(self) -> None:
        raise NotStaged(f"Muster does not pause {self.name} on an existing cluster")

    def resume(self) -> None:
        return

    def kill(self) -> None:
        raise NotStaged(f"Muster does not kill {self.name} on an existing cluster")


def scheduler_on(cluster: ExistingCluster, scheduler: str, files: Mapping[str, Path]) -> Scheduler:
    """The scheduler under test on an existing cluster."""
    chosen, configuration = choose(scheduler)
    context = ProcessContext.on(cluster, files)
    brought = chosen.beside_existing_cluster(configuration, context, cluster.scope.name)
    return brought or InClusterScheduler(chosen, configuration, context)


def check_existing_cluster_choices(scheduler: str, operator: str, client: str) -> None:
    """Raise UsageError for what does not work on an existing cluster. Arena's command line ignores the run scope."""
    chosen, _ = choose(scheduler)
    if chosen is not CustomScheduler and chosen.existing_cluster_backoff is None:
        raise UsageError(
            f"{chosen.name} can be tested on Muster's own clusters only, because it needs queues or rights that a run"
            " does not have on an existing cluster: leave out --context, or choose from"
            f" {', '.join(names_on_existing_clusters())} or mine=FILE"
        )
    for option, value, allowed in (("client", client, "muster"), ("operator", operator, "reference")):
        if value != allowed:
            raise UsageError(f"--{option} {value} works on Muster's own clusters only: leave out --context")


class SchedulerLease:
    """By which a scheduler that runs there leads, as `namespace/name`; of an empty name nothing is known.

    Without a process to look at, Muster takes a scheduler that stops binding for one that was stopped there: an error.
    If the process that served before goes on to renew its Lease, it was not stopped and has not crashed (a process that
    is started again has another identity), so that it has stopped serving by itself.
    """

    def __init__(self, api: Api, lease: str) -> None:
        self._api, self._lease = api, lease
        self._holder = ""

    def note_holder(self) -> None:
        """The scheduler has just bound a pod: this is the process that must still be alive later."""
        self._holder = str(self._read().get("holderIdentity", ""))

    def proof_of_life(self) -> str:
        """That the same process renews it from now on, as a text; empty if it does not, or nothing is known."""
        if not self._holder:
            return ""
        before = self._read().get("renewTime")
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda spec: spec.get("renewTime") == before),
            wait=tenacity.wait_fixed(_POLL),
            stop=tenacity.stop_after_delay(timeouts.LEASE_RENEWAL),
            retry_error_callback=lambda _: {},
        )
        renewed = attempts(self._read)
        if not before or renewed.get("holderIdentity") != self._holder:
            return ""
        return f"its process is alive: {self._holder} goes on to renew the Lease {self._lease}"

    def _read(self) -> dict[str, Any]:
        namespace, _, name = self._lease.partition("/")
        if not name:
            return {}
        try:
            spec: dict[str, Any] = self._api.get(LEASE, name, namespace).get("spec", {})
        except ApiRefused:  # it has none: leader election is off, or the cluster hides it
            return {}
        return spec
