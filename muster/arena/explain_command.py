"""`muster explain POD`: why a pod is pending, as the reference scheduler sees it.

The reference runs as a process of its own and decides from the current objects. It must have the configuration of the
scheduler that is running: with another one it would decide differently.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from muster import timeouts
from muster.arena import target
from muster.command_line import add_command
from muster.errors import EXIT_PASSED, HarnessError, UsageError

if TYPE_CHECKING:
    from muster.arena.target import Target
    from muster.command_line import Subparsers


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "explain",
        _explain,
        help="explain why a pod is pending",
        description="Explain why a pod is pending, as the reference scheduler sees it: the pods ahead of it, what its "
        "gang lacks, and the free resources of each node.",
    )
    parser.add_argument("pod", metavar="POD")
    target.add_options(parser)


def _explain(args: argparse.Namespace) -> int:
    """A pod that does not exist is a usage error, without standard output."""
    cluster = target.connect(args)
    _check_pod(cluster, args.pod)
    with _single_context(cluster) as file:
        arguments = ["--kubeconfig", str(file)]
        if configuration := _configuration(cluster.kubeconfig.context_file(cluster.context)):
            arguments += ["--config", str(configuration)]
        explained = _run_reference([args.pod, "-n", cluster.namespace, *arguments])
    if explained.returncode:
        lines = explained.stderr.strip().splitlines()
        raise HarnessError(f"the reference scheduler failed: {lines[-1] if lines else 'without an error message'}")
    sys.stdout.write(explained.stdout)
    return EXIT_PASSED


@contextmanager
def _single_context(cluster: Target) -> Iterator[Path]:
    """A kubeconfig for the process: it neither merges files nor calls log-in plugins."""
    from muster.cluster.kubeconfig import write_single_context
    from muster.processes import Reaper

    directory = Reaper.current().make_directory("muster-explain-")
    try:
        file = directory / "kubeconfig"
        write_single_context(file, cluster.kubeconfig, cluster.context, cluster.api.token)
        yield file
    finally:
        Reaper.current().remove_directory(directory)


def _configuration(kubeconfig: Path) -> Path | None:
    """On Muster's own clusters the configuration is beside the kubeconfig; elsewhere the defaults apply."""
    file = kubeconfig.absolute().parent / "reference.yaml"
    return file if file.is_file() else None


def _check_pod(cluster: Target, name: str) -> None:
    from muster.arena.queries import look_up
    from muster.cluster.resources import POD

    pod = look_up(cluster.api, POD, name, cluster.namespace)
    if pod is None:
        hint = "muster get JOB shows the pods of a job"
        raise UsageError(f"there is no pod {name!r} in namespace {cluster.namespace}: {hint}")
    if (phase := pod["status"]["phase"]) in ("Succeeded", "Failed"):
        raise UsageError(f"the pod {name!r} in namespace {cluster.namespace} is not pending: it has finished ({phase})")


def _run_reference(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    from muster.suite import paths

    command = [sys.executable, "-m", "scheduler", "explain", *arguments]
    environment = paths.scheduler_environment()
    try:
        return subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeouts.EXPLAIN
        )
    except subprocess.TimeoutExpired:
        raise HarnessError(f"the reference scheduler did not answer within {timeouts.EXPLAIN:.0f} s") from None
