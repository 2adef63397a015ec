"""A component that dies, hangs or cannot be started: one clear error, and nothing left behind."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from muster import assets, timeouts
from muster.cluster.local import LocalCluster, controlplane
from muster.errors import HarnessError
from muster.processes import Process, Reaper, readiness
from tests.support.processes_left import PATIENCE

Fake = Callable[..., None]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    return directory


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Shell scripts in place of the binaries; by default they just wait."""

    def install(**scripts: str) -> None:
        for name in controlplane.BINARIES:
            file = tmp_path / name
            file.write_text(f"#!/bin/sh\n{scripts.get(name.replace('-', '_'), 'exec sleep 60')}\n")
            file.chmod(0o755)
        monkeypatch.setattr(assets, "ensure", lambda names, print_line: {name: tmp_path / name for name in names})

    return install


def tagged() -> list[str]:
    """Processes that this one started and that still live."""
    marker, found = f"MUSTER_REAPER_TAG={Reaper.current().tag}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if marker in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def test_a_component_that_dies_at_start_is_reported_with_its_last_lines(fake: Fake, temporary: Path) -> None:
    fake(kube_apiserver="echo first; echo 'flag provided but not defined' >&2; exit 3")
    cluster = LocalCluster()
    with pytest.raises(HarnessError) as caught:
        cluster.start()
    assert str(caught.value).startswith("kube-apiserver exited with code 3.")
    assert "flag provided but not defined" in str(caught.value)
    assert not list(temporary.iterdir())
    assert not tagged()


def test_a_server_that_dies_behind_it_is_reported(fake: Fake, temporary: Path) -> None:
    fake(etcd="echo 'mvcc: database space exceeded'; exit 1")
    with pytest.raises(HarnessError, match=r"(?s)^etcd exited with code 1\..*database space exceeded"):
        LocalCluster().start()
    assert not list(temporary.iterdir())
    assert not tagged()


def test_a_full_disk_is_detected_in_the_log(fake: Fake) -> None:
    fake(etcd="echo 'write wal: no space left on device'; exit 1")
    with pytest.raises(HarnessError, match=r"is full: free some space or set TMPDIR"):
        LocalCluster().start()


def test_a_full_disk_is_detected_by_own_writes(fake: Fake, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    fake()

    def disk_full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(controlplane, "write_kubeconfig", disk_full)
    with pytest.raises(HarnessError, match=r"no space left in .*TMPDIR"):
        LocalCluster().start()
    assert not list(temporary.iterdir())


def test_a_temporary_directory_that_cannot_be_used(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake()
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    with pytest.raises(HarnessError, match=r"cannot prepare the local cluster in /proc/nowhere"):
        LocalCluster().start()


def test_a_component_that_never_gets_ready(fake: Fake, monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    fake(kube_apiserver="echo thinking; exec sleep 600")
    wait_until = readiness.wait_until

    def impatient(ready: Callable[[], bool], process: Process, involved: Collection[Process]) -> None:
        """Its time begins when it has said something."""
        deadline = time.monotonic() + PATIENCE
        while "thinking" not in process.log_tail(1):
            assert time.monotonic() < deadline, "it says nothing"
            time.sleep(0.01)
        wait_until(ready, process, involved)

    monkeypatch.setattr(controlplane, "wait_until", impatient)
    monkeypatch.setattr(timeouts, "COMPONENT_READY", 0.3)
    with pytest.raises(
        HarnessError, match=r"(?s)kube-apiserver was not ready after 0 s.*MUSTER_TIMEOUT_SCALE.*thinking"
    ):
        LocalCluster().start()
    assert not list(temporary.iterdir())
    assert not tagged()


def test_an_interrupt_in_the_middle_of_the_start_unwinds_it(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    fake()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(controlplane, "wait_until", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LocalCluster().start()
    assert not list(temporary.iterdir())
    assert not tagged()


def test_a_kept_directory_stays(fake: Fake, temporary: Path) -> None:
    fake(etcd="echo broken; exit 1")
    cluster = LocalCluster(keep=True)
    with pytest.raises(HarnessError):
        cluster.start()
    assert cluster.logs()["etcd"].read_text() == "broken\n"
    assert [cluster.directory] == list(temporary.iterdir())


def test_a_cluster_that_was_not_started() -> None:
    with pytest.raises(HarnessError, match=r"call start\(\) first"):
        _ = LocalCluster().connection


def test_a_health_check_treats_broken_connections_as_unhealthy() -> None:
    assert not readiness.HealthCheck(1).answers("/healthz")
