"""The reference scheduler is killed at random moments: nobody is lost, nothing is partial, nothing is over-committed.

The long version: `python -m bench.chaos kills 200`.
"""

from __future__ import annotations

import pytest

from muster import timeouts
from muster.stage.stage import Stage
from tests.chaos.killer import Killer

pytestmark = pytest.mark.plane


_KILLS = 8
_SEED = 300


def test_a_kill_at_any_moment_leaves_nothing_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests run at the same time; nothing here is about how long things take."""
    for limit in ("CANARY", "BEHAVIOUR", "SETTING_UP"):
        monkeypatch.setattr(timeouts, limit, 60.0)
    print(f"seed {_SEED}")
    stage = Stage("reference")
    stage.start()
    try:
        Killer(stage, _SEED, print).run(_KILLS)
    finally:
        stage.stop()
