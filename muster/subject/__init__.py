"""What is judged: one small file per scheduler, plus its configuration in manifests/subjects/."""

from muster.errors import UsageError
from muster.subject.kube_scheduler import KubeScheduler
from muster.subject.subjects import Subject

_SUBJECTS: dict[str, type[Subject]] = {subject.name: subject for subject in (KubeScheduler,)}
DEFAULT = KubeScheduler.name


def names() -> tuple[str, ...]:
    """The schedulers that `--scheduler` knows."""
    return tuple(_SUBJECTS)


def choose(text: str) -> tuple[type[Subject], str]:
    """`name` or `name:configuration` to the subject's class and the configuration's name."""
    name, _, configuration = text.partition(":")
    if name not in _SUBJECTS:
        raise UsageError(f"unknown scheduler {name!r}: choose from {', '.join(names())}")
    return _SUBJECTS[name], configuration or "default"


__all__ = ["DEFAULT", "Subject", "choose", "names"]
