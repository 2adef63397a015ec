"""The local cluster, for real: up, down, killed, paused, twice at once; nothing stays behind."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.statistics import resident_set_mib
from muster import timeouts
from muster.cluster.api import ApiRefused
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NODE, POD
from muster.cluster.run_scope import open_api
from muster.errors import HarnessError
from tests.support.local_cluster import node
from tests.support.processes_left import PATIENCE, carriers, gone, tag_of, wait_for_end

pytestmark = pytest.mark.plane


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster() as running:
        yield running


def ports_of(cluster: LocalCluster) -> list[int]:
    return [port.number for port in cluster._ports]


def assert_gone(pids: list[int], ports: list[int], directory: Path) -> None:
    assert all(gone(pid) for pid in pids)
    assert not list(directory.iterdir())
    for port in ports:
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections linger in TIME_WAIT
            free.bind(("127.0.0.1", port))


def test_five_times_up_and_down_leaves_nothing(temporary: Path) -> None:
    cluster, descriptors = LocalCluster(), None
    for _ in range(5):
        began = time.monotonic()
        cluster.start()
        up = time.monotonic()
        pids = [process.pid for process in cluster.processes.values() if process.pid]
        ports = ports_of(cluster)
        assert len(pids) == 5
        cluster.stop()
        down = time.monotonic()
        print(f"up in {up - began:.2f} s, down in {down - up:.2f} s")
        assert_gone(pids, ports, temporary)
        assert down - up < PATIENCE  # not for ever; how many seconds it takes is measured by bench.cluster_start
        now = len(os.listdir("/proc/self/fd"))
        assert descriptors is None or now <= descriptors, "a descriptor is left open"
        descriptors = now


def test_it_fits_into_the_documented_memory(cluster: LocalCluster) -> None:
    sizes = {name: resident_set_mib(process.pid) for name, process in cluster.processes.items()}
    print({name: f"{size:.0f} MiB" for name, size in sizes.items()}, f"together {sum(sizes.values()):.0f} MiB")
    assert sum(sizes.values()) < 700


def test_its_directory_is_private_and_its_servers_are_on_loopback_only(cluster: LocalCluster) -> None:
    assert cluster.directory.stat().st_mode & 0o777 == 0o700
    assert cluster.directory.name.startswith("muster-")
    inodes = set()
    for process in cluster.processes.values():
        for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                inodes.add(os.readlink(descriptor))
    listening = 0
    for family, loopback in (("tcp", "0100007F"), ("tcp6", "00000000000000000000000001000000")):
        for line in Path(f"/proc/net/{family}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                listening += 1
                assert fields[1].split(":")[0] == loopback
    assert listening == 2


def test_the_kubeconfig_works_and_anonymous_requests_are_refused(cluster: LocalCluster) -> None:
    assert cluster.connection.api.list(NODE)["items"] == []
    trust = ssl.create_default_context(cafile=str(cluster.directory / "certificates" / "ca.crt"))
    anonymous = http.client.HTTPSConnection("127.0.0.1", ports_of(cluster)[0], context=trust)
    anonymous.request("GET", "/api/v1/pods")
    assert anonymous.getresponse().status == http.HTTPStatus.FORBIDDEN
    anonymous.close()


def test_the_scheduler_has_its_own_permissions_only(cluster: LocalCluster) -> None:
    scheduler = open_api(cluster.client_kubeconfig("scheduler"))
    assert scheduler.list(POD)["items"] == []
    with pytest.raises(ApiRefused) as refused:
        scheduler.create(node("forbidden"))
    assert refused.value.status == http.HTTPStatus.FORBIDDEN


def test_versions_and_logs_are_there_for_the_report(cluster: LocalCluster) -> None:
    assert cluster.versions()["kube-apiserver"].lstrip("v").startswith("1.")
    assert set(cluster.logs()) == {"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "simulator"}
    assert cluster.logs()["kube-apiserver"].stat().st_size > 0


def test_the_health_check_is_cheap(cluster: LocalCluster) -> None:
    took = []
    for _ in range(1000):
        began = time.monotonic()
        cluster.check()
        took.append(time.monotonic() - began)
    assert statistics.median(took) < 0.001  # not the mean: a busy machine may stop us for a second


@pytest.mark.parametrize("name", ["etcd", "kwok"])
def test_a_component_that_dies_is_reported_at_once_and_the_rest_stops(name: str, temporary: Path) -> None:
    cluster = LocalCluster()
    cluster.start()
    pids, ports = [process.pid for process in cluster.processes.values() if process.pid], ports_of(cluster)
    others = [process for other, process in cluster.processes.items() if other != name]
    pid = cluster.processes[name].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert cluster.processes[name].wait(PATIENCE)
    with pytest.raises(HarnessError, match=rf"^{name} was ended by SIGKILL\. Its last lines:"):
        cluster.check()
    others[0].pause()
    others[1].pause()
    began = time.monotonic()
    cluster.stop()
    cluster.stop()
    assert time.monotonic() - began < PATIENCE  # those that are paused are not waited for
    assert_gone(pids, ports, temporary)


def test_two_clusters_started_at_once_are_isolated(temporary: Path) -> None:
    code = (
        "import sys; from muster.cluster.local import LocalCluster\n"
        "with LocalCluster() as cluster:\n"
        "    print(cluster.connection.api.read('/version').decode().split()[0], flush=True); sys.stdin.read()"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)
    ]
    for one in both:
        out, _ = one.communicate(timeout=2 * timeouts.COMPONENT_READY)
        assert out
        assert one.returncode == 0
    assert not list(temporary.iterdir())


STARTING = """
import sys
from muster.cluster.local import LocalCluster
from muster.processes import Reaper
print(Reaper.current().pid, Reaper.current().tag, flush=True)
with LocalCluster() as cluster:
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("number", "after"),
    [
        (signal.SIGKILL, 0.1),
        (signal.SIGKILL, 0.8),
        (signal.SIGKILL, None),
        (signal.SIGINT, 0.1),
        (signal.SIGINT, 1.8),
        (signal.SIGTERM, 1.8),
    ],
)
def test_a_signal_at_any_moment_leaves_nothing(number: signal.Signals, after: float | None, temporary: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert parent.stdout is not None
    reaper, tag = parent.stdout.readline().split()
    if after is None:
        assert parent.stdout.readline() == b"up\n"
    else:
        time.sleep(after)
    parent.send_signal(number)
    parent.wait(PATIENCE)
    wait_for_end(int(reaper))
    assert carriers(b"MUSTER_REAPER_TAG=" + tag) == []
    assert list(temporary.iterdir()) == []


def test_up_prints_its_kubeconfig_and_ends_clean(temporary: Path) -> None:
    up = subprocess.Popen(
        [sys.executable, "-m", "muster", "up", "--nodes", "2", "--gpus", "8", "--scheduler", "kube-scheduler"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert up.stdout is not None
    kubeconfig = up.stdout.readline().strip().removeprefix("export KUBECONFIG=")
    nodes = open_api(Path(kubeconfig)).list(NODE)["items"]
    assert [one["status"]["allocatable"]["nvidia.com/gpu"] for one in nodes] == ["8", "8"]
    up.send_signal(signal.SIGINT)
    _, said = up.communicate(timeout=PATIENCE)
    assert up.returncode == 0
    assert "everything is gone" in said
    assert not list(temporary.iterdir())


def test_the_tag_is_on_every_component(cluster: LocalCluster) -> None:
    pids = [process.pid for process in cluster.processes.values() if process.pid]
    assert len({tag_of(pid) for pid in pids}) == 1
