from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from muster import assets
from muster.assets import cache
from muster.errors import HarnessError, UsageError
from tests.support.assets_fakes import Workshop


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    return Workshop(tmp_path, monkeypatch, downloads="never")


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def alter(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"v1.2.3", b"v6.6.6"))


def alter_and_hide(path: Path) -> None:
    before = path.stat()
    alter(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def make_unusable(path: Path) -> None:
    path.chmod(0o644)


def spoil_manifest(path: Path) -> None:
    path.with_name("tool.json").write_text("{")


@pytest.mark.parametrize("damage", [truncate, alter, alter_and_hide, make_unusable, spoil_manifest])
def test_a_damaged_binary_is_seen_said_and_replaced(workshop: Workshop, damage: object) -> None:
    path = workshop.ensure()["tool"]
    damage(path)  # type: ignore[operator]
    workshop.printed.clear()
    assert assets.find("tool") is None
    assert workshop.ensure()["tool"] == path
    assert workshop.printed[0] == f"tool in the cache is damaged and will be replaced: {path}"
    assert sum("damaged" in line for line in workshop.printed) == 1
    assert assets.find("tool")
    assert len(workshop.go_calls("build")) == 2


def test_a_sound_binary_is_not_read_again(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.ensure()
    monkeypatch.setattr(cache, "file_hash", lambda path: pytest.fail("was read"))
    assert assets.find("tool")


def test_a_copied_cache_is_read_once_and_then_known(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    path = workshop.ensure()["tool"]
    os.utime(path, (1, 1))
    assert assets.find("tool")
    monkeypatch.setattr(cache, "file_hash", lambda path: pytest.fail("was read again"))
    assert assets.find("tool")


def test_a_binary_without_its_manifest_does_not_count(workshop: Workshop) -> None:
    path = workshop.ensure()["tool"]
    path.with_name("tool.json").unlink()
    assert assets.find("tool") is None


def test_the_manifest_says_where_it_came_from(workshop: Workshop) -> None:
    path = workshop.ensure()["tool"]
    assert json.loads(path.with_name("tool.json").read_text())["source"] == "built with Go 1.26.8"
    assert assets.find("tool") == assets.Found(path=path, version="1.2.3", source="cache, built with Go 1.26.8")


def test_remains_of_a_machine_that_went_down_are_cleared(workshop: Workshop) -> None:
    remains = workshop.cache / "tmp" / "tool-abc" / "go-build1"
    remains.mkdir(parents=True)
    another = workshop.cache / "tmp" / "other-abc"
    another.mkdir()
    workshop.ensure()
    assert [path.name for path in (workshop.cache / "tmp").iterdir()] == ["other-abc"]


@pytest.mark.parametrize("place", ["/proc/muster", "{file}/muster"])
def test_a_cache_that_cannot_be_written(workshop: Workshop, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    directory = place.format(file=workshop.bin / "go")
    monkeypatch.setenv("MUSTER_CACHE", directory)
    with pytest.raises(HarnessError) as raised:
        workshop.ensure()
    assert str(raised.value).startswith(f"The cache directory {directory} cannot be written (")
    assert "MUSTER_CACHE=" in str(raised.value)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"MUSTER_CACHE": "/a/b", "XDG_CACHE_HOME": "/x"}, "/a/b"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/muster"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/muster"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/muster"),
    ],
)
def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str) -> None:
    monkeypatch.delenv("MUSTER_CACHE", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache.directory() == Path(expected)


def script(path: Path, answer: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{answer}'\n")
    path.chmod(0o755)
    return path


def test_a_named_binary_is_taken_whatever_its_version(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = script(workshop.bin / "mine", "tool version v9 (patched)")
    monkeypatch.setenv("TEST_ASSET_TOOL", str(mine))
    assert assets.find("tool") == assets.Found(path=mine, version="tool version v9 (patched)", source="TEST_ASSET_TOOL")
    monkeypatch.setenv("MUSTER_ASSET_TOOL", str(script(workshop.bin / "better", "tool version v1.2.3")))
    assert workshop.ensure() == {"tool": workshop.bin / "better"}


def test_a_named_binary_that_is_none(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_ASSET_TOOL", "/nowhere/tool")
    with pytest.raises(UsageError, match=r"^MUSTER_ASSET_TOOL names /nowhere/tool, which is not an executable file"):
        workshop.ensure()


@pytest.mark.parametrize("answer", ["tool version v1.2.3", "tool version v1.2.3 go1.26 (linux/amd64)"])
def test_an_installed_binary_of_the_pinned_version_is_taken(workshop: Workshop, answer: str) -> None:
    path = script(workshop.bin / "tool", answer)
    assert assets.find("tool") == assets.Found(path=path, version="1.2.3", source="PATH")


@pytest.mark.parametrize("answer", ["tool version v1.2.30", "tool version v1.2.3-rc.1", "kein tool version v1.2.3", ""])
def test_an_installed_binary_of_another_version_is_passed_over(workshop: Workshop, answer: str) -> None:
    script(workshop.bin / "tool", answer)
    assert assets.find("tool") is None


def test_kubebuilder_assets_come_before_path(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    script(workshop.bin / "tool", "tool version v1.2.3")
    folder = workshop.bin / "kubebuilder"
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))
    script(folder / "tool", "tool version v1.2.3")
    assert assets.find("tool", print_line=workshop.printed.append).source == "KUBEBUILDER_ASSETS"  # type: ignore[union-attr]
    script(folder / "tool", "tool version v1.2.2")
    assert assets.find("tool", print_line=workshop.printed.append).source == "PATH"  # type: ignore[union-attr]
    assert workshop.printed == ["tool in KUBEBUILDER_ASSETS is not 1.2.3: skipped"]


def test_an_unknown_binary(workshop: Workshop) -> None:
    with pytest.raises(UsageError, match="There is no binary 'etdc': choose from tool"):
        workshop.ensure("etdc")
