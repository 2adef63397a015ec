"""Output of the commands: tables in Arena's layout, and documents for -o json and -o yaml.

Columns of a table are as wide as their widest cell and two spaces apart. Scripts depend on the keys of documents: keys
may be added, never changed or removed. They are Arena's; times are Unix seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import yaml

from muster.arena.job_events import JobEvent
from muster.arena.model import Instance, TrainingJob
from muster.arena.node_usage import NodeRow

NOT_AVAILABLE = "N/A"
_LINE = "-" * 89
_TIME = "%Y-%m-%d %H:%M:%S %Z"
_YEAR = 365 * 86400
_UNITS = ((60, 1, "s"), (3600, 60, "m"), (86400, 3600, "h"), (_YEAR, 86400, "d"))

Document = dict[str, Any]


def job_table(job: TrainingJob, now: datetime, tensorboard: str | None = None) -> str:
    """The header and a row per pod. STATUS of a row is the phase of the pod, AGE is that of the job."""
    lines = [
        f"STATUS: {job.status}",
        f"NAMESPACE: {job.namespace}",
        f"PRIORITY: {job.priority or NOT_AVAILABLE}",
        f"TRAINING DURATION: {short_duration(job.duration(now))}",
    ]
    age = short_duration(job.age(now))
    rows = [
        (job.name, one.phase, job.kind.trainer.upper(), age, one.name, one.host_address or NOT_AVAILABLE)
        for one in job.instances
    ]
    text = "\n".join(lines) + "\n\n" + table(("NAME", "STATUS", "TRAINER", "AGE", "INSTANCE", "NODE"), rows)
    return text + _tensorboard(tensorboard)


def wide_job_table(job: TrainingJob, now: datetime, tensorboard: str | None = None) -> str:
    """The longer layout of later versions: chief, GPUs, and the node's name."""
    fields = [
        ("Name", job.name),
        ("Status", job.status),
        ("Namespace", job.namespace),
        ("Priority", job.priority or NOT_AVAILABLE),
        ("Trainer", job.kind.trainer.upper()),
        ("Duration", short_duration(job.duration(now))),
        ("CreateTime", job.created.strftime(_TIME)),
        ("EndTime", job.ended.strftime(_TIME) if job.ended else ""),
    ]
    rows = [
        (
            one.name,
            one.display,
            _age(one.created, now),
            one.chief,
            one.gpus,
            one.node or NOT_AVAILABLE,
        )
        for one in job.instances
    ]
    header = ("NAME", "STATUS", "AGE", "IS_CHIEF", "GPU(Requested)", "NODE")
    shown = [[str(cell).lower() if isinstance(cell, bool) else cell for cell in row] for row in rows]
    instances = table(header, [["-" * len(name) for name in header], *shown])
    indented = "".join(f"  {line}\n" for line in instances.splitlines())
    width = max(len(name) for name, _ in fields) + 1
    top = "".join(f"{name + ':':{width}} {value}".rstrip() + "\n" for name, value in fields)
    return f"{top}\nInstances:\n{indented}{_tensorboard(tensorboard)}"


def jobs_table(jobs: Iterable[TrainingJob], now: datetime, *, all_namespaces: bool = False) -> str:
    """One line per job, newest first."""
    header = ("NAME", "STATUS", "TRAINER", "DURATION", "GPU(Requested)", "GPU(Allocated)", "NODE")
    rows = []
    for job in newest_first(jobs):
        node = job.chief.host_address if job.chief else None
        allocated = NOT_AVAILABLE if job.finished else job.allocated
        row = (job.name, job.status, job.kind.trainer.upper(), short_duration(job.duration(now)))
        rows.append((job.namespace, *row, job.requested, allocated, node or NOT_AVAILABLE))
    if all_namespaces:
        return table(("NAMESPACE", *header), rows)
    return table(header, [row[1:] for row in rows])


def newest_first(jobs: Iterable[TrainingJob]) -> list[TrainingJob]:
    return sorted(sorted(jobs, key=lambda job: (job.namespace, job.name)), key=lambda job: job.created, reverse=True)


def events_table(found: Sequence[JobEvent], now: datetime) -> str:
    """Oldest first."""
    header = ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
    rows = [(_age(one.last_seen, now), one.type, one.reason, one.object, _message(one)) for one in found]
    return table(header, rows)


def _message(event: JobEvent) -> str:
    """Messages identify a preemptor by its UID; the name of the related object is added."""
    related = event.related
    if related is None or related.partition("/")[2] in event.message:
        return event.message
    return f"{event.message} ({related})"


def _tensorboard(address: str | None) -> str:
    return f"\nYour tensorboard will be available on:\n{address}\n" if address else ""


def nodes_table(rows: Sequence[NodeRow]) -> str:
    """A line per node, and the total."""
    header = ("NAME", "IPADDRESS", "ROLE", "STATUS", "GPU(Total)", "GPU(Allocated)")
    shown = table(header, [(row.name, row.address, row.role, row.status, row.total, row.allocated) for row in rows])
    return f"{shown}{_LINE}\nAllocated/Total GPUs In Cluster:\n{_total(rows)}\n"


