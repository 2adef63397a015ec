"""An unreliable connection between the reference scheduler and the API server changes no verdict.

One request in twenty fails. The long version, all scenarios: `python -m bench.chaos errors`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.api_faults import Fault, Faults, fault_counts

_SCENARIOS = "PRE-01,GNG-02,JPR-01,JPR-03,QUE-02,QUE-11"
_MIN_FAULTS = 20


@pytest.mark.plane
def test_an_unreliable_connection_changes_no_verdict(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "muster", "run", "--scheduler", "reference", "--only", _SCENARIOS]
    environment = {
        **os.environ,
        "MUSTER_REFERENCE": f"tests.chaos.unreliable_connection 11 {ledger}",
        "MUSTER_TIMEOUT_SCALE": "5",
    }
    done = subprocess.run(
        [*command, "--results", tmp_path / "results"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = fault_counts(ledger)
    assert counts.total() >= _MIN_FAULTS
    assert len(counts) >= len(Fault) // 2


def test_a_seed_reproduces_the_faults() -> None:
    def drawn(seed: int) -> list[Fault | None]:
        faults = Faults(seed)
        return [faults.for_request("POST") for _ in range(400)]

    assert drawn(3) == drawn(3) != drawn(4)
    assert 5 <= sum(1 for fault in drawn(3) if fault) <= 45
