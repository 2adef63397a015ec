"""A command as a person types it, and what comes back; in this process, because starting one costs a second."""

from __future__ import annotations

import contextlib
import io
import shlex
from pathlib import Path

from muster import cli
from muster.errors import MusterError
from muster.subject.clients import Answer


def typed(command: str, kubeconfig: Path) -> Answer:
    """`muster top node` and the like, on the cluster of this kubeconfig."""
    program, *words = shlex.split(command.replace("\\\n", " "))
    if program != "muster":
        raise ValueError(f"not a command of ours: {program}")
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = cli.perform([*words, "--kubeconfig", str(kubeconfig)])
        except MusterError as error:
            output.write(f"muster: {error}\n")
            code = error.exit_code
    return Answer(output.getvalue(), code)
