"""The schedulers that can be tested: one module or folder each, listed in SCHEDULERS.

Everything that Muster knows about a scheduler is in its own place here. Other packages get the few facts that they need
from the functions of this module, or from the scheduler that was chosen.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from muster.cluster.resources import Resource
from muster.cluster.run_scope import SchedulerObjects
from muster.errors import UsageError
from muster.recording.conventions import Conventions
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.custom import CustomScheduler
from muster.schedulers.dialect import Dialect
from muster.schedulers.kai import Kai
from muster.schedulers.koordinator import Koordinator, Koordinator170
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.kueue import Kueue
from muster.schedulers.native_gangs import NativeGangs
from muster.schedulers.reference import Reference
from muster.schedulers.scheduler_plugins import SchedulerPlugins
from muster.schedulers.volcano import Volcano
from muster.schedulers.yunikorn import YuniKorn

SCHEDULERS: tuple[type[Scheduler], ...] = (
    Reference,
    KubeScheduler,
    NativeGangs,
    SchedulerPlugins,
    Volcano,
    Koordinator,
    Koordinator170,
    YuniKorn,
    Kueue,
    Kai,
)
_T = TypeVar("_T")
_BY_NAME = {scheduler.name: scheduler for scheduler in SCHEDULERS}


def names() -> tuple[str, ...]:
    """The schedulers that `--scheduler` accepts by name."""
    return tuple(_BY_NAME)


def matrix_choices() -> tuple[str, ...]:
    """What `muster matrix --all` runs: each scheduler in each of the configurations that differ in behaviour."""
    return tuple(
        scheduler.name if configuration == "default" else f"{scheduler.name}:{configuration}"
        for scheduler in SCHEDULERS
        for configuration in scheduler.matrix_configurations or scheduler.configurations
    )


def choose(text: str) -> tuple[type[Scheduler], str]:
    """`name`, `name:configuration` or `mine=FILE` to the scheduler's class and the configuration's name."""
    alias, equals, file = text.partition("=")
    if equals and alias:
        return CustomScheduler, CustomScheduler.resolve(file)
    name, _, configuration = text.partition(":")
    if name not in _BY_NAME:
        known = ", ".join(names())
        raise UsageError(f"unknown scheduler {name!r}: choose from {known}, or describe yours with mine=FILE")
    scheduler = _BY_NAME[name]
    return scheduler, scheduler.resolve(configuration or "default")


def full_name(text: str) -> str:
    """The same choice in a form that is valid in any directory."""
    scheduler, configuration = choose(text)
    if scheduler is CustomScheduler:
        return f"{text.partition('=')[0]}={configuration}"
    return scheduler.name if configuration == "default" else f"{scheduler.name}:{configuration}"


def names_on_existing_clusters() -> tuple[str, ...]:
    """The schedulers that can be tested on an existing cluster."""
    return tuple(scheduler.name for scheduler in SCHEDULERS if scheduler.existing_cluster_backoff is not None)


def group_name_keys() -> tuple[str, ...]:
    """Labels and annotations of pods that name the pod's group, for any scheduler."""
    return _unique(key for dialect in _dialects() for key in dialect.group_name_keys)


def recording_conventions(dialect: Dialect) -> Conventions:
    """The dialect's conventions, with the group keys of all schedulers: a walk-through may use another scheduler's."""
    return replace(
        dialect.conventions,
        group_name_keys=group_name_keys(),
        reclaims=dialect.queue_kind is not None,
        accepts_scheduler_name=dialect.accepts_scheduler_name,
    )


def gang_and_queue_kinds() -> tuple[Resource, ...]:
    """Group and queue kinds of any scheduler."""
    return _unique(kind for dialect in _dialects() for kind in dialect.kinds_read)


def walkthrough_page(*, name: str = "", kind: Resource | None = None) -> str:
    """The page that walk-throughs with this schedulerName, or with this kind, are about; else where they all are."""
    for scheduler in SCHEDULERS:
        dialect, page = scheduler.dialect_class, scheduler.claims("default").get("documents", "")
        if "://" in page and (name == dialect.scheduler_name or kind in dialect.created_kinds()):
            return page
    return "features/walkthroughs"


def existing_cluster_objects() -> SchedulerObjects:
    """The schedulers' own objects that a run may create on an existing cluster, of any scheduler that it can test."""
    dialects = [scheduler.dialect_class for scheduler in SCHEDULERS if scheduler.existing_cluster_backoff is not None]
    return SchedulerObjects(
        kinds=_unique(kind for dialect in dialects for kind in dialect.created_kinds()),
        queue_name_keys=_unique(key for dialect in dialects for key in dialect.queue_name_keys),
        namespaced_name_keys=_unique(key for dialect in dialects for key in dialect.namespaced_name_keys),
    )


def _dialects() -> list[type[Dialect]]:
    return [scheduler.dialect_class for scheduler in SCHEDULERS]


def _unique(items: Iterator[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))


__all__ = ["SCHEDULERS", "ProcessContext", "Scheduler", "choose", "full_name", "names"]
