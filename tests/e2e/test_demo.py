"""A walk-through on a real cluster: every step is ticked, the map changes, and nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muster.suite.behaviours import read_features
from muster.suite.paths import suite_root
from tests.support.processes_left import carriers


@pytest.mark.plane
def test_the_walkthrough_of_tainted_nodes(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "MUSTER_TIMEOUT_SCALE": "5"}
    command = [sys.executable, "-m", "muster", "demo", "DOC-4", "--fast"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    walkthrough = read_features(suite_root() / "features").by_id()["DOC-4"]
    typed = [step for step in walkthrough.steps if step.text.endswith("runs:")]
    assert run.stdout.count("   ✓ ") == len(walkthrough.steps) - len(typed)
    assert run.stdout.count("   $ muster ") == len(typed) + 1  # and `muster list`, which the demo asks for
    assert run.stdout.index("   A plain  pending\n") < run.stdout.index("   A plain\n")
    assert "\x1b" not in run.stdout
    assert list(temporary.iterdir()) == []
    assert carriers(f"TMPDIR={temporary}".encode()) == []
