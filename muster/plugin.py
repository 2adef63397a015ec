"""The one place where Muster meets pytest: options, markers, lint, verdicts, and a line of results per scenario.

Loaded by the suite's conftest.py. Under pytest-xdist it lives in every process: the one that was started by hand (or by
`muster run`) lints and writes results, the workers only judge; a verdict travels between them as an attribute of the
report.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Generator
from pathlib import Path

import msgspec
import pytest
from pytest_bdd.parser import Scenario
from pytest_bdd.parser import Step as BddStep
from pytest_bdd.steps import step_function_context_registry

from muster import lifeline, progress, subject, variants
from muster.catalogue import CLOSED_TAGS, Behaviour, Catalogue, Step, read_features
from muster.errors import NotStaged, NotSupported, UsageError
from muster.lint import lint
from muster.report.allure_bridge import AllureBridge
from muster.report.observations import Observation
from muster.report.results import ALLURE_DIRECTORY, Result, append_result, recorded_environment, save_environment
from muster.selection import split_ids
from muster.subject.clients import DEFAULT_CLIENT
from muster.subject.operators import DEFAULT_OPERATOR
from muster.verdicts import Verdict, sentence_of, verdict_of

CATALOGUE = pytest.StashKey[Catalogue]()
BEHAVIOURS = pytest.StashKey[dict[str, Behaviour]]()
CLAIMS = pytest.StashKey[Collection[str]]()
BRIDGE = pytest.StashKey[AllureBridge]()
OBSERVED = pytest.StashKey[Observation]()
SAVED_ENVIRONMENT = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `muster run` gives on to pytest; usable by hand in a checkout."""
    group = parser.getgroup("muster", "Muster: does your scheduler pass muster?")
    add = group.addoption
    add("--muster-cluster", default="local", help="where to run: local (default), kind or kubeconfig")
    add("--muster-kind-image", default=None, metavar="IMAGE", help="the node image of kind, a reference or an archive")
    add("--muster-reuse", action="store_true", help="keep the kind cluster from run to run")
    add("--muster-scheduler", default="reference", help="what is judged")
    add("--muster-operator", default=DEFAULT_OPERATOR, help="who makes pods of jobs")
    add("--muster-client", default=DEFAULT_CLIENT, help="who carries out the commands of the documents")
    add("--muster-kubeconfig", default=None, help="kubeconfig of a cluster that exists already")
    add("--muster-context", default=None, help="context of that kubeconfig")
    add("--muster-run", default=None, metavar="ID", help="the id of this run on a cluster that exists already")
    add("--muster-keep", action="store_true", help="keep what a failed scenario leaves, for debugging")
    add("--muster-hold", action="store_true", help="leave the first failed scenario as it is until ctrl-C, then stop")
    add("--muster-repeat", type=int, default=1, metavar="N", help="run every scenario N times")
    add("--muster-results", default=None, metavar="DIR", help="write results.jsonl, environment.json and Allure files")
    add("--muster-only", default=None, metavar="ID,ID", help="run these behaviours only")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Know the behaviours, let their tags be markers, and take the place of allure-pytest's file writer."""
    features = config.rootpath / "features"
    if not features.is_dir():  # pytest takes the value of an option that it does not know yet for a path to the tests
        raise pytest.UsageError(f"{config.rootpath} holds no features: write options as --option=DIR, without a blank")
    found = config.stash[CATALOGUE] = read_features(features)
    config.stash[BEHAVIOURS] = {behaviour.test_name: behaviour for behaviour in found.behaviours}
    for tag in (*CLOSED_TAGS, *found.by_id()):
        config.addinivalue_line("markers", f"{tag}: scenarios tagged @{tag}")
    config.stash[CLAIMS] = _claims(config)
    results = results_directory(config)
    if results and not _is_worker(config):
        results.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(config, results))
    _configure_allure(config, results)
    if not _is_worker(config):
        lifeline.interrupt_when_the_parent_is_gone()


def _claims(config: pytest.Config) -> Collection[str]:
    try:
        chosen, configuration = subject.choose(config.getoption("--muster-scheduler"))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    return chosen.claims(configuration)


def _configure_allure(config: pytest.Config, results: Path | None) -> None:
    directory = config.option.allure_report_dir or (results and results / ALLURE_DIRECTORY)
    config.option.allure_report_dir = None  # or allure-pytest would write everything a second time
    if directory and not config.option.collectonly:
        scheduler, cluster = config.getoption("--muster-scheduler"), config.getoption("--muster-cluster")
        bridge = AllureBridge(Path(directory).absolute(), config, scheduler, cluster)
        config.pluginmanager.register(bridge.listener, "allure_listener")
        config.stash[BRIDGE] = bridge


