"""A scheduler described in a file is judged like any other; here it is kube-scheduler in disguise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from muster import assets

pytestmark = pytest.mark.plane

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: "{kubeconfig}", qps: 2000, burst: 4000}
podMaxBackoffSeconds: 1
profiles: [{schedulerName: my-scheduler}]
"""


def test_a_described_scheduler_is_judged(tmp_path: Path) -> None:
    binary = assets.ensure(["kube-scheduler"], say=print)["kube-scheduler"]
    (tmp_path / "mine.yaml").write_text(
        yaml.safe_dump(
            {
                "scheduler-name": "my-scheduler",
                "command": [str(binary), "--config={directory}/mine.yaml", "--secure-port=0"],
                "files": {"mine.yaml": CONFIGURATION},
                "longest-backoff": 1,
                "claims": {"preemption": "its own page"},
            }
        )
    )
    command = [sys.executable, "-m", "muster", "run", "--scheduler", "mine=mine.yaml", "--only", "PRE-01", "TNT-01"]
    outcome = subprocess.run(
        [*command, "--results", "results"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    lines = (tmp_path / "results" / "results.jsonl").read_text().splitlines()
    verdicts = {one["id"]: one["verdict"] for one in map(json.loads, lines)}
    assert verdicts == {"PRE-01": "passed", "TNT-01": "not-supported"}
