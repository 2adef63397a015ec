"""pytest plugin: many mutants one after the other on one control plane, each on its own scenarios.

    python -m pytest features -p tests.mutation.shared_plane --mutants FILE --muster-repeat N …

FILE is JSON: one list entry per round of --muster-repeat, with the `ids` to run, the `environment` variables that
choose the mutant, and the `injections` at a step. Starting a control plane takes longer than most scenarios; a mutant
only needs its scheduler and its operator started anew. Trap: the results name the round, so entries and rounds must
have the same order.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from muster.environment import Environment
from muster.pytest_plugin.session import behaviour_of
from tests.mutation.injection.plugin import INJECTIONS
from tests.mutation.injection.registry import Injection

_VARIABLES = ("MUSTER_REFERENCE", "MUSTER_OPERATOR")  # of the scheduler, of the operator
_ENTRIES = pytest.StashKey[list[dict[str, Any]]]()
_CURRENT = pytest.StashKey[dict[str, str]]()  # the environment variables in force


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutants", metavar="FILE", help="the ids and environment variables of each round")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_ENTRIES] = json.loads(Path(config.getoption("--mutants")).read_text())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Round by round, and in each round only the scenarios of its mutant."""
    entries = config.stash[_ENTRIES]
    chosen = []
    for item in items:
        found, number = behaviour_of(item), _round(item)
        if found is not None and number <= len(entries) and found.id in entries[number - 1]["ids"]:
            chosen.append((number, item))
    items[:] = [item for _, item in sorted(chosen, key=lambda one: one[0])]  # a stable sort: features stay in order


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before the first fixture: an environment that is started or replaced now starts with the mutant."""
    entry = item.config.stash[_ENTRIES][_round(item) - 1]
    item.stash[INJECTIONS] = msgspec.convert(entry["injections"], dict[str, Injection])
    for variable in _VARIABLES:
        os.environ.pop(variable, None)
    os.environ.update(entry["environment"])


@pytest.fixture(autouse=True)
def mutant_is_running(request: pytest.FixtureRequest, environment: Environment) -> None:
    """The scheduler and the operator of this round; one that is the same as in the round before goes on."""
    stash = request.config.stash
    wanted = stash[_ENTRIES][_round(request.node) - 1]["environment"]
    running = stash.get(_CURRENT, wanted)
    stash[_CURRENT] = wanted
    scheduler_differs, operator_differs = (running.get(name) != wanted.get(name) for name in _VARIABLES)
    if scheduler_differs:
        environment.scheduler.stop()
        environment.scheduler.start()
    if operator_differs and environment.operator is not None:
        environment.operator.kill()
        environment.operator.start()


def _round(item: pytest.Item) -> int:
    callspec = getattr(item, "callspec", None)
    return int(callspec.params.get("muster_round", 1)) if callspec else 1
