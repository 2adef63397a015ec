"""How much of the time planning may take."""

from __future__ import annotations

import pytest

from scheduler.runtime.scheduler import delay_after


@pytest.mark.parametrize("took", [0.0001, 0.01, 0.1])
def test_a_short_cycle_takes_at_most_half_of_the_time(took: float) -> None:
    assert delay_after(took) >= took


def test_after_a_long_cycle_changes_wait_no_longer_than_a_tenth_of_a_second() -> None:
    assert delay_after(11.8) == 0.1
