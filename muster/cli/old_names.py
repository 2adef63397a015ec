"""Names of version 0.1 that were renamed: using one answers with the new name, exit code 64 (make: 2)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from muster.errors import UsageError

COMMANDS = {"sweep": "cleanup"}
VARIABLES = {"MUSTER_SABOTEUR": "MUSTER_FAULT_INJECTOR"}
MAKE_TARGETS = {"prove": "mutation-test", "endure": "soak", "test-subjects": "test-schedulers"}  # rules of the Makefile


def refuse_old_names(argv: Sequence[str]) -> None:
    """Raise where the command or a variable of the environment has an old name."""
    if argv and argv[0] in COMMANDS:
        raise UsageError(f"muster {argv[0]} was renamed: use muster {COMMANDS[argv[0]]}")
    for old, new in VARIABLES.items():
        if old in os.environ:
            raise UsageError(f"the environment variable {old} was renamed: use {new}")
