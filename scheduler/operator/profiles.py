"""What becomes of a job that lost a member: not a fact of nature but a choice, and the choices have names.

`documents` is the operator that the walk-throughs were written on: only exit codes from 128 bring a member back, any
other loss is the end of the job, and its peers crash with it (the training processes do that; where pods are objects
only, the marks on them tell the harness to play it). `training-operator` follows the restart policy of each role.
"""

from __future__ import annotations

from dataclasses import dataclass

NEVER, ON_FAILURE, ALWAYS, EXIT_CODE = "Never", "OnFailure", "Always", "ExitCode"
RESTART_POLICIES = (ALWAYS, ON_FAILURE, NEVER, EXIT_CODE)
_FIRST_RETRYABLE = 128  # a process ended by a signal; below that it ended by itself, and would again


@dataclass(frozen=True)
class Profile:
    """How the operator treats all jobs. `gang` names the dialect of PodGroups, or "none"."""

    name: str = "training-operator"
    restarting: frozenset[str] = frozenset({ON_FAILURE, ALWAYS})
    peers_crash: bool = False
    gang: str = "none"
    scheduler_name: str = ""  # for pods whose template names none

    def brings_back(self, policy: str, exit_code: int | None) -> bool:
        """Whether a lost member is replaced. No exit code: it was taken away, it did not end."""
        if policy == EXIT_CODE:
            return exit_code is None or exit_code >= _FIRST_RETRYABLE
        return policy in self.restarting


PROFILES = {
    "documents": Profile("documents", restarting=frozenset(), peers_crash=True),
    "training-operator": Profile(),
}
