"""Which scenarios run: lint of the features, --muster-only, --muster-repeat, and what the scheduler claims."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_bdd.steps import step_function_context_registry

from muster.errors import NOT_CLAIMED, NotSupported
from muster.pytest_plugin.session import behaviour_of, is_worker, session_of
from muster.suite.behaviours import Behaviour, Step
from muster.suite.lint import lint
from muster.suite.selection import inapplicable, split_ids


def pytest_sessionstart(session: pytest.Session) -> None:
    """Lint before anything is collected, and only when scenarios will be: their mistakes must not stop other tests."""
    config = session.config
    if is_worker(config) or not _collects_scenarios(config):
        return
    muster = session_of(config)
    problems = lint(muster.catalogue, definitions=_step_definitions, claims=muster.claims)
    if problems:
        raise pytest.UsageError("\n".join(["the features have mistakes:", *(f"  {problem}" for problem in problems)]))


def _collects_scenarios(config: pytest.Config) -> bool:
    features = config.rootpath / "features"
    asked = [Path(config.invocation_params.dir, argument.split("::")[0]).resolve() for argument in config.args]
    return any(path == features or features in path.parents or path in features.parents for path in asked)


def _step_definitions(step: Step) -> int:
    contexts = step_function_context_registry.values()
    return sum(c.type in (None, step.type) and bool(c.parser.is_matching(step.text)) for c in contexts)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """--muster-repeat: one test per round, so that node ids stay unique and rounds spread over workers."""
    muster = session_of(metafunc.config)
    if muster.options.repeat > 1 and metafunc.definition.originalname in muster.by_test_name:
        metafunc.fixturenames.append("muster_round")
        numbers = range(1, muster.options.repeat + 1)
        metafunc.parametrize("muster_round", numbers, indirect=True, ids=[f"round{number}" for number in numbers])


@pytest.fixture
def muster_round(request: pytest.FixtureRequest) -> int:
    """Which round of --muster-repeat this is, from 1."""
    return int(getattr(request, "param", 1))


@pytest.fixture
def behaviour(request: pytest.FixtureRequest) -> Behaviour:
    """The behaviour that is being tested: its id, level and capabilities."""
    found = behaviour_of(request.node)
    assert found, f"{request.node.nodeid} is not a scenario of features/"
    return found


@pytest.fixture
def requirement(behaviour: Behaviour) -> str:
    """The id of the behaviour that is being tested."""
    return behaviour.id


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """--muster-only, and titles for -k."""
    only = set(split_ids(session_of(config).options.only))
    deselected: list[pytest.Item] = []
    for item in items:
        if found := behaviour_of(item):
            item.extra_keyword_matches.add(found.title)
            if only and found.id not in only:
                deselected.append(item)
    items[:] = [item for item in items if item not in deselected]
    if deselected:
        config.hook.pytest_deselected(items=deselected)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A scheduler is not tested on what it does not claim; found before any fixture is set up."""
    found, muster = behaviour_of(item), session_of(item.config)
    if found is None:
        return
    options = muster.options
    problem = inapplicable(found, muster.catalogue.behaviours, options.operator, options.client)
    if problem:
        raise NotSupported(problem)
    unclaimed = [each for each in found.capabilities if each not in muster.claims]
    if unclaimed:
        raise NotSupported(f"{options.scheduler} {NOT_CLAIMED} {', '.join(unclaimed)}")
    if excuse := muster.excuse_for(found.id):
        raise NotSupported(f"{options.scheduler} does not document it: {excuse.because} ({excuse.source})")
    if excuse := muster.operator_excuse_for(found.id):
        raise NotSupported(f"{options.operator} does not document it: {excuse.because} ({excuse.source})")
