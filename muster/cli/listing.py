"""`muster run --list`: what would be judged, one line each."""

from __future__ import annotations

from collections.abc import Sequence

from muster.catalogue import Behaviour, in_order


def listing(behaviours: Sequence[Behaviour]) -> str:
    """Aligned lines of id, level, capability and title; no header, so that it can be piped into grep and cut."""
    rows = [
        (b.id, b.level, ",".join(b.capabilities), b.title) for b in sorted(behaviours, key=lambda b: in_order(b.id))
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join(
        f"{id_:{widths[0]}}  {level:{widths[1]}}  {capabilities:{widths[2]}}  {title}\n"
        for id_, level, capabilities, title in rows
    )
