"""The embedded plane in one container, for machines where Docker is all there is.

The same programs with the same flags as on the machine itself, in a directory of the same path and on ports of the same
numbers, so that certificates and kubeconfigs are good inside and outside. Schedulers, operators and the player run
beside it, as ever. Nothing is mounted: files are copied in, for an engine may not see our disk.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from muster import suite
from muster.assets.catalogue import component_of
from muster.cluster import container_engine, container_image
from muster.cluster.connections import Connection
from muster.cluster.container_parts import Lifeline, Part
from muster.cluster.local.plane import BINARIES, LocalCluster

IMAGE = "MUSTER_PLANE_IMAGE"  # another image than the one that `make plane-image` makes
_ATTACHED = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


def image() -> str:
    """The reference of the image to start from."""
    return os.environ.get(IMAGE) or container_image.reference()


def engine_with_image() -> Any:
    """A client of Docker, which has the image; HarnessError if it is not so."""
    engine = container_engine.connect()
    how = f"make it with `make plane-image`, or name one that is there with {IMAGE}"
    container_engine.need_image(engine, image(), how)
    return engine


class ContainerCluster(LocalCluster):
    """`with ContainerCluster() as cluster:` gives the same as LocalCluster does, out of an image."""

    _container: Any = None
    _lifeline: Lifeline | None = None

    def start(self) -> Connection:
        self._engine = engine_with_image()
        self._image = image()
        container_engine.remove_abandoned(self._engine)
        return super().start()

    def stop(self) -> None:
        if self._lifeline is not None:
            self._lifeline.cut()
            self._lifeline = None
        if self._container is not None:
            from docker.errors import DockerException
            from requests.exceptions import RequestException

            # It removes itself as soon as the lifeline is cut: who comes too late finds it gone or going.
            with contextlib.suppress(DockerException, RequestException):
                self._container.stop()
            self._container = None
        super().stop()

    def versions(self) -> dict[str, str]:
        return {name: component_of(name).version for name in BINARIES}

    def _binaries(self) -> Mapping[str, Path]:
        return {name: Path(container_image.PLACE, name) for name in BINARIES}

    def _start_processes(self, binaries: Mapping[str, Path]) -> None:
        with container_engine.explained(f"start a container of {self._image}"):
            self._start_container()
        super()._start_processes(binaries)

    def _start_container(self) -> None:
        from testcontainers.core.container import DockerContainer

        stages = suite.manifests() / "kwok" / "kwok.yaml"
        self._container = container = DockerContainer(self._image)
        container.ports = {f"{port.number}/tcp": ("127.0.0.1", port.number) for port in self._ports}
        container.with_copy_into_container(self.directory, str(self.directory.parent), 0o700)
        container.with_copy_into_container(stages, str(stages), 0o644)
        container.with_kwargs(
            stdin_open=True,  # the lifeline
            auto_remove=True,
            user=f"{os.getuid()}:{os.getgid()}",  # whose files were copied
            working_dir=str(self.directory),
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            labels={container_engine.LABEL: "true"},
        )
        container.start()
        attached = self._engine.client.api.attach_socket(container.get_container_id(), params=_ATTACHED)
        self._lifeline = Lifeline(attached)

    def _run(self, name: str, argv: Sequence[str | Path]) -> None:
        if name not in BINARIES:
            return super()._run(name, argv)
        assert self._lifeline is not None
        everywhere = {  # published on our loopback address; inside, requests come in from the container's network
            "kube-apiserver": ["--bind-address=0.0.0.0"],
            "kwok": [f"--server-address=0.0.0.0:{self._ports[1].number}"],
        }
        words = [*argv, *everywhere.get(name, [])]
        part = Part(name, words, directory=self.directory, lifeline=self._lifeline)
        self.processes[name] = part
        return part.start()
