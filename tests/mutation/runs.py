"""Runs of mutants: many on one control plane where that is possible, each with a plane of its own where it is not.

Every run has the same time scale. A baseline, the same component without a fault, runs the same scenarios in the same
way: only a scenario that passes there can prove anything by failing on a mutant.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from muster import assets
from muster.report.results import Result, StepResult, read_results
from tests.mutation.aims import AT_THE_END, Outcome
from tests.mutation.mutants import Mutant

ROOT = Path(__file__).resolve().parents[2]
TIME_SCALE = {"MUSTER_TIMEOUT_SCALE": "0.3"}  # a mutant often never does what is awaited
_NOT_TESTED = ("not-supported", "not-staged")
_SEEN_LENGTH = 160
_NO_LONGER = "this was so, and is no longer"
_INVARIANT = re.compile(r"^wanted +the invariants hold", re.MULTILINE)

Outcomes = dict[str, list[Outcome]]  # by scenario; an outline has one per row


def run_on_own_plane(mutant: Mutant, directory: Path, scale: Mapping[str, str] = TIME_SCALE) -> Outcomes:
    """One mutant with `muster run`, on its scenarios; on all if it names none."""
    only = ["--only", *mutant.ids] if mutant.ids else []
    results = directory / "results"
    command = [sys.executable, "-m", "muster", "run", "--scheduler", mutant.scheduler, "--results", str(results)]
    directory.mkdir(parents=True)
    variables = {**mutant.environment, **_controller_manager(mutant, directory)}
    _run([*command, *only], {**scale, **os.environ, **variables}, results)
    return outcomes(read_results(results))


def run_on_shared_plane(mutants: Sequence[Mutant], directory: Path) -> dict[str, Outcomes]:
    """Mutants that run with the same scheduler, one after the other; by name."""
    directory.mkdir(parents=True)
    file = directory / "mutants.json"
    file.write_bytes(msgspec.json.encode([_entry(one) for one in mutants]))
    command = [sys.executable, "-m", "pytest", "features", "-q", "-p", "no:cacheprovider"]
    command += [
        "-p",
        "tests.mutation.injection.plugin",
        "-p",
        "tests.mutation.shared_plane",
        "--mutants",
        str(file),
        f"--muster-results={directory}",
    ]
    command += [f"--muster-scheduler={mutants[0].scheduler}", f"--muster-repeat={max(2, len(mutants))}"]
    _run(command, {**TIME_SCALE, **os.environ}, directory)
    results = read_results(directory)
    return {one.name: outcomes(r for r in results if r.round == number) for number, one in enumerate(mutants, start=1)}


def _entry(mutant: Mutant) -> dict[str, object]:
    return {"ids": mutant.ids, "environment": dict(mutant.environment), "injections": dict(mutant.injections)}


def outcomes(results: Iterable[Result]) -> Outcomes:
    """The outcome of every scenario that was tested."""
    found: Outcomes = {}
    for result in results:
        if result.verdict not in _NOT_TESTED:
            found.setdefault(result.id, []).append(_outcome(result))
    return found


def _outcome(result: Result) -> Outcome:
    if result.verdict == "passed":
        return Outcome("passed", seconds=round(result.seconds, 1))
    number, failing = next(
        ((number, step) for number, step in enumerate(result.steps) if step.status != "passed"),
        (len(result.steps), None),
    )
    where, violated = failing.text if failing else AT_THE_END, bool(_INVARIANT.search(result.message))
    seen = _seen(result.message)
    no_longer = _thens_before(result.steps[:number]) if seen.startswith(_NO_LONGER) else []
    return Outcome(str(result.verdict), where, number, seen, violated, no_longer, round(result.seconds, 1))


def _thens_before(steps: Sequence[StepResult]) -> list[str]:
    """The Thens since the last When."""
    found: list[str] = []
    for step in reversed(steps):
        if step.keyword in ("Given", "When"):
            break
        found.append(step.text)
        if step.keyword == "Then":
            return found
    return []  # an And of a When


def _seen(message: str) -> str:
    """What the failure report says was seen, in one line."""
    lines = message.splitlines() or [""]
    seen = next((line.removeprefix("seen").strip() for line in lines if line.startswith("seen")), lines[0])
    return seen if len(seen) <= _SEEN_LENGTH else f"{seen[: _SEEN_LENGTH - 1]}…"


def _controller_manager(mutant: Mutant, directory: Path) -> dict[str, str]:
    """kube-controller-manager as a script that changes its flags.

    Of several mentions of a controller the first counts, of several values of another flag the last.
    """
    if not mutant.without_controllers and not mutant.controller_flags:
        return {}
    found = assets.find("kube-controller-manager")
    if found is None:
        raise SystemExit("kube-controller-manager is not installed: run `muster assets` first")
    first = [f"--controllers=-{name}" for name in mutant.without_controllers]
    real, before, after = (shlex.join(part) for part in ([str(found.path)], first, mutant.controller_flags))
    script = directory / "kube-controller-manager"
    script.write_text(f'#!/bin/sh\n[ "$1" = --version ] || set -- {before} "$@" {after}\nexec {real} "$@"\n')
    script.chmod(0o755)
    return {"MUSTER_ASSET_KUBE_CONTROLLER_MANAGER": str(script)}


def _run(command: Sequence[str], environment: Mapping[str, str], directory: Path) -> None:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={name: value for name, value in environment.items() if not name.startswith("PYTEST_")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if not read_results(directory):
        raise SystemExit(f"nothing was tested by: {shlex.join(command)}\n{done.stdout}")
