"""Moments as the API writes them, to the second, and as seconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime


def written(moment: float) -> str:
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(text: object) -> float | None:
    """None for what is no moment: a status can be edited by anybody who may."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None
