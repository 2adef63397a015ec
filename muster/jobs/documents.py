"""What -o json and -o yaml print. Scripts depend on these keys: they may grow, never change or go.

The keys are those of Arena, so that a script that reads its output reads this one: times are Unix seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import yaml

from muster.jobs.events import Happening
from muster.jobs.job_pages import NOTHING, newest_first
from muster.jobs.nodes import NodeRow
from muster.jobs.views import Instance, TrainingJob

Document = dict[str, Any]


def written(document: object, form: str) -> str:
    if form == "json":
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
        "instances": [_instance(one, now) for one in job.instances],
        "priority": job.priority or NOTHING,
        "queue": job.queue or "",
        "requestGPUs": job.requested,
        "allocatedGPUs": job.allocated,
        "creationTimestamp": int(job.created.timestamp()),
        "endTimestamp": int(job.ended.timestamp()) if job.ended else None,
    }


def jobs_document(jobs: Iterable[TrainingJob], now: datetime) -> list[Document]:
    """As `get` does, but for the tensorboards: each would cost a request."""
    found = [job_document(job, now) for job in newest_first(jobs)]
    return [{key: value for key, value in one.items() if key != "tensorboard"} for one in found]


def nodes_document(rows: Sequence[NodeRow]) -> Document:
    return {
        "nodes": [_node(row) for row in rows],
        "totalGPUs": sum(row.total for row in rows),
        "allocatedGPUs": sum(row.allocated for row in rows),
    }


def events_document(found: Sequence[Happening]) -> list[Document]:
    return [
        {
            "lastSeen": int(one.seen.timestamp()),
            "type": one.type,
            "reason": one.reason,
            "object": one.object,
            "message": one.message,
            "related": one.related or "",
        }
        for one in found
    ]


def manifests_document(manifests: Sequence[Mapping[str, Any]]) -> str:
    return yaml.dump_all(manifests, Dumper=_Plain, sort_keys=False, width=10_000)


class _Plain(yaml.SafeDumper):
    """Without anchors, and with lines as lines: people copy parts out of it."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Plain.add_representer(str, _text)


def _instance(one: Instance, now: datetime) -> Document:
    return {
        "name": one.name,
        "status": one.display,
        "phase": one.phase,
        "age": f"{max(int((now - one.created).total_seconds()), 0)}s",
        "node": one.node or NOTHING,
        "nodeIP": one.host_address or NOTHING,
        "ip": one.address or NOTHING,
        "chief": one.chief,
        "requestGPUs": one.gpus,
        "creationTimestamp": int(one.created.timestamp()),
    }


def _node(row: NodeRow) -> Document:
    return {
        "name": row.name,
        "ip": row.address,
        "role": row.role,
        "status": row.status,
        "totalGPUs": row.total,
        "allocatedGPUs": row.allocated,
        "instances": [
            {"namespace": one.namespace, "name": one.name, "status": one.phase, "requestGPUs": one.requests}
            for one in row.holders
        ],
    }
