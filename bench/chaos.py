"""The long versions of the chaos tests.

python -m bench.chaos kills [N] [SEED]     N kills (default 200; about 4 s each), a new scenario after every 8
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

from muster.environment.environment import Environment
from muster.errors import ConformanceFailure, HarnessError
from muster.run_options import RunOptions
from tests.chaos.api_faults import fault_counts
from tests.chaos.kills import KillLoop
from tests.chaos.large_gang import run_large_gang

_KILLS_PER_SCENARIO = 8  # the time of a check grows with the square of the history


def kills(number: int, seed: int) -> int:
    failed = aborted = 0
    environment = Environment(RunOptions())
    environment.start()
    try:
        for first in range(0, number, _KILLS_PER_SCENARIO):
            scenario_seed = seed + first // _KILLS_PER_SCENARIO
            began = time.monotonic()
            try:
                KillLoop(environment, scenario_seed, log).run(min(_KILLS_PER_SCENARIO, number - first))
            except (AssertionError, ConformanceFailure) as error:
                failed += 1
                log(f"seed {scenario_seed} FAILED: {error}")
                restart(environment, scenario_seed)
            except HarnessError as error:
                aborted += 1
                log(f"seed {scenario_seed} aborted: {error}")
                restart(environment, scenario_seed)
            done, took = first + _KILLS_PER_SCENARIO, time.monotonic() - began
            log(f"seed {scenario_seed}: {done} kills, {took:.0f} s, {failed} failed, {aborted} aborted")
    finally:
        environment.stop()
    return 1 if failed else 2 if aborted else 0


def restart(environment: Environment, seed: int) -> None:
    kept = Path(tempfile.gettempdir()) / f"muster-chaos-{seed}.log"
    kept.write_bytes(environment.scheduler.processes[0].log.read_bytes())
    log(f"the scheduler's log: {kept}")
    environment.stop()
    environment.start()


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
    if command not in ("kills", "errors"):
        log(__doc__ or "")
        return 64
    number = numbers.pop(0) if command == "kills" and numbers else 200
    seed = numbers.pop(0) if numbers else secrets.randbelow(10**6)
    log(f"seed {seed}")
    return kills(number, seed) if command == "kills" else errors(seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
