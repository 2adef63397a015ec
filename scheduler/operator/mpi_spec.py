"""How the processes of an MPIJob find and start each other, as its spec asks for it.

Two ways: `kubectl exec` from the launcher into the workers (v1 and v1alpha1), or SSH between them (v2beta1).
"""

from __future__ import annotations

from dataclasses import dataclass

OPEN_MPI, INTEL, MPICH = "OpenMPI", "Intel", "MPICH"
IMPLEMENTATIONS = (OPEN_MPI, INTEL, MPICH)
AT_STARTUP, WAIT_FOR_WORKERS_READY = "AtStartup", "WaitForWorkersReady"  # of launcherCreationPolicy


@dataclass(frozen=True)
class MpiSpec:
    """The fields of an MPIJob beside its replicas and its runPolicy."""

    slots: int = 1  # processes per worker
    implementation: str = OPEN_MPI
    ssh_mount_path: str = ""  # empty: the launcher reaches the workers by kubectl exec
    main_container: str = ""  # of kubectl exec; empty: the first
    launcher_is_worker: bool = False  # processes run in the launcher, too
    launcher_waits: bool = True  # until all workers are ready

    @property
    def uses_ssh(self) -> bool:
        return bool(self.ssh_mount_path)
