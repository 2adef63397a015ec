"""`muster explain POD`: why a pod waits, in the words of the reference scheduler.

The scheduler is asked as a process of its own: it stands alone, and decides from the objects as they are now. Trap: one
that runs with other settings decides otherwise, so the answer must be made with the settings of the one that runs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED, HarnessError, UsageError
from muster.jobs import targets

if TYPE_CHECKING:
    from muster.jobs.targets import Target

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_PATIENCE = 60.0  # seconds: it gives up by itself after half of that


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "explain",
        help="say why a pod waits",
        description="Say why a pod waits, as the reference scheduler sees it: who is before it, what its gang lacks, "
        "and what each node has to offer.",
    )
    parser.add_argument("pod", metavar="POD")
    targets.add_options(parser)
    parser.set_defaults(run=explain)


def explain(args: argparse.Namespace) -> int:
    """A pod that does not exist is a usage error: nothing is printed on standard output."""
    from muster.cli.preflight import check_kubeconfig

    target = targets.reach(args, check_kubeconfig)
    _check_pod(target, args.pod)
    file = args.kubeconfig or targets.usual_kubeconfig(args.context)
    options = {"--kubeconfig": file, "--context": args.context, "--config": _configuration(file)}
    words = [str(word) for option, value in options.items() if value for word in (option, value)]
    answer = _ask([args.pod, "-n", target.namespace, *words])
    if answer.returncode:
        said = answer.stderr.strip().splitlines()
        raise HarnessError(f"the reference scheduler has no answer: {said[-1] if said else 'it said nothing'}")
    sys.stdout.write(answer.stdout)
    return EXIT_PASSED


def _configuration(kubeconfig: Path) -> Path | None:
    """On a cluster of Muster's own its settings lie beside the kubeconfig; elsewhere the defaults count."""
    file = kubeconfig.absolute().parent / "reference.yaml"
    return file if file.is_file() else None


def _check_pod(target: Target, name: str) -> None:
    from muster.cluster.resources import POD
    from muster.jobs.objects import look_up

    pod = look_up(target.api, POD, name, target.namespace)
    if pod is None:
        hint = "muster get JOB shows those of a job"
        raise UsageError(f"there is no pod {name!r} in namespace {target.namespace}: {hint}")
    if (phase := pod["status"]["phase"]) in ("Succeeded", "Failed"):
        raise UsageError(f"the pod {name!r} in namespace {target.namespace} does not wait: it has ended ({phase})")


def _ask(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    from muster import suite

    command = [sys.executable, "-m", "scheduler", "explain", *words]
    environment = suite.scheduler_environment()
    try:
        return subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise HarnessError(f"the reference scheduler did not answer within {_PATIENCE:.0f} s") from None
