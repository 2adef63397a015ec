"""A budget counts as exhausted when the disruption controller has said so, not before."""

from typing import Any

import pytest

from muster.environment.preconditions import is_exhausted


def budget(**status: Any) -> dict[str, Any]:
    return {"metadata": {"generation": 1}, "status": status}


@pytest.mark.parametrize(
    ("status", "exhausted"),
    [
        ({}, False),
        ({"disruptionsAllowed": 0, "currentHealthy": 0, "observedGeneration": 1}, False),
        ({"disruptionsAllowed": 0, "currentHealthy": 2}, False),
        ({"disruptionsAllowed": 1, "currentHealthy": 2, "observedGeneration": 1}, False),
        ({"disruptionsAllowed": 0, "currentHealthy": 2, "observedGeneration": 1}, True),
    ],
)
def test_exhausted(status: dict[str, Any], exhausted: bool) -> None:
    assert is_exhausted(budget(**status), pods=2) is exhausted
