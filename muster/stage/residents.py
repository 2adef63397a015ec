"""Schedulers on somebody's cluster: those that live there, and the one that we may bring along.

A resident is spoken to and believed, nothing else: it is not ours to pause, kill or configure, and what would need that
is not staged. A guest runs beside the cluster under a name of its own, and sees nothing but the run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from muster.cluster.api import Api
from muster.cluster.foreign import ForeignCluster
from muster.cluster.resources import KOORDINATOR_DEVICE, MPI_JOB, PYTORCH_JOB, VOLCANO_COMMAND, VOLCANO_QUEUE, Resource
from muster.errors import NotStaged, UsageError
from muster.processes import Process
from muster.subject import Subject, Workplace, choose
from muster.subject.described import Described
from muster.subject.dialect import Dialect
from muster.subject.reference import SCHEDULER, Reference
from muster.subject.requests import NodeRequest

# Who can be judged on somebody's cluster, and how long a pod that found no place may have to wait there, with the
# settings that these are installed with. Seconds.
_LONGEST_BACKOFF = {"kube-scheduler": 10.0, "volcano": 5.0, "koordinator": 11.0, "koordinator@1.7.0": 11.0}


def brings(scheduler: str) -> str:
    """The name that pods ask for where the scheduler is ours to bring; empty where it lives there."""
    chosen, _ = choose(scheduler)
    return SCHEDULER if issubclass(chosen, Reference) else ""


def spoken_with(scheduler: str, capabilities: Collection[str]) -> tuple[Resource, ...]:
    """The kinds that must be served for these capabilities to be judged."""
    dialect = _dialect(scheduler)
    kinds = list(dialect.recorded)
    if dialect.beside(NodeRequest("any", 1)):
        kinds.append(KOORDINATOR_DEVICE)
    if "queues" in capabilities and dialect.queue_kind is VOLCANO_QUEUE:
        kinds.append(VOLCANO_COMMAND)
    return tuple(dict.fromkeys(kinds))


def jobs_spoken_of(scheduler: str, capabilities: Collection[str]) -> tuple[Resource, ...]:
    """The kinds that some scenarios speak of: where they are not served the others can still be judged."""
    if not {"documents", "jobs"}.intersection(capabilities):
        return ()
    return tuple(dict.fromkeys((*_dialect(scheduler).reads, PYTORCH_JOB, MPI_JOB)))


def _dialect(scheduler: str) -> Dialect:
    chosen, configuration = choose(scheduler)
    nowhere = Path()
    return chosen(configuration, Workplace(nowhere, nowhere, nowhere, {})).dialect


class Guest(Reference):
    """The reference scheduler beside somebody's cluster, where its kinds are not ours to define."""

    def install(self, api: Api) -> None:
        return


class Resident(Subject):
    """A scheduler that is there: its words and its claims, in a subject that has no processes."""

    def __init__(self, chosen: type[Subject], configuration: str, workplace: Workplace) -> None:
        super().__init__(configuration, workplace)
        self._there = chosen(configuration, workplace)
        self.name = chosen.name  # type: ignore[misc]

    def claims(self, configuration: str) -> Mapping[str, str]:  # type: ignore[override]
        return self._there.claims(configuration)

    @property
    def dialect(self) -> Dialect:
        return self._there.dialect

    @property
    def longest_backoff(self) -> float:
        own_file = self.configuration.endswith((".yaml", ".yml")) or isinstance(self._there, Described)
        return self._there.longest_backoff if own_file else _LONGEST_BACKOFF[self.name]

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": f"{self.name}, as it runs there ({self.dialect.scheduler_name})",
            "scheduler longest back-off": f"{self.longest_backoff:g} s",
        }

    def _prepare(self) -> Sequence[Process]:
        return ()

    def configure(self, policy: Mapping[str, str]) -> None:
        if policy:
            raise NotStaged(f"{self.name} is not ours to configure on this cluster")

    def pause(self) -> None:
        raise NotStaged(f"{self.name} is not ours to pause on this cluster")

    def resume(self) -> None:
        return

    def kill(self) -> None:
        raise NotStaged(f"{self.name} is not ours to kill on this cluster")


def subject_on(cluster: ForeignCluster, scheduler: str, files: Mapping[str, Path]) -> Subject:
    """Who is judged there."""
    chosen, configuration = choose(scheduler)
    workplace = Workplace.on(cluster, files)
    if not issubclass(chosen, Reference):
        return Resident(chosen, configuration, workplace)
    guest = Guest(configuration, workplace)
    guest.answers_to = tuple(map(cluster.fence.name, guest.answers_to))
    return guest


def check_companions(scheduler: str, operator: str, client: str) -> None:
    """Who cannot be judged there, or cannot help there: Arena's own command line knows nothing of the fence."""
    chosen, _ = choose(scheduler)
    if not issubclass(chosen, Reference | Described) and chosen.name not in _LONGEST_BACKOFF:
        raise UsageError(
            f"{chosen.name} can be judged on a cluster of Muster's own only, for it needs queues or rights that a guest"
            f" does not have: leave out --context, or judge reference, {', '.join(_LONGEST_BACKOFF)} or mine=FILE there"
        )
    if client != "muster":
        raise UsageError(f"--client {client} works on a cluster of Muster's own only: leave out --context")
    if operator != "reference":
        raise UsageError(f"--operator {operator} works on a cluster of Muster's own only: leave out --context")
