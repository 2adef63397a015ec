"""Schedulers as their projects configure them, on a control plane that plays an existing cluster.

`python -m bench.stock_schedulers NAME RESULTS [OPTION …]`: NAME is kube-scheduler, volcano or koordinator, RESULTS the
directory of a run on the embedded cluster, with Muster's short back-off; options go to `muster run`. Prints both
verdicts, and exits with 1 if a behaviour that passed on the embedded cluster failed here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from muster import assets
from muster.schedulers import koordinator, volcano
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.kube_scheduler import KubeScheduler
from tests.support.existing_cluster import SharedCluster, install_definitions

_STOCK = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {}
"""


def stock_scheduler(name: str, cluster: SharedCluster) -> Scheduler:
    """The scheduler with the settings of its own project."""
    if name == "volcano":
        volcano._PERIOD, volcano._QPS, volcano._BURST = 1.0, 50, 100
        return volcano.Volcano("default", _context(cluster, volcano.Volcano))
    if name == "koordinator":
        return koordinator.Koordinator("as-shipped", _context(cluster, koordinator.Koordinator))
    file = cluster.directory / "stock.yaml"
    file.write_text(_STOCK)
    return KubeScheduler(str(file), _context(cluster, KubeScheduler))


def _context(cluster: SharedCluster, kind: type[Scheduler]) -> ProcessContext:
    return ProcessContext.on(cluster, assets.ensure(kind.assets, print_line=print))


def verdicts(results: Path) -> dict[str, str]:
    """By id and row; the worst of several rounds."""
    found: dict[str, str] = {}
    for line in (results / "results.jsonl").read_text().splitlines():
        one = json.loads(line)
        key = f"{one['id']} {one.get('example', '')}".strip()
        if found.get(key) not in ("failed", "error"):
            found[key] = one["verdict"]
    return found


def main(name: str, embedded: Path, options: list[str]) -> int:
    with tempfile.TemporaryDirectory() as directory, SharedCluster() as cluster:
        install_definitions(cluster.connection.api)
        scheduler = stock_scheduler(name, cluster)
        scheduler.install(cluster.connection.api)
        scheduler.start()
        try:
            results = Path(directory, "results")
            config = str(cluster.client_kubeconfig("admin"))
            where = ["--kubeconfig", config, "--results", str(results), "--scheduler", name]
            subprocess.run([sys.executable, "-m", "muster", "run", *where, *options], check=False)
        finally:
            scheduler.stop()
        before, here = verdicts(embedded), verdicts(results)
    print("\n| behaviour | embedded | existing |\n|---|---|---|")
    for key in sorted(here):
        print(f"| {key} | {before.get(key, '-')} | {here[key]} |")
    worse = [key for key in here if before.get(key) == "passed" and here[key] in ("failed", "error")]
    print(f"\npassed on the embedded cluster and not here: {', '.join(worse) or 'none'}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
