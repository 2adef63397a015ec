"""The plane image, and the errors without an engine, a permission or the image."""

from __future__ import annotations

import hashlib
import json
import runpy
import socket
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, DockerException, ImageNotFound

from muster.assets.components import component_of
from muster.cluster import container, docker_engine
from muster.errors import HarnessError

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("listens", [False, True], ids=["nothing there", "no listener"])
def test_no_engine(listens: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "docker.sock"
    if listens:
        socket.socket(socket.AF_UNIX).bind(str(place))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{place}")
    with pytest.raises(HarnessError, match=r"^Docker does not answer: start it, .* --cluster local$"):
        docker_engine.connect()


@pytest.mark.parametrize(
    ("problem", "printed"),
    [
        (DockerException("Error: PermissionError(13, 'Permission denied')"), "no permission to use Docker: join"),
        (PermissionError(13, "Permission denied"), "no permission to use Docker"),
        (APIError("500", explanation="write /x: no space left on device"), "Docker's disk is full"),
        (APIError("409", explanation="port is already allocated\nmore"), "cannot start it: port is already allocated$"),
    ],
)
def test_docker_errors_become_one_message(problem: Exception, printed: str) -> None:
    with pytest.raises(HarnessError, match=printed), docker_engine.explain_errors("start it"):
        raise problem


def engine_with(images: Any) -> Any:
    return SimpleNamespace(client=SimpleNamespace(images=SimpleNamespace(get=images)))


def test_no_image() -> None:
    def missing(reference: str) -> None:
        raise ImageNotFound(f"no such image: {reference}")

    with pytest.raises(HarnessError, match=r"^Docker has no image muster-plane:1: make it with"):
        docker_engine.require_image(engine_with(missing), "muster-plane:1", "make it with `make plane-image`")
    docker_engine.require_image(engine_with(lambda reference: reference), "muster-plane:1", "")


def test_only_abandoned_containers_are_removed() -> None:
    removed: list[str] = []

    def container(when: str) -> Any:
        return SimpleNamespace(attrs={"Created": when}, remove=lambda force: removed.append(when))

    made = [container("2026-01-01T00:00:00.123456789Z"), container("2999-01-01T00:00:00Z")]
    listing = SimpleNamespace(list=lambda **_: made)
    docker_engine.remove_abandoned(SimpleNamespace(client=SimpleNamespace(containers=listing)))
    assert removed == ["2026-01-01T00:00:00.123456789Z"]


@pytest.fixture
def assemble(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return runpy.run_path(str(ROOT / "ci" / "plane-image" / "assemble.py"))


def elf(directory: Path, name: str, *, kind: int) -> Path:
    """The smallest file that passes for a program: one header, and one program header of this kind."""
    directory.mkdir(exist_ok=True)
    header = bytearray(64 + 56)
    header[32:40] = (64).to_bytes(8, "little")
    header[54:58] = (56).to_bytes(2, "little") + (1).to_bytes(2, "little")
    header[64:68] = kind.to_bytes(4, "little")
    path = directory / name
    path.write_bytes(bytes(header) + name.encode())
    path.chmod(0o755)
    return path


def test_the_same_programs_give_the_same_archive(
    assemble: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for copy in ("one", "two"):
        programs = {name: elf(tmp_path / copy, name, kind=1) for name in container.PROGRAMS}
        monkeypatch.setattr("muster.assets.ensure", lambda names, print_line, found=programs: found)
        target = tmp_path / f"{copy}.tar"
        assemble["assemble"]("muster-plane:1", target)
        digests.append(hashlib.sha256(target.read_bytes()).hexdigest())
    assert digests[0] == digests[1]
    with tarfile.open(target) as archive:
        (manifest,) = json.load(archive.extractfile("manifest.json"))  # type: ignore[arg-type]
        configuration = json.load(archive.extractfile(manifest["Config"]))  # type: ignore[arg-type]
        with tarfile.open(fileobj=archive.extractfile(manifest["Layers"][0])) as layer:
            entries = {entry.name: oct(entry.mode) for entry in layer.getmembers()}
    assert manifest["RepoTags"] == ["muster-plane:1"]
    assert configuration["config"]["Entrypoint"] == ["/bin/plane-init"]
    assert entries == {"tmp": "0o1777", **{f"bin/{name}": "0o755" for name in container.PROGRAMS}}


def test_a_program_that_needs_a_linker_is_refused(
    assemble: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = {name: elf(tmp_path, name, kind=3) for name in container.PROGRAMS}
    monkeypatch.setattr("muster.assets.ensure", lambda names, print_line: programs)
    with pytest.raises(HarnessError, match=r"etcd .* needs a dynamic linker"):
        assemble["assemble"]("muster-plane:1", tmp_path / "image.tar")
    assert not list(tmp_path.glob("*.tar"))


def test_the_image_name_is_a_hash_of_its_content() -> None:
    name, _, tag = container.built_image().partition(":")
    assert name == "muster-plane"
    assert tag.startswith(f"{component_of('kube-apiserver').version}-")
