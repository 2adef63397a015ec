from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muster import assets
from muster.assets import components
from muster.suite import paths

ROOT = paths.suite_root()


class Machine:
    """A home of its own, a directory of binaries that only answer --version, and `muster` run as a user does."""

    def __init__(self, base: Path) -> None:
        self.home, self.bin = base / "home", base / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        for name in assets.CONTROL_PLANE:
            (self.bin / name).write_text(f"#!/bin/sh\necho '{components.component_of(name).answers}'\n")
            (self.bin / name).chmod(0o755)

    def muster(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "HOME": str(self.home),
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MUSTER_DOWNLOADS": "only",  # nothing may be built by accident
        }
        command = [sys.executable, "-c", "import sys; from muster.cli import main; sys.exit(main())", *arguments]
        return subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=False)

    def files_at_home(self) -> list[str]:
        return sorted(os.listdir(self.home))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_everything_there(machine: Machine) -> None:
    answer = machine.muster("doctor")
    assert (answer.returncode, answer.stderr) == (0, "")
    lines = [line.split() for line in answer.stdout.splitlines()]
    for name in ("kube-scheduler", "etcd"):
        assert [name, components.component_of(name).version, "PATH", str(machine.bin / name)] in lines
    assert answer.stdout.endswith("muster run can start at once\n")
    assert machine.files_at_home() == []


def test_something_missing(machine: Machine) -> None:
    (machine.bin / "kwok").unlink()
    answer = machine.muster("doctor")
    assert answer.returncode == 1
    assert ["kwok", "missing", "make", "assets"] in [line.split() for line in answer.stdout.splitlines()]
    assert answer.stdout.endswith("missing: kwok; to get them ready: make assets\n")
    assert machine.files_at_home() == []


def test_another_version_on_path_is_as_good_as_missing(machine: Machine) -> None:
    (machine.bin / "etcd").write_text("#!/bin/sh\necho 'etcd Version: 3.5.0'\n")
    answer = machine.muster("doctor")
    assert answer.returncode == 1
    assert "missing: etcd;" in answer.stdout


def test_a_binary_named_wrongly_is_explained(machine: Machine) -> None:
    answer = machine.muster("doctor", MUSTER_ASSET_ETCD="/nowhere/etcd")
    assert answer.returncode == 1
    assert answer.stdout.endswith(
        "MUSTER_ASSET_ETCD names /nowhere/etcd, which is not an executable file: correct or unset it.\n"
    )


def test_go_and_the_cache_are_shown(machine: Machine) -> None:
    (machine.bin / "go").write_text("#!/bin/sh\necho go version go1.99.1 linux/amd64\n")
    (machine.bin / "go").chmod(0o755)
    store = machine.home / "store"
    store.mkdir()
    with (store / "blob").open("wb") as blob:
        blob.truncate(300 << 20)
    answer = machine.muster("doctor", MUSTER_CACHE=str(store))
    rows = {line.split()[0]: line for line in answer.stdout.splitlines() if line}
    assert rows["Go"].split() == ["Go", "1.99.1", str(machine.bin / "go"), "(PATH)"]
    assert rows["cache"].split()[1:4] == ["0.3", "GiB", f"{store},"]
    assert rows["cache"].endswith(" GiB free, writable")
    assert rows["loopback"].split()[1] == "works"


@pytest.mark.skipif(
    bool(shutil.which("go", path="/usr/bin:/bin")), reason="this machine has a Go that cannot be hidden"
)
def test_without_go(machine: Machine) -> None:
    assert "Go        none     comes from PyPI if needed" in machine.muster("doctor").stdout


def test_assets_prints_where_they_are(machine: Machine) -> None:
    answer = machine.muster("assets", "etcd", "kwok")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == f"etcd  {machine.bin}/etcd\nkwok  {machine.bin}/kwok\n"


def test_assets_of_an_unknown_name(machine: Machine) -> None:
    answer = machine.muster("assets", "etdc")
    assert (answer.returncode, answer.stdout) == (64, "")
    assert answer.stderr.startswith("muster: There is no binary 'etdc': choose from ")
    assert " arena, " in answer.stderr


def test_assets_without_a_place_to_keep_them(machine: Machine) -> None:
    (machine.bin / "kwok").unlink()
    answer = machine.muster("assets", MUSTER_CACHE="/proc/nowhere")
    assert answer.returncode == 2
    assert answer.stderr.splitlines() == [
        "muster: The cache directory /proc/nowhere cannot be written (No such file or directory): make it writable, "
        "or use another one: MUSTER_CACHE=/some/directory."
    ]
