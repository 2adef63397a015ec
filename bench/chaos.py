"""The long versions of the tests under fire.

python -m bench.chaos kills [N] [SEED]     N kills (default 200; about 4 s each), a fresh scene after every 8
python -m bench.chaos errors [SEED]        the whole suite on a bad connection (about 10 minutes)
python -m bench.chaos crowd [N]            one gang of N pods (default 5000), and a canary beside it

Each prints its seed: give it again to see the same choices again. Ends with 1 when something was wrong, and with 2 when
the harness had trouble, so that not everything was judged.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from muster.errors import BehaviourViolated, HarnessError
from muster.stage.stage import Stage
from tests.chaos.crowd import start_a_crowd
from tests.chaos.faults import counted
from tests.chaos.killer import Killer

_KILLS_IN_A_SCENE = 8  # judging costs time that grows with the square of what has happened


def kills(number: int, seed: int) -> int:
    wrong = unjudged = 0
    stage = Stage("reference")
    stage.start()
    try:
        for first in range(0, number, _KILLS_IN_A_SCENE):
            its_seed = seed + first // _KILLS_IN_A_SCENE
            began = time.monotonic()
            try:
                Killer(stage, its_seed, say).run(min(_KILLS_IN_A_SCENE, number - first))
            except (AssertionError, BehaviourViolated) as trouble:
                wrong += 1
                say(f"seed {its_seed} WRONG: {trouble}")
                begin_anew(stage, its_seed)
            except HarnessError as trouble:
                unjudged += 1
                say(f"seed {its_seed} was not judged to its end: {trouble}")
                begin_anew(stage, its_seed)
            done, took = first + _KILLS_IN_A_SCENE, time.monotonic() - began
            say(f"seed {its_seed}: {done} kills, {took:.0f} s, {wrong} scenes wrong, {unjudged} not judged")
    finally:
        stage.stop()
    return 1 if wrong else 2 if unjudged else 0


def begin_anew(stage: Stage, seed: int) -> None:
    log = stage.subject.processes[0].log
    kept = Path(tempfile.gettempdir()) / f"muster-chaos-{seed}.log"
    kept.write_bytes(log.read_bytes())
    say(f"the scheduler's log: {kept}")
    stage.stop()
    stage.start()


def errors(seed: int) -> int:
    with tempfile.TemporaryDirectory() as directory:
        ledger = Path(directory) / "ledger"
        command = [sys.executable, "-m", "muster", "run", "--scheduler", "reference", "--results", f"{directory}/all"]
        environment = {**os.environ, "MUSTER_REFERENCE": f"tests.chaos.shaky {seed} {ledger}"}
        code = subprocess.run(command, env=environment, check=False).returncode
        for fault, times in counted(ledger).most_common():
            say(f"{times:>6}  {fault}")
    return code


def crowd(number: int) -> int:
    stage = Stage("reference")
    stage.start()
    try:
        start_a_crowd(stage, number, say)
    finally:
        stage.stop()
    return 0


def say(text: str) -> None:
    print(text, flush=True)


def main(words: list[str]) -> int:
    what, *numbers = words or [""]
    given = [int(number) for number in numbers]
    if what == "crowd":
        return crowd(*given or [5000])
    if what not in ("kills", "errors"):
        say(__doc__ or "")
        return 64
    number = given.pop(0) if what == "kills" and given else 200
    seed = given.pop(0) if given else secrets.randbelow(10**6)
    say(f"seed {seed}")
    return kills(number, seed) if what == "kills" else errors(seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
