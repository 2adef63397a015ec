"""The active one of two replicas is killed at random moments: the other takes over, with the same final state.

The long version: `python -m bench.chaos replica-kills 200`.
"""

from __future__ import annotations

import pytest

from muster import timeouts
from muster.environment.environment import Environment
from muster.run_options import RunOptions
from tests.chaos.replica_kills import ReplicaKillLoop, use_two_replicas

pytestmark = pytest.mark.plane


_KILLS = 4
_SEED = 500


def test_a_kill_of_the_active_replica_leaves_a_correct_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long timeouts: other tests run at the same time, and this is no test of speed."""
    for limit in ("PROBE", "BEHAVIOUR", "SETTING_UP"):
        monkeypatch.setattr(timeouts, limit, 60.0)
    print(f"seed {_SEED}")
    environment = Environment(RunOptions())
    environment.start()
    try:
        use_two_replicas(environment)
        ReplicaKillLoop(environment, _SEED, print).run(_KILLS)
    finally:
        environment.stop()
