"""Fault injection into the reference scheduler and operator: one fault at a time, to prove that scenarios can fail.

    python -m tests.mutation.faults NAME --kubeconfig FILE …    run the component that has the fault

Nothing in scheduler/ knows of it: a fault is a small patch, applied before the component starts.
"""

from tests.mutation.faults import (
    gang_faults,
    gang_isolation_faults,
    job_creation_faults,
    job_detail_faults,
    job_end_faults,
    lost_member_faults,
    message_faults,
    mpi_faults,
    node_faults,
    nomination_faults,
    placement_constraint_faults,
    pod_faults,
    preemption_faults,
    queue_faults,
    queue_order_faults,
    victim_faults,
)
from tests.mutation.faults.general_faults import GENERAL_FAULTS, OPERATOR_FAULTS
from tests.mutation.faults.registry import FAULTS, OPERATOR, Fault, Patch
from tests.mutation.faults.variations import VARIATIONS

__all__ = [
    "FAULTS",
    "GENERAL_FAULTS",
    "OPERATOR",
    "OPERATOR_FAULTS",
    "VARIATIONS",
    "Fault",
    "Patch",
    "gang_faults",
    "gang_isolation_faults",
    "job_creation_faults",
    "job_detail_faults",
    "job_end_faults",
    "lost_member_faults",
    "message_faults",
    "mpi_faults",
    "node_faults",
    "nomination_faults",
    "placement_constraint_faults",
    "pod_faults",
    "preemption_faults",
    "queue_faults",
    "queue_order_faults",
    "victim_faults",
]
