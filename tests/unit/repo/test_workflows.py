"""The workflows pass actionlint, which also compares what they give to the action with what it takes."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from muster import assets, schedulers
from muster.cluster.kind.kind_cli import STOCK_IMAGE

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = ROOT / ".github" / "workflows"
ACTIONLINT = assets.find("actionlint")
NEEDS_ACTIONLINT = pytest.mark.skipif(
    ACTIONLINT is None, reason="actionlint is not there yet: `muster assets actionlint` gets it"
)


def actionlint(directory: Path) -> subprocess.CompletedProcess[str]:
    assert ACTIONLINT is not None
    shellcheck = Path(sys.executable).parent / "shellcheck"
    files = sorted(map(str, (directory / ".github" / "workflows").glob("*.yml")))
    command = [str(ACTIONLINT.path), "-no-color", "-shellcheck", str(shellcheck), "-pyflakes=", *files]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


@NEEDS_ACTIONLINT
def test_workflows_pass_actionlint() -> None:
    outcome = actionlint(ROOT)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@NEEDS_ACTIONLINT
def test_actionlint_would_notice_an_input_that_the_action_does_not_have(tmp_path: Path) -> None:
    """The control: without it, a linter that reads nothing would pass as well."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / "action.yml").write_text((ROOT / "action.yml").read_text())
    broken = (WORKFLOWS / "conformance.yml").read_text().replace("          cluster: kind", "          clutser: kind")
    (tmp_path / ".github" / "workflows" / "conformance.yml").write_text(broken)
    outcome = actionlint(tmp_path)
    assert outcome.returncode == 1
    assert "clutser" in outcome.stdout


def test_the_conformance_matrix_names_schedulers_that_exist() -> None:
    content = yaml.safe_load((WORKFLOWS / "conformance.yml").read_text())
    matrix = content["jobs"]["test"]["strategy"]["matrix"]
    assert {schedulers.choose(name)[0].name for name in matrix["scheduler"]} >= {"reference", "volcano", "koordinator"}
    assert len(matrix["kubernetes"]) == 2


def test_both_node_images_are_pinned_and_the_newer_one_is_the_stock_image() -> None:
    content = yaml.safe_load((WORKFLOWS / "conformance.yml").read_text())
    matrix = content["jobs"]["test"]["strategy"]["matrix"]
    images = {each["kubernetes"]: each["image"] for each in matrix["include"]}
    assert list(images) == matrix["kubernetes"]
    for minor, image in images.items():
        assert re.fullmatch(rf"kindest/node:v{re.escape(minor)}\.\d+@sha256:[0-9a-f]{{64}}", image)
    assert STOCK_IMAGE in images.values()


def test_the_front_page_links_to_every_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "results" / "muster-1.37-<b>mine</b>".replace("</b>", "-b")
    (run / "report").mkdir(parents=True)
    (run / "report" / "index.html").write_text("the report")
    lines = [json.dumps({"verdict": verdict}) for verdict in ("passed", "passed", "failed")]
    (run / "results.jsonl").write_text("\n".join(lines))
    (tmp_path / "results" / "nothing-was-run").mkdir()
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "results"), str(tmp_path / "site")])
    assert runpy.run_path(str(ROOT / "ci" / "action" / "front_page.py"))["main"]() == 0
    page = (tmp_path / "site" / "index.html").read_text()
    assert "<td>2</td><td>1</td>" in page
    assert "<b>" not in page
    assert "nothing-was-run" not in page
    assert (tmp_path / "site" / run.name / "index.html").read_text() == "the report"
