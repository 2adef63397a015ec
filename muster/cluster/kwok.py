"""KWOK and the workload simulator: their command lines, and both as processes beside a cluster."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from muster.processes import Process
from muster.processes.readiness import HealthCheck, Port, component_died, wait_until
from muster.suite import paths


def stages_file() -> Path:
    """KWOK's configuration: its Stage objects say how nodes and pods change."""
    return paths.manifests() / "kwok" / "kwok.yaml"


def kwok_flags(port: int, *, kubeconfig: str = "kwok.kubeconfig", nodes: str = "", lease_seconds: int = 0) -> list[str]:
    """`nodes` is a label selector, for a cluster that also has real nodes."""
    return [
        f"--kubeconfig={kubeconfig}",
        f"--config={stages_file()}",
        f"--manage-nodes-with-label-selector={nodes}" if nodes else "--manage-all-nodes=true",
        # No leases where the node controller does not need them: with leases KWOK ignores a pod until it has seen its
        # own lease on the pod's node, which delays a new node, and a restarted KWOK by 40 s.
        f"--node-lease-duration-seconds={lease_seconds}",
        "--cidr=10.64.0.0/10",  # pod IPs
        "--node-ip=172.16.0.1",  # the host IP of a pod whose node has no address yet
        f"--server-address=127.0.0.1:{port}",
    ]


def simulator_command(kubeconfig: str = "simulator.kubeconfig", *, pods: str = "") -> list[str]:
    """`pods` is a label selector."""
    selector = [f"--only={pods}"] if pods else []
    return [sys.executable, "-P", "-m", "muster.simulator", f"--kubeconfig={kubeconfig}", *selector]


class KwokProcesses:
    """KWOK and the simulator beside a cluster whose control plane is not the embedded one.

    Started once; `stop` may be called at any time, and again.
    """

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}
        self._port: Port | None = None

    def start(
        self,
        kubeconfig: Path,
        kwok: Path,
        *,
        nodes: str,
        pods: str = "",
        lease_seconds: int = 0,
        simulator: bool = True,
    ) -> None:
        """Run in the directory of the kubeconfig; `nodes` and `pods` are label selectors of what they manage."""
        self._port = Port()
        port = self._port.number
        flags = kwok_flags(port, kubeconfig=kubeconfig.name, nodes=nodes, lease_seconds=lease_seconds)
        self._run("kwok", [kwok, *flags], kubeconfig.parent)
        if simulator:
            self._run("simulator", simulator_command(kubeconfig.name, pods=pods), kubeconfig.parent)
        health = HealthCheck(port)
        wait_until(lambda: health.answers("/healthz"), self._processes["kwok"], self._processes.values())

    def stop(self) -> None:
        for process in self._processes.values():
            process.kill()
        if self._port is not None:
            self._port.release()
            self._port = None

    def check(self) -> None:
        """Raise when one of them has died."""
        for process in self._processes.values():
            if not process.alive:
                raise component_died(process)

    def logs(self) -> dict[str, Path]:
        return {name: process.log for name, process in self._processes.items()}

    def _run(self, name: str, argv: Sequence[str | Path], directory: Path) -> None:
        process = self._processes[name] = Process(name, argv, directory=directory, log=directory / f"{name}.log")
        process.start()
