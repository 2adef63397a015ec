"""The parts of ci/python-images and ci/kind-schedulers that need no network."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
LOCK = """\
attrs==1 \\
    --hash=sha256:a
    # via x
typing-extensions==2 ; python_version > '3' \\
    --hash=sha256:b
"""


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    file = ROOT / "ci" / name
    monkeypatch.setattr(sys, "path", [str(file.parent), *sys.path])
    return runpy.run_path(str(file))


def test_only_what_a_distribution_needs_is_taken_from_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    root = script("python-images/python_root.py", monkeypatch)
    assert root["part_of"](LOCK, {"typing-extensions"}) == LOCK[LOCK.index("typing") :]
    assert root["part_of"](LOCK, {"attrs", "typing-extensions"}) == LOCK
    needed = root["needed_by"]("passmuster")
    assert {"aiohttp", "pytest-bdd", "kubernetes", "frozenlist"} <= needed
    assert not {"mypy", "ruff", "playwright"} & needed


def test_the_image_is_the_one_of_the_dockerfile_and_of_the_manifests(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = script("python-images/build.py", monkeypatch)["RECIPES"]["scheduler"]
    dockerfile = (ROOT / "scheduler" / "Dockerfile").read_text()
    assert f"USER {recipe.settings['User']}" in dockerfile
    assert 'ENTRYPOINT ["python", "-m", "scheduler"]' in dockerfile
    for component in ("scheduler", "operator"):
        documents = yaml.safe_load_all((ROOT / "manifests" / component / "deployment.yaml").read_text())
        deployment = next(one for one in documents if one["kind"] == "Deployment")
        image = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
        assert recipe.reference.endswith(f"/{image}")


def test_all_images_of_workloads_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pod = {"initContainers": [{"image": "a:1"}], "containers": [{"image": "b"}]}
    manifests = [{"kind": "Deployment", "spec": {"template": {"spec": pod}}}, {"kind": "Secret"}]
    assert script("kind-schedulers/assemble.py", monkeypatch)["used_images"](manifests) == {"a:1", "b"}
