"""The reference scheduler and operator, broken on purpose in one way at a time, so that scenarios can be seen to fail.

    python -m tests.broken NAME --kubeconfig FILE …    whichever of them has that fault, with its own flags

Nothing in scheduler/ knows of it: a fault is a small patch, made before the scheduler starts.
"""

from tests.broken import eviction, gangs, jobs_ended, jobs_made, moments, nodes, order, queues, telling, victims
from tests.broken.faults import FAULTS, OPERATOR, Fault, Patch

__all__ = [
    "FAULTS",
    "OPERATOR",
    "Fault",
    "Patch",
    "eviction",
    "gangs",
    "jobs_ended",
    "jobs_made",
    "moments",
    "nodes",
    "order",
    "queues",
    "telling",
    "victims",
]
