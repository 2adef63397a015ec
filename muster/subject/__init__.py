"""What is judged: one small file per scheduler, plus its configuration in manifests/subjects/."""

from muster.errors import UsageError
from muster.subject.described import Described
from muster.subject.kai import Kai
from muster.subject.koordinator import Koordinator, Koordinator170
from muster.subject.kube_scheduler import KubeScheduler
from muster.subject.kueue import Kueue
from muster.subject.native_gangs import NativeGangs
from muster.subject.reference import Reference
from muster.subject.scheduler_plugins import SchedulerPlugins
from muster.subject.subjects import Subject, Workplace
from muster.subject.volcano import Volcano
from muster.subject.yunikorn import YuniKorn

_SUBJECTS: dict[str, type[Subject]] = {
    subject.name: subject
    for subject in (
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
}


def names() -> tuple[str, ...]:
    """The schedulers that `--scheduler` knows."""
    return tuple(_SUBJECTS)


def choose(text: str) -> tuple[type[Subject], str]:
    """`name`, `name:configuration` or `mine=FILE` to the subject's class and the configuration's name."""
    alias, equals, file = text.partition("=")
    if equals and alias:
        return Described, Described.resolve(file)
    name, _, configuration = text.partition(":")
    if name not in _SUBJECTS:
        known = ", ".join(names())
        raise UsageError(f"unknown scheduler {name!r}: choose from {known}, or describe yours with mine=FILE")
    subject = _SUBJECTS[name]
    return subject, subject.resolve(configuration or "default")


def full_name(text: str) -> str:
    """The same choice in words that mean the same in any directory."""
    subject, configuration = choose(text)
    if subject is Described:
        return f"{text.partition('=')[0]}={configuration}"
    return subject.name if configuration == "default" else f"{subject.name}:{configuration}"


__all__ = ["Subject", "Workplace", "choose", "full_name", "names"]
