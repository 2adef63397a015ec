"""KWOK and the player beside a cluster whose control plane is not the embedded one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from muster import suite
from muster.cluster.local import components
from muster.cluster.local.ports import Port
from muster.cluster.local.readiness import Probe, component_died, wait_until
from muster.processes import Process


class Companions:
    """Started once; `stop` is safe at any moment, and again."""

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}
        self._port: Port | None = None

    def start(self, kubeconfig: Path, kwok: Path, *, nodes: str, pods: str = "", lease_seconds: int = 0) -> None:
        """In the directory of the kubeconfig; `nodes` and `pods` select by label whom they look after."""
        self._port = Port()
        stages, port = suite.manifests() / "kwok" / "kwok.yaml", self._port.number
        flags = components.kwok(port, stages, kubeconfig=kubeconfig.name, only=nodes, lease_seconds=lease_seconds)
        self._run("kwok", [kwok, *flags], kubeconfig.parent)
        self._run("player", components.player(kubeconfig.name, only=pods), kubeconfig.parent)
        probe = Probe(port)
        wait_until(lambda: probe.answers("/healthz"), self._processes["kwok"], self._processes.values())

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
