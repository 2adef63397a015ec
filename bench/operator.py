"""The operator under load, and while it is killed again and again.

python -m bench.operator load [JOBS]    jobs of 4 pods at once, against the same pods created directly (default 500)
python -m bench.operator kills [ROUNDS] walk-throughs 1 to 3 while the operator is killed every 300 ms (default 10)

Under load the time counts until all pods exist; no scheduler runs. Needs an idle machine.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bench.statistics import resident_set_mib
from muster.cluster.job_kinds import PYTORCH
from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD, job_resource
from muster.operators.base import ReferenceOperator
from muster.schedulers import ProcessContext
from muster.schedulers.dialect import Dialect
from muster.suite.paths import suite_root
from scheduler.client import Access, Client, Reflector
from scheduler.operator.actions import CreatePod
from scheduler.operator.api_objects import Job, Pod
from scheduler.operator.lost_replicas import PROFILES
from scheduler.operator.reconcile import reconcile
from tests.support.operator_killer import KILL_COUNT_FILE

SIZE = 4
PATIENCE = 300.0  # seconds
JOB = job_resource(PYTORCH)
WALKTHROUGHS = "DOC-1,DOC-2,DOC-3"
_TIMEOUT_SCALE = "3"  # an operator that is starting most of the time is slower
_NAMESPACES = ("direct", "operator")
Creation = tuple[str, dict[str, Any]]  # path and manifest


@dataclass(frozen=True)
class Outcome:
    """The output of a failed run, and how often the operator was killed."""

    failure: str
    kills: int


def run_walkthroughs_while_killing(directory: Path) -> Outcome:
    kill_count = directory / "kills"
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "tests.support.operator_killer", "-q"]
    command += ["-p", "no:cacheprovider", "--muster-scheduler", "reference", "--muster-only", WALKTHROUGHS]
    environment = {**os.environ, KILL_COUNT_FILE: str(kill_count), "MUSTER_TIMEOUT_SCALE": _TIMEOUT_SCALE}
    seen = subprocess.run(command, cwd=suite_root(), env=environment, capture_output=True, text=True, check=False)
    kills = int(kill_count.read_text()) if kill_count.exists() else 0
    return Outcome("" if seen.returncode == 0 else seen.stdout + seen.stderr, kills)


def kills(rounds: int) -> int:
    failures = 0
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as directory:
            outcome = run_walkthroughs_while_killing(Path(directory))
        failures += bool(outcome.failure)
        print(f"round {number}: {outcome.kills} kills, {outcome.failure or 'all passed'}", flush=True)
    return 1 if failures else 0


def load(number: int) -> int:
    with LocalCluster() as cluster:
        for part in ("simulator", "kwok"):
            cluster.processes.pop(part).kill()
        api = cluster.connection.api
        for namespace in _NAMESPACES:
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            account = {"name": "default", "namespace": namespace}
            api.ensure({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        admin = cluster.client_kubeconfig("admin")
        operator = ReferenceOperator(ProcessContext(cluster.directory, admin, admin, {}), Dialect("none"))
        operator.install(api)
        operator.start()
        access = Access.from_kubeconfig(admin)
        pods_path, jobs_path = POD.path(_NAMESPACES[0]), JOB.path(_NAMESPACES[1])
        first = [(jobs_path, job("warm", _NAMESPACES[1]))]
        asyncio.run(seconds(access, _NAMESPACES[1], first, SIZE))  # from here on the operator is ready
        jobs = [job(f"job-{one:04}", _NAMESPACES[1]) for one in range(number)]
        pods = [pod for one in jobs for pod in pods_of(one, _NAMESPACES[0])]
        direct = asyncio.run(seconds(access, _NAMESPACES[0], [(pods_path, one) for one in pods], len(pods)))
        taken = asyncio.run(seconds(access, _NAMESPACES[1], [(jobs_path, one) for one in jobs], len(pods)))
        assert operator.process is not None
        memory = resident_set_mib(operator.process.pid)
        operator.stop()
    print(f"{len(pods)} pods created directly  {direct:6.1f} s  {len(pods) / direct:6.0f} pods/s")
    print(f"{len(pods)} pods of {number} jobs       {taken:6.1f} s  {len(pods) / taken:6.0f} pods/s")
    print(f"ratio {taken / direct:.2f}, memory of the operator {memory:.0f} MiB")
    return 0 if taken <= 2 * direct else 1


def job(name: str, namespace: str) -> dict[str, Any]:
    container = {"name": "pytorch", "image": "training", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    role = {"restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    roles = {"Master": {**role, "replicas": 1}, "Worker": {**role, "replicas": SIZE - 1}}
    metadata = {"name": name, "namespace": namespace}
    spec = {"pytorchReplicaSpecs": roles}
    return {"apiVersion": JOB.api_version, "kind": JOB.kind, "metadata": metadata, "spec": spec}


def pods_of(manifest: dict[str, Any], namespace: str) -> list[dict[str, Any]]:
    """The pods that the operator would create for it, without owners."""
    actions = reconcile(msgspec.convert(manifest, Job), [], [], None, [], time.time(), PROFILES["walkthroughs"])
    found = [one.manifest for one in actions if isinstance(one, CreatePod)]
    for one in found:
        one["metadata"] = {**one["metadata"], "namespace": namespace, "ownerReferences": []}
    return found


async def seconds(access: Access, namespace: str, creations: Sequence[Creation], count: int) -> float:
    """From the first request until `count` more pods exist."""
    seen: set[str] = set()
    done = asyncio.Event()

    def changed(_event: str, pod: Pod) -> None:
        seen.add(pod.metadata.name)
        if len(seen) >= existing + count:
            done.set()

    existing = count  # until the list shows how many there are
    async with Client(access) as client, Client(access) as watcher:
        pods = Reflector(watcher, POD.path(namespace), Pod, changed)
        watching = asyncio.create_task(pods.run())
        await pods.synced.wait()
        existing = len(seen)
        started = time.monotonic()
        await asyncio.gather(*(client.create(path, manifest) for path, manifest in creations))
        await asyncio.wait_for(done.wait(), PATIENCE)
        taken = time.monotonic() - started
        watching.cancel()
    return taken


def main(argv: list[str]) -> int:
    what, *numbers = argv or [""]
    benchmarks = {"load": (load, 500), "kills": (kills, 10)}
    if what not in benchmarks:
        print(__doc__)
        return 64
    benchmark, default = benchmarks[what]
    return benchmark(int(numbers[0]) if numbers else default)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
