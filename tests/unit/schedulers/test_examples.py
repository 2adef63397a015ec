"""The examples of docs/your-scheduler.md: shown as they are in the files, and accepted by the harness."""

import importlib.util
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster import schedulers
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.requests import PodRequest
from muster.suite.behaviours import CAPABILITIES

DOCS = Path(__file__).parents[3] / "docs"
PYTHON, DESCRIPTION = DOCS / "examples" / "second_scheduler.py", DOCS / "examples" / "my-scheduler.yaml"


def example() -> type[Scheduler]:
    spec = importlib.util.spec_from_file_location("second_scheduler", PYTHON)
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: type[Scheduler] = module.SecondScheduler
    return found


@pytest.mark.parametrize("file", [PYTHON, DESCRIPTION], ids=lambda file: file.name)
def test_the_page_shows_the_file(file: Path) -> None:
    assert file.read_text() in (DOCS / "your-scheduler.md").read_text()


def test_the_page_of_schedulers_is_up_to_date() -> None:
    write = runpy.run_path(str(DOCS / "generate.py"))["schedulers_page"]
    assert (DOCS / "schedulers.md").read_text() == write(schedulers.SCHEDULERS), "run: python docs/generate.py"


@pytest.mark.parametrize("scheduler", schedulers.SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_claims_have_a_source_that_exists(scheduler: type[Scheduler]) -> None:
    for configuration in scheduler.configurations:
        for source in scheduler.claims(configuration).values():
            assert source.startswith("https://") or (DOCS.parent / source).exists()


def test_the_built_in_example_can_be_started(tmp_path: Path) -> None:
    binary = tmp_path / "kube-scheduler"
    context = ProcessContext(tmp_path, tmp_path / "admin", tmp_path / "scheduler", {"kube-scheduler": binary})
    scheduler = example()("default", context)
    (process,) = scheduler._prepare()
    assert process.argv == [str(binary), f"--config={tmp_path / 'second-scheduler.yaml'}", "--secure-port=0"]
    written = yaml.safe_load((tmp_path / "second-scheduler.yaml").read_text())
    pod = scheduler.dialect.pod_manifest(PodRequest("one", 1), "space")
    assert written["profiles"] == [{"schedulerName": pod["spec"]["schedulerName"]}]
    assert set(scheduler.claims("default")) <= set(CAPABILITIES)
    assert "second-scheduler" in scheduler.settings()["scheduler"]


def test_the_description_is_accepted_and_filled_in(tmp_path: Path) -> None:
    chosen, configuration = schedulers.choose(f"mine={DESCRIPTION}")
    scheduler = chosen(configuration, ProcessContext(tmp_path, tmp_path / "admin", tmp_path / "scheduler", {}))
    (process,) = scheduler._prepare()
    assert process.argv[0] == str(DESCRIPTION.parent / "kube-scheduler")
    written = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert written["clientConnection"]["kubeconfig"] == str(tmp_path / "admin")
    assert scheduler.dialect.scheduler_name == "my-scheduler"
