"""The parts of ci/kind-image and ci/kind-engine that need neither root nor a registry nor an engine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from muster.assets import image_archive

ROOT = Path(__file__).resolve().parents[3]
IMAGE, ENGINE = ROOT / "ci" / "kind-image", ROOT / "ci" / "kind-engine"


@pytest.fixture
def archive() -> Any:
    return image_archive


def written(archive: Any, into: Path, program: Path) -> Path:
    image = archive.Image(
        references=["example.org/pause:1", "example.org/pause:2"],
        files={"/usr/bin/pause": program},
        settings={"Entrypoint": ["/usr/bin/pause"]},
    )
    archive.write([image], into)
    return into


def test_an_archive_has_correct_digests(archive: Any, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    with tarfile.open(written(archive, tmp_path / "images.tar", program)) as tar:
        (entry,) = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        configuration = json.load(tar.extractfile(entry["Config"]))  # type: ignore[arg-type]
        layer = tar.extractfile(entry["Layers"][0])
        assert layer is not None
        assert configuration["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer.read()).hexdigest()}"]
        layer.seek(0)
        with tarfile.open(fileobj=layer) as content:
            assert content.getnames() == ["usr/bin/pause"]
    assert entry["RepoTags"] == ["example.org/pause:1", "example.org/pause:2"]
    assert configuration["config"]["Entrypoint"] == ["/usr/bin/pause"]


def test_the_same_files_give_the_same_archive(archive: Any, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    first = written(archive, tmp_path / "first.tar", program).read_bytes()
    os.utime(program, (1, 1))
    assert written(archive, tmp_path / "second.tar", program).read_bytes() == first


def test_a_tree_lists_directories_before_their_content(archive: Any, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "file").write_text("x")
    (tmp_path / "link").symlink_to("/nowhere")
    assert list(archive.tree(tmp_path)) == ["etc", "etc/file", "link"]


@pytest.mark.parametrize(
    ("arguments", "requested"),
    [
        (["create", "--bundle", "."], {"process": {"capabilities": {"bounding": ["CAP_SYS_RESOURCE", "CAP_KILL"]}}}),
        (["exec", "--process", "config.json"], {"capabilities": {"bounding": ["CAP_SYS_RESOURCE", "CAP_KILL"]}}),
    ],
)
def test_a_forbidden_capability_is_removed_before_runc(
    tmp_path: Path, arguments: list[str], requested: dict[str, Any]
) -> None:
    requested.get("process", requested)["oomScoreAdj"] = -999
    (tmp_path / "config.json").write_text(json.dumps(requested))
    (tmp_path / "runc").write_text('#!/bin/sh\necho "runc $*"\n')
    (tmp_path / "runc").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{Path(sys.executable).parent}:/usr/bin:/bin"}
    command = [str(ENGINE / "runc-less"), *arguments, "id"]
    outcome = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert outcome.stdout == f"runc {' '.join(arguments)} id\n"
    left = json.loads((tmp_path / "config.json").read_text())
    assert left.get("process", left) == {"capabilities": {"bounding": ["CAP_KILL"]}}
