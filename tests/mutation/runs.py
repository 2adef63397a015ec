"""Runs of mutants: many on one control plane where that is possible, each with a plane of its own where it is not.

Every run has the same time scale. A baseline, the same component without a fault, runs the same scenarios in the same
way: only a scenario that passes there can prove anything by failing on a mutant.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from muster import assets
from muster.report.results import read_results
from tests.mutation.checkout import version
from tests.mutation.mutants import Mutant
from tests.mutation.outcomes import Outcomes, outcomes

ROOT = Path(__file__).resolve().parents[2]
_TIME_SCALE = "MUSTER_TIMEOUT_SCALE"
_SHORT = "0.3"  # a mutant often never does what is awaited


def time_scale(usual: str = _SHORT) -> str:
    """What the time limits of a run are multiplied by: as the user wants it, or as usual."""
    return f"{float(os.environ.get(_TIME_SCALE, usual)):g}"


def run_on_own_plane(mutant: Mutant, directory: Path, scale: str) -> Outcomes:
    """One mutant with `muster run`, on its scenarios; on all if it names none."""
    only = ["--only", *mutant.ids] if mutant.ids else []
    results = directory / "results"
    command = [sys.executable, "-m", "muster", "run", "--scheduler", mutant.scheduler, "--results", str(results)]
    directory.mkdir(parents=True)
    commit = version()
    variables = {**mutant.environment, **_controller_manager(mutant, directory)}
    _run([*command, *only], {**os.environ, **variables, _TIME_SCALE: scale}, results)
    return outcomes(read_results(results), scale, commit)


def run_on_shared_plane(mutants: Sequence[Mutant], directory: Path, scale: str) -> dict[str, Outcomes]:
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
    commit = version()
    _run(command, {**os.environ, _TIME_SCALE: scale}, directory)
    results = read_results(directory)
    return {
        one.name: outcomes((each for each in results if each.round == number), scale, commit)
        for number, one in enumerate(mutants, start=1)
    }


def _entry(mutant: Mutant) -> dict[str, object]:
    return {"ids": mutant.ids, "environment": dict(mutant.environment), "injections": dict(mutant.injections)}


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
