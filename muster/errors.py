"""What can go wrong, sorted by who has to act: the user, the harness, or the scheduler under test.

The class decides the verdict and the exit code, so nothing else may be raised on purpose.
"""

EXIT_PASSED = 0
EXIT_FAILED = 1
EXIT_HARNESS_BROKE = 2
EXIT_USAGE = 64


class MusterError(Exception):
    """One clear sentence: what was wrong, where, and what to do about it."""

    exit_code = EXIT_HARNESS_BROKE


class UsageError(MusterError):
    """The user asked for something that does not exist or does not fit together."""

    exit_code = EXIT_USAGE


class HarnessError(MusterError):
    """The harness, the cluster or the API got into trouble: the verdict is *error*, never failed or passed."""


class BehaviourViolated(AssertionError):
    """The scheduler under test did not behave as the scenario promises. Its text is the failure story."""


class NotSupported(Exception):
    """The subject does not claim the capability that a scenario asks for."""


class NotStaged(Exception):
    """The cluster cannot be brought into the situation that a scenario describes."""
