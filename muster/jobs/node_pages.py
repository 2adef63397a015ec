"""`muster top node` as text: the summary, and with -d the pods that hold the GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from muster.jobs.nodes import NodeRow
from muster.jobs.tables import LINE, percent, share, table


def nodes_page(rows: Sequence[NodeRow]) -> str:
    """A line per node and the sum."""
    header = ("NAME", "IPADDRESS", "ROLE", "STATUS", "GPU(Total)", "GPU(Allocated)")
    shown = table(header, [(row.name, row.address, row.role, row.status, row.total, row.allocated) for row in rows])
    return f"{shown}{LINE}\nAllocated/Total GPUs In Cluster:\n{_sum(rows)}\n"


def nodes_in_detail(rows: Sequence[NodeRow]) -> str:
    """Every node that has GPUs, with its pods; the others have nothing to tell."""
    nodes = "".join(_node(row) for row in rows if row.total)
    return f"{nodes}\nAllocated/Total GPUs In Cluster:  {_sum(rows)}\n"


def _node(row: NodeRow) -> str:
    holders = table(
        ("NAMESPACE", "NAME", "GPU REQUESTS", "GPU LIMITS"),
        [(one.namespace, one.name, one.requests, one.limits) for one in row.holders],
    )
    total, allocated = f"Total GPUs In Node {row.name}:", f"Allocated GPUs In Node {row.name}:"
    return (
        f"\nNAME:       {row.name}\nIPADDRESS:  {row.address}\nROLE:       {row.role}\n\n{holders}\n"
        f"{total:{len(allocated)}}  {row.total}\n"
        f"{allocated}  {row.allocated} ({percent(row.allocated, row.total)})\n{LINE}\n"
    )


def _sum(rows: Sequence[NodeRow]) -> str:
    return share(sum(row.allocated for row in rows), sum(row.total for row in rows))
