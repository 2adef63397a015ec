"""The embedded control plane in one container, for machines where only Docker is available.

The same programs with the same flags as on the machine itself, in a directory of the same path and on the same port
numbers, so that certificates and kubeconfigs are valid inside and outside. Schedulers, operators and the simulator run
on the machine. Nothing is mounted: files are copied in, because a remote engine does not see the local disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muster.assets.components import component_of
from muster.cluster import docker_engine
from muster.cluster.container_process import ContainerProcess, ControlChannel
from muster.cluster.interface import Connection
from muster.cluster.kwok import stages_file
from muster.cluster.local.controlplane import BINARIES, LocalCluster

IMAGE = "MUSTER_PLANE_IMAGE"  # replaces the image that `make plane-image` makes
INIT = "plane-init"
PROGRAMS = (*BINARIES, INIT)
PROGRAM_DIRECTORY = "/bin"  # in the image
_ATTACHED = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


def built_image() -> str:
    """The image of `make plane-image`, such as muster-plane:1.37.1-0123456789ab.

    The name is a hash of the content: an outdated image is never used by mistake.
    """
    made_of = {f"{one.name} {one.version} {one.fingerprint}" for one in map(component_of, PROGRAMS)}
    key = hashlib.sha256("\n".join(sorted(made_of)).encode()).hexdigest()[:12]
    return f"muster-plane:{component_of('kube-apiserver').version}-{key}"


def image() -> str:
    """The reference of the image to start from."""
    return os.environ.get(IMAGE) or built_image()


def engine_with_image() -> Any:
    """A client of a Docker engine that has the image; HarnessError otherwise."""
    engine = docker_engine.connect()
    how = f"make it with `make plane-image`, or name an image that exists with {IMAGE}"
    docker_engine.require_image(engine, image(), how)
    return engine


class ContainerCluster(LocalCluster):
    """`with ContainerCluster() as cluster:` is the same as LocalCluster, with the control plane in a container."""

    _container: Any = None
    _channel: ControlChannel | None = None

    def start(self) -> Connection:
        self._engine = engine_with_image()
        self._image = image()
        docker_engine.remove_abandoned(self._engine)
        return super().start()

    def stop(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._container is not None:
            from docker.errors import DockerException
            from requests.exceptions import RequestException

            # The container removes itself as soon as the channel is closed: it may be gone already.
            with contextlib.suppress(DockerException, RequestException):
                self._container.stop()
            self._container = None
        super().stop()

    def versions(self) -> dict[str, str]:
        return {name: component_of(name).version for name in BINARIES}

    def _binaries(self) -> Mapping[str, Path]:
        return {name: Path(PROGRAM_DIRECTORY, name) for name in BINARIES}

    def _start_processes(self, binaries: Mapping[str, Path]) -> None:
        with docker_engine.explain_errors(f"start a container of {self._image}"):
            self._start_container()
        super()._start_processes(binaries)

    def _start_container(self) -> None:
        from testcontainers.core.container import DockerContainer

        stages = stages_file()
        self._container = container = DockerContainer(self._image)
        container.ports = {f"{port.number}/tcp": ("127.0.0.1", port.number) for port in self._ports}
        container.with_copy_into_container(self.directory, str(self.directory.parent), 0o700)
        container.with_copy_into_container(stages, str(stages), 0o644)
        container.with_kwargs(
            stdin_open=True,  # the control channel
            auto_remove=True,
            user=f"{os.getuid()}:{os.getgid()}",  # the owner of the copied files
            working_dir=str(self.directory),
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            labels={docker_engine.LABEL: "true"},
        )
        container.start()
        attached = self._engine.client.api.attach_socket(container.get_container_id(), params=_ATTACHED)
        self._channel = ControlChannel(attached)

    def _run(self, name: str, argv: Sequence[str | Path]) -> None:
        if name not in BINARIES:
            return super()._run(name, argv)
        assert self._channel is not None
        listen_everywhere = {  # published on the loopback address; inside, requests come from the container's network
            "kube-apiserver": ["--bind-address=0.0.0.0"],
            "kwok": [f"--server-address=0.0.0.0:{self._ports[1].number}"],
        }
        process = ContainerProcess(
            name, [*argv, *listen_everywhere.get(name, [])], directory=self.directory, channel=self._channel
        )
        self.processes[name] = process
        return process.start()