def nodes_details(rows: Sequence[NodeRow]) -> str:
    """Every node with GPUs, and its pods."""
    nodes = "".join(_node_details(row) for row in rows if row.total)
    return f"{nodes}\nAllocated/Total GPUs In Cluster:  {_total(rows)}\n"


def _node_details(row: NodeRow) -> str:
    pods = table(
        ("NAMESPACE", "NAME", "GPU REQUESTS", "GPU LIMITS"),
        [(one.namespace, one.name, one.requests, one.limits) for one in row.pods],
    )
    total, allocated = f"Total GPUs In Node {row.name}:", f"Allocated GPUs In Node {row.name}:"
    return (
        f"\nNAME:       {row.name}\nIPADDRESS:  {row.address}\nROLE:       {row.role}\n\n{pods}\n"
        f"{total:{len(allocated)}}  {row.total}\n"
        f"{allocated}  {row.allocated} ({percent(row.allocated, row.total)})\n{_LINE}\n"
    )


def _total(rows: Sequence[NodeRow]) -> str:
    return share(sum(row.allocated for row in rows), sum(row.total for row in rows))


def dump(document: object, output_format: str) -> str:
    if output_format == "json":
        return json.dumps(document, indent=2) + "\n"
    return yaml.safe_dump(document, sort_keys=False, width=10_000)


def job_document(job: TrainingJob, now: datetime, tensorboard: str | None = None) -> Document:
    return {
        "uuid": job.uid,
        "name": job.name,
        "namespace": job.namespace,
        "duration": f"{max(int(job.duration(now)), 0)}s",
        "status": job.status,
        "trainer": job.kind.trainer,
        "tensorboard": tensorboard or "",
        "chiefName": job.chief.name if job.chief else "",
        "instances": [_instance_document(one, now) for one in job.instances],
        "priority": job.priority or NOT_AVAILABLE,
        "queue": job.queue or "",
        "requestGPUs": job.requested,
        "allocatedGPUs": job.allocated,
        "creationTimestamp": int(job.created.timestamp()),
        "endTimestamp": int(job.ended.timestamp()) if job.ended else None,
    }


def jobs_document(jobs: Iterable[TrainingJob], now: datetime) -> list[Document]:
    """As `get`, without tensorboards: each would cost a request."""
    found = [job_document(job, now) for job in newest_first(jobs)]
    return [{key: value for key, value in one.items() if key != "tensorboard"} for one in found]


def nodes_document(rows: Sequence[NodeRow]) -> Document:
    return {
        "nodes": [_node_document(row) for row in rows],
        "totalGPUs": sum(row.total for row in rows),
        "allocatedGPUs": sum(row.allocated for row in rows),
    }


def events_document(found: Sequence[JobEvent]) -> list[Document]:
    return [
        {
            "lastSeen": int(one.last_seen.timestamp()),
            "type": one.type,
            "reason": one.reason,
            "object": one.object,
            "message": one.message,
            "related": one.related or "",
        }
        for one in found
    ]


def manifests_yaml(manifests: Sequence[Mapping[str, Any]]) -> str:
    return yaml.dump_all(manifests, Dumper=_PlainDumper, sort_keys=False, width=10_000)


class _PlainDumper(yaml.SafeDumper):
    """Without anchors, and with multi-line strings as blocks: users copy parts of it."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_PlainDumper.add_representer(str, _represent_text)


def _instance_document(one: Instance, now: datetime) -> Document:
    return {
        "name": one.name,
        "status": one.display,
        "phase": one.phase,
        "age": f"{max(int((now - one.created).total_seconds()), 0)}s",
        "node": one.node or NOT_AVAILABLE,
        "nodeIP": one.host_address or NOT_AVAILABLE,
        "ip": one.address or NOT_AVAILABLE,
        "chief": one.chief,
        "requestGPUs": one.gpus,
        "creationTimestamp": int(one.created.timestamp()),
    }


def _node_document(row: NodeRow) -> Document:
    return {
        "name": row.name,
        "ip": row.address,
        "role": row.role,
        "status": row.status,
        "totalGPUs": row.total,
        "allocatedGPUs": row.allocated,
        "instances": [
            {"namespace": one.namespace, "name": one.name, "status": one.phase, "requestGPUs": one.requests}
            for one in row.pods
        ],
    }


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A header and its rows, each ended by a newline."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


def share(part: int, whole: int) -> str:
    """`12/12 (100%)`, rounded down: 100% means all."""
    return f"{part}/{whole} ({percent(part, whole)})"


def percent(part: int, whole: int) -> str:
    return f"{part * 100 // whole if whole else 0}%"


def _age(since: datetime, now: datetime) -> str:
    return short_duration((now - since).total_seconds())


def short_duration(seconds: float) -> str:
    """12s, 3m, 2h, 5d, 1y: the largest unit, rounded down; never negative when two clocks disagree."""
    whole = max(int(seconds), 0)
    for below, unit, letter in _UNITS:
        if whole < below:
            return f"{whole // unit}{letter}"
    return f"{whole // _YEAR}y"
