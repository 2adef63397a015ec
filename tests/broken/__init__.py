"""The reference scheduler, broken on purpose in one way at a time, so that scenarios can be seen to fail.

    python -m tests.broken NAME --kubeconfig FILE …    the scheduler with that fault, and with its own flags

Nothing in scheduler/ knows of it: a fault is a small patch, made before the scheduler starts.
"""

from tests.broken import eviction, gangs, moments, nodes, order, queues, telling, victims
from tests.broken.faults import FAULTS, Fault, Patch

__all__ = [
    "FAULTS",
    "Fault",
    "Patch",
    "eviction",
    "gangs",
    "moments",
    "nodes",
    "order",
    "queues",
    "telling",
    "victims",
]
