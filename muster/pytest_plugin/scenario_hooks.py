"""The hooks of pytest-bdd: steps in the report, evidence of failures, the last check of the invariants.

One module, so that their order is plain to read: evidence is taken while its step is still open in the report, and all
of it before the scenario's objects are deleted and the cluster is stopped.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pytest_bdd.parser import Scenario, Step

from muster import progress
from muster.errors import ConformanceFailure
from muster.pytest_plugin.reporting import verdict_and_message
from muster.pytest_plugin.session import OBSERVED, session_of
from muster.report import evidence
from muster.report.evidence import Evidence
from muster.report.gpu_maps import GpuMapSender
from muster.report.results import recorded_environment
from muster.report.sanitize import plain
from muster.verdicts import message_of

if TYPE_CHECKING:  # a suite without a cluster does not load it
    from muster.environment import Environment, ScenarioContext
    from muster.environment.node_plan import NodePlan

_EVIDENCE = pytest.StashKey[Evidence]()
_MAP = pytest.StashKey[GpuMapSender]()


def pytest_bdd_before_scenario(request: pytest.FixtureRequest, scenario: Scenario) -> None:
    """The title with the values of an outline's row."""
    if observed := request.node.stash.get(OBSERVED, None):
        observed.title = scenario.name
        progress.send("waits", text="")


def pytest_bdd_before_step(request: pytest.FixtureRequest, step: Step) -> None:
    """A step begins; its fixtures count as part of it."""
    if observed := request.node.stash.get(OBSERVED, None):
        observed.step_begins(step.keyword, step.name, step.docstring or "", is_then=step.type == "then")
    if bridge := session_of(request.config).bridge:
        table = step.datatable.raw() if step.datatable else None
        bridge.start_step(f"{step.keyword} {step.name}", table, step.docstring)


def pytest_bdd_before_step_call(request: pytest.FixtureRequest, step: Step, step_func_args: dict[str, object]) -> None:
    """The first step marks where the logs of this scenario begin; from then on its map of GPUs is shown.

    Before a When changes anything, what the Thens before it found is confirmed. Here, and nowhere else, the scenario's
    names of nodes become those of real nodes: everything that is recorded and reported has the real ones.
    """
    scenario = _context(request)
    if scenario is None:
        return
    if plan := _plan(scenario):
        for name, value in step_func_args.items():
            step_func_args[name] = plan.translate(value)
    if step.type == "when":
        scenario.recording.confirm()
    scenario.script.step_begins(step.keyword, step.name, step.type)
    if _EVIDENCE in request.node.stash:
        return
    logs = _logs(request.getfixturevalue("environment")) if "environment" in request.fixturenames else {}
    request.node.stash[_EVIDENCE] = Evidence(scenario.recording.history, logs)
    request.node.stash[_MAP] = GpuMapSender(scenario.recording.history)


def pytest_bdd_after_step(request: pytest.FixtureRequest) -> None:
    """A step passed."""
    _end_step(request, None)


def pytest_bdd_step_error(request: pytest.FixtureRequest, exception: Exception) -> None:
    """A step failed, or could not be carried out."""
    scenario = _context(request)
    if scenario:
        _name_nodes(scenario, exception)
        scenario.failure = exception
    _attach_failure(request, exception)
    _end_step(request, exception)


def pytest_bdd_after_scenario(request: pytest.FixtureRequest) -> None:
    """Check the invariants a last time, still inside the scenario, then draw its timeline."""
    observed = request.node.stash.get(OBSERVED, None)
    try:
        if observed and observed.inside_a_step:  # pytest-bdd has no hook for a step that was skipped or interrupted
            _end_step(request, pytest.skip.Exception("skipped"))
        elif not isinstance(sys.exc_info()[1], KeyboardInterrupt):  # a failure would take its place
            _check_invariants(request)
    except Exception as exception:
        _attach_failure(request, exception)
        raise
    finally:
        if gpu_map := request.node.stash.get(_MAP, None):
            gpu_map.stop()
        _attach_timeline(request)
        _attach_script(request)


def _check_invariants(request: pytest.FixtureRequest) -> None:
    """An invariant that is violated now is a failure of the scheduler, unless the scenario has failed already."""
    scenario = _context(request)
    if scenario is None or scenario.failure:
        return
    try:
        scenario.recording.close()
    except ConformanceFailure as violation:
        _name_nodes(scenario, violation)
        scenario.failure = violation
        raise


def _name_nodes(scenario: ScenarioContext, exception: BaseException) -> None:
    """A failure on real nodes says which of them stands for which node of the scenario."""
    plan = _plan(scenario)
    if plan and (mapping := plan.describe()):
        exception.args = ("\n".join([str(exception), "", *mapping.splitlines()]),)


def _plan(scenario: ScenarioContext) -> NodePlan | None:
    """Which real node stands for which of the scenario; None in a suite without nodes."""
    return scenario.nodes.plan if hasattr(scenario, "nodes") else None


def _context(request: pytest.FixtureRequest) -> ScenarioContext | None:
    """None in a suite whose steps need no cluster."""
    found = request.getfixturevalue("scenario") if "scenario" in request.fixturenames else None
    return found if hasattr(found, "recording") else None


def _end_step(request: pytest.FixtureRequest, raised: BaseException | None) -> None:
    verdict, message = verdict_and_message(raised)
    if observed := request.node.stash.get(OBSERVED, None):
        observed.step_ends(verdict)
    if bridge := session_of(request.config).bridge:
        bridge.stop_step(verdict, message)


def _attach_failure(request: pytest.FixtureRequest, exception: BaseException) -> None:
    taken = request.node.stash.get(_EVIDENCE, None)
    if taken and not isinstance(exception, pytest.skip.Exception):
        taken.of_failure(message_of(exception))


def _attach_timeline(request: pytest.FixtureRequest) -> None:
    taken, observed = request.node.stash.get(_EVIDENCE, None), request.node.stash.get(OBSERVED, None)
    if taken is not None and observed is not None:
        title = f"{observed.behaviour.id} {observed.title}"
        results = session_of(request.config).options.results
        taken.timeline(title, observed.step_outcomes(taken.began), results, observed.file_name)


def _attach_script(request: pytest.FixtureRequest) -> None:
    """After a failure of the scheduler: the scenario as kubectl commands."""
    scenario, observed = _context(request), request.node.stash.get(OBSERVED, None)
    if scenario is None or observed is None or not isinstance(scenario.failure, ConformanceFailure):
        return
    title = f"{observed.behaviour.id} {observed.title}"
    script = scenario.script.text(title, plain(message_of(scenario.failure)))
    evidence.keep_script(script, session_of(request.config).options.results, observed.file_name)


def attach_run_evidence(environment: Environment) -> None:
    """What belongs to the run as a whole; call it just before the environment is stopped."""
    configurations = {file.name: file for file in _files(environment, "*.yaml", "*/*.conf")}
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    evidence.of_run(_logs(environment), configurations, recorded_environment(), worker)


def _logs(environment: Environment) -> dict[str, Path]:
    """The scheduler's first, those of the control plane last."""
    control_plane = environment.cluster.logs() if environment.cluster else {}
    found = {file.stem: file for file in _files(environment, "*.log")}
    return {name: found[name] for name in sorted(found, key=lambda name: (name in control_plane, name))}


def _files(environment: Environment, *patterns: str) -> list[Path]:
    """Only what is named: kubeconfigs and private keys lie beside these files."""
    places = [environment.cluster.directory.glob(pattern) for pattern in patterns] if environment.cluster else []
    return sorted(file for place in places for file in place)
