"""The table of job kinds. A new kind is one entry here, and a class that is a JobKind.

Muster has a table of its own (muster/cluster/job_kinds.py, which lists all places of a new kind): the harness shares no
code with the reference.
"""

from __future__ import annotations

from scheduler.operator.job_kind import JobKind
from scheduler.operator.mpi_job import MPIJob
from scheduler.operator.pytorch_job import PyTorchJob

KINDS: dict[str, JobKind] = {kind.kind: kind for kind in (PyTorchJob(), MPIJob())}
