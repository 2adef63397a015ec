"""A scheduler that is described in a YAML file is tested like any other: here the example of docs/your-scheduler.md."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muster import assets

pytestmark = pytest.mark.plane

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "my-scheduler.yaml"


def test_the_example_is_tested_on_what_it_claims(tmp_path: Path) -> None:
    binary = assets.ensure(["kube-scheduler"], print_line=print)["kube-scheduler"]
    shutil.copy(EXAMPLE, tmp_path / "mine.yaml")
    (tmp_path / "kube-scheduler").symlink_to(binary)
    command = [sys.executable, "-m", "muster", "run", "--scheduler", "mine=mine.yaml", "--only", "PRE-01", "TNT-01"]
    outcome = subprocess.run(
        [*command, "--results", "results"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    lines = (tmp_path / "results" / "results.jsonl").read_text().splitlines()
    verdicts = {result["id"]: result["verdict"] for result in map(json.loads, lines)}
    assert verdicts == {"PRE-01": "passed", "TNT-01": "not-supported"}
