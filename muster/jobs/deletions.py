"""Deleting jobs with all they brought along. Every name is looked up first: a slip of the pen deletes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muster.cluster.resources import Resource
from muster.errors import UsageError
from muster.jobs.kinds import KINDS
from muster.jobs.lookups import find_object, no_such_job
from muster.jobs.objects import CONFIG_MAP, DEPLOYMENT, SERVICE, is_of_job, look_up
from muster.jobs.targets import Target
from muster.jobs.tensorboards import tensorboard_name

Doomed = list[tuple[Resource, str]]


def delete_jobs(target: Target, names: Sequence[str], trainer: str | None, say: Callable[[str], None]) -> None:
    """All of them, or, when one does not exist, none."""
    doomed = {name: _everything_of(target, name, trainer) for name in dict.fromkeys(names)}
    for name, found in doomed.items():
        if not found:
            raise UsageError(f"{no_such_job(target, name)}; nothing was deleted")
    for name, found in doomed.items():
        for resource, object_name in found:
            target.api.delete(resource, object_name, target.namespace)
        say(f"The training job {name} has been deleted successfully")


def _everything_of(target: Target, name: str, trainer: str | None) -> Doomed:
    """The job first, and what a job that is gone has left behind."""
    found = find_object(target, name, trainer)
    job = [] if found is None else [(found[0].resource, name)]
    kinds = [kind for kind in KINDS if trainer in (None, kind.trainer)]
    helpers = [(CONFIG_MAP, f"{name}-{kind.trainer}") for kind in kinds]
    helpers += [(SERVICE, tensorboard_name(name)), (DEPLOYMENT, tensorboard_name(name))]
    ours = [
        (resource, helper)
        for resource, helper in helpers
        if (there := look_up(target.api, resource, helper, target.namespace)) and is_of_job(there, name)
    ]
    return [*job, *ours]