def pytest_sessionstart(session: pytest.Session) -> None:
    """Lint before anything is collected, and only when scenarios will be: their mistakes must not stop other tests."""
    config = session.config
    if _is_worker(config) or not _scenarios_are_asked_for(config):
        return
    problems = lint(config.stash[CATALOGUE], definitions=_step_definitions, claims=config.stash[CLAIMS])
    if problems:
        raise pytest.UsageError("\n".join(["the features have mistakes:", *(f"  {problem}" for problem in problems)]))


def _scenarios_are_asked_for(config: pytest.Config) -> bool:
    features = config.rootpath / "features"
    asked = [Path(config.invocation_params.dir, argument.split("::")[0]).resolve() for argument in config.args]
    return any(path == features or features in path.parents or path in features.parents for path in asked)


def _step_definitions(step: Step) -> int:
    contexts = step_function_context_registry.values()
    return sum(c.type in (None, step.type) and bool(c.parser.is_matching(step.text)) for c in contexts)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """--muster-repeat: one test per round, so that node ids stay unique and rounds spread over workers."""
    rounds: int = metafunc.config.getoption("--muster-repeat")
    if rounds > 1 and metafunc.definition.originalname in metafunc.config.stash[BEHAVIOURS]:
        metafunc.fixturenames.append("muster_round")
        numbers = range(1, rounds + 1)
        metafunc.parametrize("muster_round", numbers, indirect=True, ids=[f"round{number}" for number in numbers])


@pytest.fixture
def muster_round(request: pytest.FixtureRequest) -> int:
    """Which round of --muster-repeat this is, from 1."""
    return int(getattr(request, "param", 1))


@pytest.fixture
def behaviour(request: pytest.FixtureRequest) -> Behaviour:
    """The behaviour that is being judged: its id, level and capabilities."""
    found = _behaviour(request.node)
    assert found, f"{request.node.nodeid} is not a scenario of features/"
    return found


@pytest.fixture
def requirement(behaviour: Behaviour) -> str:
    """The id of the behaviour that is being judged."""
    return behaviour.id


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """--muster-only, and titles for -k."""
    asked = set(split_ids([config.getoption("--muster-only") or ""]))
    unwanted: list[pytest.Item] = []
    for item in items:
        if found := _behaviour(item):
            item.extra_keyword_matches.add(found.title)
            if asked and found.id not in asked:
                unwanted.append(item)
    items[:] = [item for item in items if item not in unwanted]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """From the first fixture to the last finaliser of one scenario."""
    found = _behaviour(item)
    if not found:
        return (yield)
    item.stash[OBSERVED] = Observation(
        behaviour=found,
        title=found.title,
        node_id=item.nodeid,
        round=_round(item),
        rounds=item.config.getoption("--muster-repeat"),
        example=_example(item),
        worker=os.environ.get("PYTEST_XDIST_WORKER", "main"),
    )
    progress.send("starts", id=found.id, title=found.title)
    progress.send("waits", text="a clean cluster")
    try:
        return (yield)
    finally:
        progress.send("ends", id=found.id)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a scheduler does not claim is not asked of it; said before any fixture is made."""
    found = _behaviour(item)
    if found and (problem := variants.problem(found, item.config.stash[CATALOGUE].behaviours, *_beside(item.config))):
        raise NotSupported(problem)
    unclaimed = [each for each in found.capabilities if each not in item.config.stash[CLAIMS]] if found else []
    if unclaimed:
        raise NotSupported(f"{item.config.getoption('--muster-scheduler')} does not claim {', '.join(unclaimed)}")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judge each phase; after the last one the verdict goes with the report."""
    raised = call.excinfo.value if call.excinfo else None
    if isinstance(raised, (NotSupported, NotStaged)) and call.when != "teardown":
        as_skip = pytest.skip.Exception(f"{verdict_of(raised)}: {raised}")
        call.excinfo = pytest.ExceptionInfo.from_exception(as_skip.with_traceback(raised.__traceback__))
    report = yield
    observed = item.stash.get(OBSERVED, None)
    if observed is None:
        return report
    verdict, message = _judged(raised)
    observed.phase_ends(report.when, verdict, message, call.duration)
    if verdict is Verdict.FAILED:
        report.longrepr = message  # the story, not our stack
    if report.when == "teardown":
        _conclude(item, observed, report)
    return report


def _judged(raised: BaseException | None) -> tuple[Verdict, str]:
    if isinstance(raised, pytest.skip.Exception):
        return Verdict.SKIPPED, str(raised.msg)
    return verdict_of(raised), "" if raised is None else sentence_of(raised)


