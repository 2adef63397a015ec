"""The Dockerfile cannot be built where there is no registry; these checks need none."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def allowed() -> list[str]:
    """The names at the top that .dockerignore lets through."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in lines
    return [line.removeprefix("!") for line in lines if line.startswith("!")]


def test_the_build_context_is_enough_for_the_wheel(tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    for name in allowed():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, context / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, context / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=context, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        packed = set(archive.namelist())
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, target in {"muster": "muster", **settings["force-include"]}.items():
        files = [ROOT / source] if (ROOT / source).is_file() else (ROOT / source).rglob("*.*")
        wanted = {target + str(file).removeprefix(str(ROOT / source)) for file in files if file.is_file()}
        assert {name for name in wanted if "__pycache__" not in name} <= packed, source


def test_every_copied_file_is_in_the_build_context() -> None:
    for source in re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE):
        assert source == "." or source in allowed()


def test_nothing_runs_as_root_and_the_command_is_muster() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", last, re.MULTILINE)
    assert 'ENTRYPOINT ["muster"]' in last


def test_the_schedulers_in_the_image_are_those_of_the_conformance_matrix() -> None:
    named = re.search(r'^ARG SCHEDULERS="(.*)"$', DOCKERFILE, re.MULTILINE)
    content = yaml.safe_load((ROOT / ".github" / "workflows" / "conformance.yml").read_text())
    assert named
    assert named[1].split() == content["jobs"]["test"]["strategy"]["matrix"]["scheduler"]
