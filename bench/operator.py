"""The operator under load and under fire.

python -m bench.operator crowd [JOBS]   jobs of 4 pods at once, against the same pods created directly (default 500)
python -m bench.operator kills [ROUNDS] documents 1 to 3 while the operator is killed every 300 ms (default 10)

A crowd is waited for until all of its pods exist; nobody schedules them. Wants an idle machine.
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

from bench.figures import resident
from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD, PYTORCH_JOB
from muster.subject import Workplace
from muster.subject.dialect import Dialect
from muster.subject.operators import ReferenceOperator
from muster.suite import suite_root
from scheduler.client import Access, Client, Reflector
from scheduler.operator.changes import CreatePod
from scheduler.operator.objects import Job, Pod
from scheduler.operator.profiles import PROFILES
from scheduler.operator.reconciling import reconcile
from tests.operator_killer import LEDGER

SIZE = 4
PATIENCE = 300.0  # seconds
DOCUMENTS = "DOC-1,DOC-2,DOC-3"
_SLOW = "3"  # an operator that is starting most of the time needs longer for everything
_SPACES = ("directly", "operated")
Wanted = tuple[str, dict[str, Any]]  # where to create what


@dataclass(frozen=True)
class Outcome:
    """What went wrong, in pytest's words, and how often the operator was killed."""

    wrong: str
    kills: int


def documents_under_fire(directory: Path) -> Outcome:
    ledger = directory / "kills"
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "tests.operator_killer", "-q"]
    command += ["-p", "no:cacheprovider", "--muster-scheduler", "reference", "--muster-only", DOCUMENTS]
    environment = {**os.environ, LEDGER: str(ledger), "MUSTER_TIMEOUT_SCALE": _SLOW}
    seen = subprocess.run(command, cwd=suite_root(), env=environment, capture_output=True, text=True, check=False)
    kills = int(ledger.read_text()) if ledger.exists() else 0
    return Outcome("" if seen.returncode == 0 else seen.stdout + seen.stderr, kills)


def kills(rounds: int) -> int:
    wrong = 0
    for number in range(1, rounds + 1):
        with tempfile.TemporaryDirectory() as directory:
            outcome = documents_under_fire(Path(directory))
        wrong += bool(outcome.wrong)
        print(f"round {number}: {outcome.kills} kills, {outcome.wrong or 'every verdict as ever'}", flush=True)
    return 1 if wrong else 0


def crowd(number: int) -> int:
    with LocalCluster() as cluster:
        for part in ("player", "kwok"):
            cluster.processes.pop(part).kill()
        api = cluster.connection.api
        for space in _SPACES:
            api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
            account = {"name": "default", "namespace": space}
            api.ensure({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
        admin = cluster.client_kubeconfig("admin")
        operator = ReferenceOperator(Workplace(cluster.directory, admin, admin, {}), Dialect("nobody"))
        operator.install(api)
        operator.start()
        access = Access.from_kubeconfig(admin)
        alone, operated = (kind.path(space) for kind, space in ((POD, _SPACES[0]), (PYTORCH_JOB, _SPACES[1])))
        first = [(operated, job("warm", _SPACES[1]))]
        asyncio.run(seconds(access, _SPACES[1], first, SIZE))  # from here on the operator is at work
        jobs = [job(f"job-{one:04}", _SPACES[1]) for one in range(number)]
        pods = [pod for one in jobs for pod in pods_of(one, _SPACES[0])]
        least = asyncio.run(seconds(access, _SPACES[0], [(alone, one) for one in pods], len(pods)))
        taken = asyncio.run(seconds(access, _SPACES[1], [(operated, one) for one in jobs], len(pods)))
        assert operator.process is not None
        memory = resident(operator.process.pid)
        operator.stop()
    print(f"{len(pods)} pods created directly  {least:6.1f} s  {len(pods) / least:6.0f} pods/s")
    print(f"{len(pods)} pods of {number} jobs       {taken:6.1f} s  {len(pods) / taken:6.0f} pods/s")
    print(f"ratio {taken / least:.2f}, the operator's memory {memory:.0f} MiB")
    return 0 if taken <= 2 * least else 1


def job(name: str, namespace: str) -> dict[str, Any]:
    container = {"name": "pytorch", "image": "training", "resources": {"limits": {"nvidia.com/gpu": 1}}}
    role = {"restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    roles = {"Master": {**role, "replicas": 1}, "Worker": {**role, "replicas": SIZE - 1}}
    metadata = {"name": name, "namespace": namespace}
    spec = {"pytorchReplicaSpecs": roles}
    return {"apiVersion": PYTORCH_JOB.api_version, "kind": PYTORCH_JOB.kind, "metadata": metadata, "spec": spec}


def pods_of(manifest: dict[str, Any], namespace: str) -> list[dict[str, Any]]:
    """The pods that the operator would make of it, as nobody's."""
    changes = reconcile(msgspec.convert(manifest, Job), [], [], None, time.time(), PROFILES["documents"])
    found = [one.manifest for one in changes if isinstance(one, CreatePod)]
    for one in found:
        one["metadata"] = {**one["metadata"], "namespace": namespace, "ownerReferences": []}
    return found


async def seconds(access: Access, namespace: str, wanted: Sequence[Wanted], count: int) -> float:
    """From the first request until there are so many more pods."""
    seen: set[str] = set()
    done = asyncio.Event()

    def changed(_event: str, pod: Pod) -> None:
        seen.add(pod.metadata.name)
        if len(seen) >= there + count:
            done.set()

    there = count  # until the list has shown how many there are
    async with Client(access) as client, Client(access) as watcher:
        pods = Reflector(watcher, POD.path(namespace), Pod, changed)
        watching = asyncio.create_task(pods.run())
        await pods.synced.wait()
        there = len(seen)
        began = time.monotonic()
        await asyncio.gather(*(client.create(path, manifest) for path, manifest in wanted))
        await asyncio.wait_for(done.wait(), PATIENCE)
        taken = time.monotonic() - began
        watching.cancel()
    return taken


def main(words: list[str]) -> int:
    what, *numbers = words or [""]
    deeds = {"crowd": (crowd, 500), "kills": (kills, 10)}
    if what not in deeds:
        print(__doc__)
        return 64
    deed, usual = deeds[what]
    return deed(int(numbers[0]) if numbers else usual)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
