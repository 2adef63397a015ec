from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muster.assets import downloads
from muster.errors import HarnessError, UsageError
from tests.support.assets_fakes import SOON, TOOL, Workshop, served
from tests.support.processes_left import until

UNFELT = 8.0  # seconds: a busy machine may stall for 5, a resolver gives up after 10, a kernel after 127


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    return Workshop(tmp_path, monkeypatch)


@pytest.fixture
def server(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("muster.timeouts.DOWNLOAD_CONNECT", SOON)  # it answers, however busy the machine is
    (workshop.releases / "tool").write_bytes(TOOL)
    with served(workshop.releases) as address:
        yield address


def test_a_release_with_the_right_checksum_is_taken_and_nothing_is_built(workshop: Workshop, server: str) -> None:
    workshop.offer(f"{server}/tool", TOOL)
    path = workshop.ensure()["tool"]
    assert path.read_bytes() == TOOL
    assert path.stat().st_mode & 0o111
    assert workshop.go_calls("build") == []
    assert workshop.printed[-1].endswith("checksum correct")


def test_the_second_time_nothing_is_fetched(workshop: Workshop, server: str) -> None:
    workshop.offer(f"{server}/tool", TOOL)
    first = workshop.ensure()
    (workshop.releases / "tool").unlink()
    workshop.printed.clear()
    assert workshop.ensure() == first
    assert workshop.printed == []


def test_a_release_archive_gives_up_its_one_member(workshop: Workshop, server: str) -> None:
    with tarfile.open(workshop.releases / "tool.tar.gz", "w:gz") as archive:
        for name, content in (("tool-v1/README", b"no"), ("tool-v1/tool", TOOL)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    packed = (workshop.releases / "tool.tar.gz").read_bytes()
    workshop.offer(f"{server}/tool.tar.gz", packed, member="tool-v1/tool")
    assert workshop.ensure()["tool"].read_bytes() == TOOL


@pytest.mark.parametrize(
    ("address", "content", "message"),
    [
        ("{server}/tool", b"what was really released", "WRONG CHECKSUM, the file is discarded"),
        ("{server}/cut/tool", TOOL, f"was cut off after {len(TOOL) // 2} of {len(TOOL)} bytes"),
        ("{server}/nowhere", TOOL, "was answered with 404"),
        ("http://127.0.0.1:1/tool", TOOL, "127.0.0.1:1 cannot be reached (Connection refused)"),
    ],
    ids=["checksum", "cut", "404", "refused"],
)
def test_a_failed_download_is_one_message_and_then_it_is_built(
    workshop: Workshop, server: str, address: str, content: bytes, message: str
) -> None:
    workshop.offer(address.format(server=server), content)
    it_is_built(workshop, message)


def test_an_unknown_host_is_one_message_as_well(workshop: Workshop) -> None:
    workshop.offer("http://no-such-host.invalid/tool", TOOL)
    it_is_built(workshop, "no-such-host.invalid ")


def it_is_built(workshop: Workshop, message: str) -> None:
    start = time.monotonic()
    path = workshop.ensure()["tool"]
    assert time.monotonic() - start < UNFELT
    assert [line for line in workshop.printed if "not downloaded" in line and message in line]
    assert sum("not downloaded" in line for line in workshop.printed) == 1
    assert path.parent.name.startswith("built-")
    assert not list(workshop.cache.glob("bin/release-*"))
    assert not list(workshop.cache.glob("tmp/*"))


def test_an_unreachable_host_is_tried_once_and_briefly(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    contacts: list[float] = []
    contact = downloads._connection_error

    def timed(url: str) -> str:
        start = time.monotonic()
        outcome = contact(url)
        contacts.append(time.monotonic() - start)
        return outcome

    monkeypatch.setattr(downloads, "_connection_error", timed)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        port = deaf.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:  # the queue of a server that never accepts: further connections hang
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
        workshop.offer(f"http://127.0.0.1:{port}/tool", TOOL, binaries=("tool", "tool-helper"))
        workshop.ensure("tool", "tool-helper")
        for filler in fillers:
            filler.close()
    assert [seconds < UNFELT for seconds in contacts] == [True]
    assert [line for line in workshop.printed if "not downloaded" in line] == [
        f"tool 1.2.3: not downloaded, 127.0.0.1:{port} does not answer within 0.9 s"
    ]


def test_a_proxy_that_is_not_there_counts_as_a_host_that_is_not_there(
    workshop: Workshop, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    workshop.offer(f"{server}/tool", TOOL)
    assert workshop.ensure()["tool"].parent.name.startswith("built-")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_download_leaves_nothing(workshop: Workshop, server: str, number: signal.Signals) -> None:
    workshop.offer(f"{server}/stuck/tool", TOOL)
    with workshop.other_process(stderr=subprocess.DEVNULL) as harness:
        until(lambda: [file for file in workshop.leftovers() if file.endswith("/tool.download")])
        os.kill(harness.pid, number)
        harness.wait(SOON)
    until(lambda: workshop.leftovers() == [])


def test_downloads_never(workshop: Workshop, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_DOWNLOADS", "never")
    workshop.offer(f"{server}/tool", TOOL)
    assert workshop.ensure()["tool"].parent.name.startswith("built-")
    assert not [line for line in workshop.printed if "download" in line]


def test_downloads_only(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_DOWNLOADS", "only")
    with pytest.raises(HarnessError, match=r"^tool 1\.2\.3 could not be downloaded and MUSTER_DOWNLOADS=only"):
        workshop.ensure()
    assert workshop.go_calls("build") == []


def test_downloads_of_an_unknown_kind(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_DOWNLOADS", "sometimes")
    with pytest.raises(UsageError, match="'sometimes': set it to 'never' or 'only'"):
        workshop.ensure()


def test_a_full_disk_is_the_caches_trouble_and_not_the_servers(
    workshop: Workshop, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    workshop.offer(f"{server}/tool", TOOL)
    real = downloads._transfer

    def transfer(url: str, into: Path, on_progress: Callable[[int, int], None]) -> None:
        into.symlink_to("/dev/full")
        real(url, into, on_progress)

    monkeypatch.setattr(downloads, "_transfer", transfer)
    with pytest.raises(HarnessError, match=rf"cache directory {workshop.cache} is full .* MUSTER_CACHE="):
        workshop.ensure()
    assert workshop.leftovers() == []
