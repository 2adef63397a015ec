"""`muster get`, `muster list` and `muster events` as text, in the layout that users of Arena know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from muster.jobs.durations import short
from muster.jobs.events import Happening
from muster.jobs.tables import table
from muster.jobs.views import TrainingJob

NOTHING = "N/A"
_TIME = "%Y-%m-%d %H:%M:%S %Z"


def job_page(job: TrainingJob, now: datetime, tensorboard: str | None = None) -> str:
    """The header and a row per pod. A row's STATUS is the phase of the pod; its AGE is that of the job."""
    lines = [
        f"STATUS: {job.status}",
        f"NAMESPACE: {job.namespace}",
        f"PRIORITY: {job.priority or NOTHING}",
        f"TRAINING DURATION: {short(job.duration(now))}",
    ]
    age = short(job.age(now))
    rows = [
        (job.name, one.phase, job.kind.trainer.upper(), age, one.name, one.host_address or NOTHING)
        for one in job.instances
    ]
    page = "\n".join(lines) + "\n\n" + table(("NAME", "STATUS", "TRAINER", "AGE", "INSTANCE", "NODE"), rows)
    return page + _tensorboard(tensorboard)


def wide_job_page(job: TrainingJob, now: datetime, tensorboard: str | None = None) -> str:
    """The later, longer layout: who is the chief, how many GPUs, and the node by its name."""
    fields = [
        ("Name", job.name),
        ("Status", job.status),
        ("Namespace", job.namespace),
        ("Priority", job.priority or NOTHING),
        ("Trainer", job.kind.trainer.upper()),
        ("Duration", short(job.duration(now))),
        ("CreateTime", job.created.strftime(_TIME)),
        ("EndTime", job.ended.strftime(_TIME) if job.ended else ""),
    ]
    rows = [
        (one.name, one.display, short((now - one.created).total_seconds()), one.chief, one.gpus, one.node or NOTHING)
        for one in job.instances
    ]
    header = ("NAME", "STATUS", "AGE", "IS_CHIEF", "GPU(Requested)", "NODE")
    shown = [[str(cell).lower() if isinstance(cell, bool) else cell for cell in row] for row in rows]
    instances = table(header, [["-" * len(word) for word in header], *shown])
    indented = "".join(f"  {line}\n" for line in instances.splitlines())
    width = max(len(name) for name, _ in fields) + 1
    top = "".join(f"{name + ':':{width}} {value}".rstrip() + "\n" for name, value in fields)
    return f"{top}\nInstances:\n{indented}{_tensorboard(tensorboard)}"


def jobs_page(jobs: Iterable[TrainingJob], now: datetime, *, all_namespaces: bool = False) -> str:
    """One line per job, the newest first."""
    header = ("NAME", "STATUS", "TRAINER", "DURATION", "GPU(Requested)", "GPU(Allocated)", "NODE")
    rows = []
    for job in newest_first(jobs):
        node = job.chief.host_address if job.chief else None
        allocated = NOTHING if job.finished else job.allocated
        row = (job.name, job.status, job.kind.trainer.upper(), short(job.duration(now)))
        rows.append((job.namespace, *row, job.requested, allocated, node or NOTHING))
    if all_namespaces:
        return table(("NAMESPACE", *header), rows)
    return table(header, [row[1:] for row in rows])


def newest_first(jobs: Iterable[TrainingJob]) -> list[TrainingJob]:
    return sorted(sorted(jobs, key=lambda job: (job.namespace, job.name)), key=lambda job: job.created, reverse=True)


def events_page(found: Sequence[Happening], now: datetime) -> str:
    """Oldest first, as they happened."""
    header = ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
    rows = [(short((now - one.seen).total_seconds()), one.type, one.reason, one.object, _message(one)) for one in found]
    return table(header, rows)


def _message(happening: Happening) -> str:
    """A scheduler names the preemptor by UID; the related object says who that was."""
    related = happening.related
    if related is None or related.partition("/")[2] in happening.message:
        return happening.message
    return f"{happening.message} ({related})"


def _tensorboard(address: str | None) -> str:
    return f"\nYour tensorboard will be available on:\n{address}\n" if address else ""
