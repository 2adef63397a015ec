"""A document for real: every sentence is ticked, the map changes hands, and nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muster.catalogue import read_features
from muster.suite import suite_root
from tests.leftovers import carriers


@pytest.mark.plane
def test_the_document_of_tainted_nodes(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "MUSTER_TIMEOUT_SCALE": "5"}
    command = [sys.executable, "-m", "muster", "demo", "DOC-4", "--fast"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    document = read_features(suite_root() / "features").by_id()["DOC-4"]
    typed = [step for step in document.steps if step.text.endswith("types:")]
    assert run.stdout.count("   ✓ ") == len(document.steps) - len(typed)
    assert run.stdout.count("   $ muster ") == len(typed) + 1  # and `muster list`, which the demo asks for
    assert run.stdout.index("   A plain  waits\n") < run.stdout.index("   A plain\n")
    assert "\x1b" not in run.stdout
    assert list(temporary.iterdir()) == []
    assert carriers(f"TMPDIR={temporary}".encode()) == []
