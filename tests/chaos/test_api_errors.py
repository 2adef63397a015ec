"""A bad connection between the reference scheduler and the API server changes no verdict.

One request in twenty fails in one of many ways. The long version, all scenarios: `python -m bench.chaos errors`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.faults import Fault, Faults, counted

_SCENARIOS = "PRE-01,GNG-02,JPR-01,JPR-03,QUE-02,QUE-11"
_LEAST_FAULTS = 20


@pytest.mark.plane
def test_a_bad_connection_changes_no_verdict(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    command = [sys.executable, "-m", "muster", "run", "--scheduler", "reference", "--only", _SCENARIOS]
    environment = {**os.environ, "MUSTER_REFERENCE": f"tests.chaos.shaky 11 {ledger}", "MUSTER_TIMEOUT_SCALE": "5"}
    done = subprocess.run(
        [*command, "--results", tmp_path / "results"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    met = counted(ledger)
    assert met.total() >= _LEAST_FAULTS
    assert len(met) >= len(Fault) // 2


def test_a_seed_gives_the_same_faults_again() -> None:
    def drawn(seed: int) -> list[Fault | None]:
        faults = Faults(seed)
        return [faults.of_request("POST") for _ in range(400)]

    assert drawn(3) == drawn(3) != drawn(4)
    assert 5 <= sum(1 for fault in drawn(3) if fault) <= 45
