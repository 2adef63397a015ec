"""The reference scheduler is killed at random moments: no pod starves, no gang is partial, no node is overcommitted.

The long versions: `python -m bench.chaos kills 200` and `replica-kills 200`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from muster import timeouts
from muster.environment.environment import Environment
from muster.run_options import RunOptions
from tests.chaos.kills import KillLoop
from tests.chaos.replica_kills import ReplicaKillLoop, use_two_replicas

pytestmark = pytest.mark.plane


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Environment]:
    """Long timeouts: other tests run at the same time, and these are no tests of speed."""
    for limit in ("PROBE", "BEHAVIOUR", "SETTING_UP"):
        monkeypatch.setattr(timeouts, limit, 60.0)
    environment = Environment(RunOptions())
    environment.start()
    yield environment
    environment.stop()


def test_a_kill_at_any_time_leaves_a_correct_state(environment: Environment) -> None:
    KillLoop(environment, 300, print).run(8)


def test_a_kill_of_the_active_replica_leaves_a_correct_state(environment: Environment) -> None:
    use_two_replicas(environment)
    ReplicaKillLoop(environment, 500, print).run(4)
