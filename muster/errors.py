"""What can go wrong, by cause: the user, the harness, or the scheduler under test.

The class decides the verdict and the exit code, so nothing else may be raised on purpose.
"""

EXIT_PASSED = 0
EXIT_FAILED = 1
EXIT_HARNESS_BROKE = 2
EXIT_USAGE = 64


class MusterError(Exception):
    """An error with a message for the user: what is wrong, where, and what to do."""

    exit_code = EXIT_HARNESS_BROKE


class UsageError(MusterError):
    """Options or names that do not exist or do not fit together."""

    exit_code = EXIT_USAGE


class HarnessError(MusterError):
    """The harness, the cluster or the API failed: the verdict is *error*, never failed or passed."""


class SchedulerNotServing(HarnessError):
    """The scheduler's processes are alive, and yet it does not bind the probe pod. Its text ends with their log."""


class SchedulerCrashed(HarnessError):
    """A process of the scheduler ended by itself. Once is an error; twice in one scenario is a failure."""


class ConformanceFailure(AssertionError):
    """The scheduler under test did not behave as the scenario requires. Its text is the failure report."""


NOT_CLAIMED = "does not claim"  # in the text of a NotSupported that is about the whole capability


class NotSupported(Exception):
    """The scheduler does not claim the capability that a scenario needs."""


class NotStaged(Exception):
    """The cluster cannot be brought into the situation that a scenario describes."""
