"""A fault injector beside the scheduler: a process that breaks its work, to prove that scenarios can fail."""

from __future__ import annotations

import os

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.interface import Cluster
from muster.cluster.resources import NAMESPACE
from muster.processes import Process

COMMAND = "MUSTER_FAULT_INJECTOR"  # the command to start; it is given the administrator's kubeconfig
_READY = "fault-injector-ready"  # the namespace that it creates when it is ready


def start_fault_injector(cluster: Cluster, api: Api) -> Process | None:
    """Start the command of MUSTER_FAULT_INJECTOR, if it is set, and wait until it is ready."""
    command = os.environ.get(COMMAND)
    if not command:
        return None
    directory = cluster.directory
    argv = [*command.split(), str(cluster.client_kubeconfig("admin"))]
    process = Process("fault-injector", argv, directory=directory, log=directory / "fault-injector.log")
    process.start()
    attempts = tenacity.Retrying(
        wait=tenacity.wait_fixed(0.05), stop=tenacity.stop_after_delay(timeouts.SETTING_UP), reraise=True
    )
    try:
        attempts(api.get, NAMESPACE, _READY)
    except BaseException:
        process.kill()
        raise
    return process
