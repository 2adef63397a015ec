"""The long versions of the chaos tests.

python -m bench.chaos kills [N] [SEED]     N kills (default 200; about 4 s each), a new scenario after every 8
python -m bench.chaos replica-kills [N] [SEED]   the same, of the active one of two replicas with a lease of 2 s
python -m bench.chaos errors [SEED]        the whole suite with an unreliable connection (about 10 minutes)
python -m bench.chaos large-gang [N]       one gang of N pods (default 5000), with probe pods beside it

Each prints its seed, which reproduces the choices. Exits with 1 when a check failed, and with 2 when the harness failed
and not everything was checked.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from muster.environment.environment import Environment
from muster.errors import ConformanceFailure, HarnessError
from muster.run_options import RunOptions
from tests.chaos.api_faults import fault_counts
from tests.chaos.kills import KillLoop
from tests.chaos.large_gang import run_large_gang
from tests.chaos.replica_kills import ReplicaKillLoop, TwoReplicas, use_two_replicas

_KILLS_PER_SCENARIO = 8  # the time of a check grows with the square of the history


def kills(number: int, seed: int, *, replicas: bool = False) -> int:
    failed = aborted = 0
    take_overs: list[float] = []
    environment = Environment(RunOptions())
    start(environment, replicas=replicas)
    try:
        for first in range(0, number, _KILLS_PER_SCENARIO):
            scenario_seed = seed + first // _KILLS_PER_SCENARIO
            began = time.monotonic()
            loop = ReplicaKillLoop if replicas else KillLoop
            try:
                running = loop(environment, scenario_seed, log)
                running.run(min(_KILLS_PER_SCENARIO, number - first))
                take_overs += running.take_overs if isinstance(running, ReplicaKillLoop) else ()
            except (AssertionError, ConformanceFailure) as error:
                failed += 1
                log(f"seed {scenario_seed} FAILED: {error}")
                restart(environment, scenario_seed, replicas=replicas)
            except HarnessError as error:
                aborted += 1
                log(f"seed {scenario_seed} aborted: {error}")
                restart(environment, scenario_seed, replicas=replicas)
            done, took = first + _KILLS_PER_SCENARIO, time.monotonic() - began
            log(f"seed {scenario_seed}: {done} kills, {took:.0f} s, {failed} failed, {aborted} aborted")
    finally:
        environment.stop()
    if take_overs:
        log(f"{len(take_overs)} take-overs: median {median(take_overs):.1f} s, longest {max(take_overs):.1f} s")
        log(f"{TwoReplicas.losses} leases lost without a kill")
    return 1 if failed else 2 if aborted else 0


def start(environment: Environment, *, replicas: bool) -> None:
    environment.start()
    if replicas:
        use_two_replicas(environment)


def restart(environment: Environment, seed: int, *, replicas: bool) -> None:
    scheduler = environment.scheduler
    logs = scheduler.logs if isinstance(scheduler, TwoReplicas) else [scheduler.processes[0].log]
    for number, file in enumerate(logs):
        kept = Path(tempfile.gettempdir()) / f"muster-chaos-{seed}-{number}.log"
        kept.write_bytes(file.read_bytes())
        log(f"the scheduler's log: {kept}")
    environment.stop()
    start(environment, replicas=replicas)


def errors(seed: int) -> int:
    with tempfile.TemporaryDirectory() as directory:
        ledger = Path(directory) / "ledger"
        command = [sys.executable, "-m", "muster", "run", "--scheduler", "reference", "--results", f"{directory}/all"]
        environment = {**os.environ, "MUSTER_REFERENCE": f"tests.chaos.unreliable_connection {seed} {ledger}"}
        code = subprocess.run(command, env=environment, check=False).returncode
        for fault, times in fault_counts(ledger).most_common():
            log(f"{times:>6}  {fault}")
    return code


def large_gang(number: int) -> int:
    environment = Environment(RunOptions())
    environment.start()
    try:
        run_large_gang(environment, number, log)
    finally:
        environment.stop()
    return 0


def log(text: str) -> None:
    print(text, flush=True)


def main(arguments: list[str]) -> int:
    command, *values = arguments or [""]
    numbers = [int(number) for number in values]
    if command == "large-gang":
        return large_gang(*numbers or [5000])
    if command not in ("kills", "replica-kills", "errors"):
        log(__doc__ or "")
        return 64
    number = numbers.pop(0) if command != "errors" and numbers else 200
    seed = numbers.pop(0) if numbers else secrets.randbelow(10**6)
    log(f"seed {seed}")
    return errors(seed) if command == "errors" else kills(number, seed, replicas=command == "replica-kills")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
