"""pytest plugin: the wrong write of the current mutant, before the step that it is aimed at.

Written by a process beside the scheduler, as the fault injector does it; only here the moment is the step, not a
change in the cluster. Trap: what earlier Thens found is confirmed before a When; the write comes after that.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pytest_bdd.parser import Scenario, Step

from muster import timeouts
from muster.environment import ScenarioContext
from muster.errors import HarnessError
from muster.pytest_plugin.session import behaviour_of
from muster.recording.questions import Outcome
from tests.mutation.injection import job_writes, output_writes, pod_writes
from tests.mutation.injection.registry import UNDO, WRITES, Injection

__all__ = ["job_writes", "output_writes", "pod_writes"]  # they register the writes

INJECTIONS = pytest.StashKey[Mapping[str, Injection]]()  # by scenario, of the round of an item


@pytest.hookimpl(trylast=True)
def pytest_bdd_before_step_call(request: pytest.FixtureRequest, scenario: Scenario, step: Step) -> None:
    found = behaviour_of(request.node)
    injection = request.node.stash.get(INJECTIONS, {}).get(found.id if found else "")
    if injection is None or scenario.steps.index(step) != injection.position:
        return
    context: ScenarioContext = request.getfixturevalue("scenario")
    question = WRITES[injection.write](context, tuple(injection.about))
    if context.recording.wait(question, within=timeouts.SETTING_UP).outcome is not Outcome.TRUE:
        raise HarnessError(f"the injected fault was not recorded: {question.wanted}")


def pytest_bdd_after_scenario() -> None:
    while UNDO:
        UNDO.pop()()
