"""The reference scheduler is killed at random moments: no pod starves, no gang is partial, no node is overcommitted.

The long version: `python -m bench.chaos kills 200`.
"""

from __future__ import annotations

import pytest

from muster import timeouts
from muster.environment.environment import Environment
from muster.run_options import RunOptions
from tests.chaos.kills import KillLoop

pytestmark = pytest.mark.plane


_KILLS = 8
_SEED = 300


def test_a_kill_at_any_time_leaves_a_correct_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long timeouts: other tests run at the same time, and this is no test of speed."""
    for limit in ("PROBE", "BEHAVIOUR", "SETTING_UP"):
        monkeypatch.setattr(timeouts, limit, 60.0)
    print(f"seed {_SEED}")
    environment = Environment(RunOptions())
    environment.start()
    try:
        KillLoop(environment, _SEED, print).run(_KILLS)
    finally:
        environment.stop()