def _conclude(item: pytest.Item, observed: Observation, report: pytest.TestReport) -> None:
    result = observed.result(item.config.rootpath)
    if bridge := item.config.stash.get(BRIDGE, None):
        bridge.judge(observed.behaviour, result)
    report.user_properties += [("requirement", result.id), ("level", result.level), ("verdict", str(result.verdict))]
    report.muster_result = msgspec.to_builtins(result)  # type: ignore[attr-defined]
    _save_environment(item.config)


class Recorder:
    """Appends results in the process that was started first: xdist's controller or the only one."""

    def __init__(self, config: pytest.Config, directory: Path) -> None:
        self._config = config
        self._directory = directory

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a scenario is over, here or in a worker."""
        if facts := getattr(report, "muster_result", None):
            self._record(msgspec.convert(facts, Result))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """A worker died: its scenario has no verdict, and that is an error."""
        name, _, parameters = crashitem.rpartition("::")[2].partition("[")
        found = self._config.stash[BEHAVIOURS].get(name)
        if found:
            rounds = self._config.getoption("--muster-repeat")
            crashed = Observation(found, found.title, crashitem, _round_in(parameters), rounds)
            crashed.phase_ends("call", Verdict.ERROR, "the worker process died while it ran this scenario", 0.0)
            self._record(crashed.result(self._config.rootpath))

    def _record(self, result: Result) -> None:
        append_result(self._directory, result)
        progress.send("recorded")


def pytest_bdd_before_scenario(request: pytest.FixtureRequest, scenario: Scenario) -> None:
    """The title with the values of an outline's row."""
    if observed := request.node.stash.get(OBSERVED, None):
        observed.title = scenario.name
        progress.send("waits", text="")


def pytest_bdd_before_step(request: pytest.FixtureRequest, step: BddStep) -> None:
    """A sentence begins; its fixtures count as part of it."""
    if observed := request.node.stash.get(OBSERVED, None):
        observed.step_begins(step.keyword, step.name, step.docstring or "", promises=step.type == "then")
    if bridge := request.config.stash.get(BRIDGE, None):
        bridge.start_step(
            f"{step.keyword} {step.name}", step.datatable.raw() if step.datatable else None, step.docstring
        )


def pytest_bdd_after_scenario(request: pytest.FixtureRequest) -> None:
    """pytest-bdd does not tell of a step that called pytest.skip: whatever is still open ended so."""
    observed = request.node.stash.get(OBSERVED, None)
    if observed and observed.inside_a_step:
        _step_ended(request, pytest.skip.Exception("skipped"))


def pytest_bdd_after_step(request: pytest.FixtureRequest) -> None:
    """A sentence held."""
    _step_ended(request, None)


def pytest_bdd_step_error(request: pytest.FixtureRequest, exception: BaseException) -> None:
    """A sentence did not hold, or could not be judged."""
    _step_ended(request, exception)


def _step_ended(request: pytest.FixtureRequest, raised: BaseException | None) -> None:
    verdict, message = _judged(raised)
    if observed := request.node.stash.get(OBSERVED, None):
        observed.step_ends(verdict)
    if bridge := request.config.stash.get(BRIDGE, None):
        bridge.stop_step(verdict, message)


def _behaviour(item: pytest.Item) -> Behaviour | None:
    name = getattr(item, "originalname", None)
    return item.config.stash[BEHAVIOURS].get(name) if name and item.path.name == "test_features.py" else None


def _beside(config: pytest.Config) -> tuple[str, str]:
    return config.getoption("--muster-operator"), config.getoption("--muster-client")


def _round(item: pytest.Item) -> int:
    callspec = getattr(item, "callspec", None)
    return int(callspec.params.get("muster_round", 1)) if callspec else 1


def _round_in(parameters: str) -> int:
    number = re.search(r"round(\d+)", parameters)
    return int(number[1]) if number else 1


def _example(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return "-".join(callspec.params.get("_pytest_bdd_example", {}).values()) if callspec else ""


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def results_directory(config: pytest.Config) -> Path | None:
    """Where this run writes, if it was told to."""
    directory = config.getoption("--muster-results")
    return Path(config.invocation_params.dir, directory) if directory else None


def _save_environment(config: pytest.Config) -> None:
    facts = recorded_environment()
    directory = results_directory(config)
    if directory and facts != config.stash.get(SAVED_ENVIRONMENT, {}):
        save_environment(directory, facts)
        config.stash[SAVED_ENVIRONMENT] = facts
