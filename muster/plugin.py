"""The one place where Muster meets pytest: options, markers, lint, verdicts, and a line of results per scenario.

Loaded by the suite's conftest.py. Under pytest-xdist it lives in every process: the one that was started by hand (or by
`muster run`) lints and writes results, the workers only judge; a verdict travels between them as an attribute of the
report.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest
from pytest_bdd.parser import Feature, Scenario
from pytest_bdd.parser import Step as BddStep
from pytest_bdd.steps import step_function_context_registry

from muster import catalogue, lifeline, progress, subject
from muster.catalogue import Behaviour, Step
from muster.errors import NotStaged, NotSupported, UsageError
from muster.lint import lint
from muster.report.allure_bridge import AllureBridge
from muster.report.results import (
    ALLURE_DIRECTORY,
    Result,
    StepResult,
    append_result,
    recorded_environment,
    save_environment,
)
from muster.selection import split_ids
from muster.verdicts import Verdict, combined, sentence_of, verdict_of


@dataclass
class Observed:
    """What was seen of the scenario that is running now."""

    phases: dict[str, Verdict] = field(default_factory=dict)
    messages: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    steps: list[StepResult] = field(default_factory=list)
    open_step: BddStep | None = None
    step_started: float = 0.0
    title: str = ""


BEHAVIOURS = pytest.StashKey[dict[str, Behaviour]]()
CLAIMS = pytest.StashKey[frozenset[str]]()
BRIDGE = pytest.StashKey[AllureBridge]()
OBSERVED = pytest.StashKey[Observed]()
SAVED_ENVIRONMENT = pytest.StashKey[dict[str, str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `muster run` gives on to pytest; usable by hand in a checkout."""
    group = parser.getgroup("muster", "Muster: does your scheduler pass muster?")
    add = group.addoption
    add("--muster-cluster", default="local", help="where to run: local (default)")
    add("--muster-scheduler", default="kube-scheduler", help="what is judged")
    add("--muster-kubeconfig", default=None, help="kubeconfig of a cluster that exists already")
    add("--muster-context", default=None, help="context of that kubeconfig")
    add("--muster-keep", action="store_true", help="keep the cluster of a failed scenario for debugging")
    add("--muster-repeat", type=int, default=1, metavar="N", help="run every scenario N times")
    add("--muster-results", default=None, metavar="DIR", help="write results.jsonl, environment.json and Allure files")
    add("--muster-only", default=None, metavar="ID,ID", help="run these behaviours only")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Know the behaviours, let their tags be markers, and take the place of allure-pytest's file writer."""
    features = config.rootpath / "features"
    if not features.is_dir():  # pytest takes the value of an option that it does not know yet for a path to the tests
        raise pytest.UsageError(f"{config.rootpath} holds no features: write options as --option=DIR, without a blank")
    found = catalogue.read_features(features)
    config.stash[BEHAVIOURS] = {behaviour.test_name: behaviour for behaviour in found.behaviours}
    for tag in (*catalogue.CLOSED_TAGS, *found.by_id()):
        config.addinivalue_line("markers", f"{tag}: scenarios tagged @{tag}")
    config.stash[CLAIMS] = _claims(config)
    results = _results_directory(config)
    if results and not _is_worker(config):
        results.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(Recorder(config, results))
    _configure_allure(config, results)
    if not _is_worker(config):
        lifeline.interrupt_when_the_parent_is_gone()


def _claims(config: pytest.Config) -> frozenset[str]:
    try:
        chosen, _ = subject.choose(config.getoption("--muster-scheduler"))
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    return frozenset(chosen.claims)


def _configure_allure(config: pytest.Config, results: Path | None) -> None:
    directory = config.option.allure_report_dir or (results and results / ALLURE_DIRECTORY)
    config.option.allure_report_dir = None  # or allure-pytest would write everything a second time
    if directory and not config.option.collectonly:
        bridge = AllureBridge(Path(directory).absolute(), config, config.getoption("--muster-scheduler"))
        config.pluginmanager.register(bridge.listener, "allure_listener")
        config.stash[BRIDGE] = bridge


def pytest_sessionstart(session: pytest.Session) -> None:
    """Lint before anything is collected, and only when scenarios will be: their mistakes must not stop other tests."""
    features = session.config.rootpath / "features"
    asked = [Path(session.config.invocation_params.dir, arg.split("::")[0]).resolve() for arg in session.config.args]
    if _is_worker(session.config) or not any(
        a == features or features in a.parents or a in features.parents for a in asked
    ):
        return
    claims = session.config.stash[CLAIMS]
    problems = lint(catalogue.read_features(features), definitions=_step_definitions, claims=claims)
    if problems:
        raise pytest.UsageError("\n".join(["the features have mistakes:", *(f"  {problem}" for problem in problems)]))


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


def pytest_collection_finish(session: pytest.Session) -> None:
    """Tell the watcher how much there is to do."""
    progress.send("collected", total=len(session.items))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """From the first fixture to the last finaliser of one scenario."""
    found = _behaviour(item)
    if found:
        item.stash[OBSERVED] = Observed(title=found.title)
        progress.send("starts", id=found.id, title=found.title, round=_round(item))
    try:
        return (yield)
    finally:
        if found:
            progress.send("ends", id=found.id)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    """What a scheduler does not claim is not asked of it; said before any fixture is made."""
    found = _behaviour(item)
    unclaimed = [each for each in found.capabilities if each not in item.config.stash[CLAIMS]] if found else []
    if unclaimed:
        raise NotSupported(f"{item.config.getoption('--muster-scheduler')} does not claim {', '.join(unclaimed)}")
    with progress.waiting("a clean cluster"):
        return (yield)


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
    skipped = isinstance(raised, pytest.skip.Exception)
    verdict = Verdict.SKIPPED if skipped else verdict_of(raised)
    observed.phases[report.when] = verdict
    observed.seconds[report.when] = call.duration
    if raised is not None:
        observed.messages[report.when] = str(raised) if skipped else sentence_of(raised)
    if verdict is Verdict.FAILED:
        report.longrepr = observed.messages[report.when]  # the story, not our stack
    if report.when == "teardown":
        _conclude(item, observed, report)
    return report


def _conclude(item: pytest.Item, observed: Observed, report: pytest.TestReport) -> None:
    found = _behaviour(item)
    assert found
    verdict = combined(observed.phases.values())
    result = Result(
        id=found.id,
        level=found.level,
        capabilities=list(found.capabilities),
        title=observed.title,
        verdict=verdict,
        round=_round(item),
        rounds=item.config.getoption("--muster-repeat"),
        example=_example(item),
        seconds=round(observed.seconds.get("call", 0.0), 3),
        setup_seconds=round(observed.seconds.get("setup", 0.0), 3),
        teardown_seconds=round(observed.seconds.get("teardown", 0.0), 3),
        message=_message(observed, verdict),
        worker=os.environ.get("PYTEST_XDIST_WORKER", "main"),
        judges_the_cluster=found.judges_the_cluster,
        feature=found.feature_file.relative_to(item.config.rootpath).as_posix(),
        steps=observed.steps,
        node_id=item.nodeid,
    )
    if bridge := item.config.stash.get(BRIDGE, None):
        bridge.judge(found, result)
    report.user_properties += [("requirement", found.id), ("level", found.level), ("verdict", str(verdict))]
    report.muster_result = msgspec.to_builtins(result)  # type: ignore[attr-defined]
    _save_environment(item.config)


def _message(observed: Observed, verdict: Verdict) -> str:
    phases = [phase for phase, each in observed.phases.items() if each is verdict]
    message = "\n".join(observed.messages[phase] for phase in phases if phase in observed.messages)
    if verdict is Verdict.ERROR and observed.phases.get("call") is Verdict.FAILED:
        message += "\nbefore that the scenario had failed:\n" + observed.messages["call"]
    return message


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
            self._record(
                Result(
                    id=found.id,
                    level=found.level,
                    capabilities=list(found.capabilities),
                    title=found.title,
                    verdict=Verdict.ERROR,
                    rounds=self._config.getoption("--muster-repeat"),
                    round=_round_in(parameters),
                    message="the worker process died while it ran this scenario: see pytest.log beside the results",
                    node_id=crashitem,
                )
            )

    def _record(self, result: Result) -> None:
        append_result(self._directory, result)
        progress.send("recorded")


def pytest_bdd_before_scenario(request: pytest.FixtureRequest, feature: Feature, scenario: Scenario) -> None:
    """The title with the values of an outline's row."""
    if observed := request.node.stash.get(OBSERVED, None):
        observed.title = scenario.name


def pytest_bdd_before_step(request: pytest.FixtureRequest, step: BddStep) -> None:
    """A sentence begins; its fixtures count as part of it."""
    if observed := request.node.stash.get(OBSERVED, None):
        observed.open_step, observed.step_started = step, time.monotonic()
    if bridge := request.config.stash.get(BRIDGE, None):
        bridge.start_step(
            f"{step.keyword} {step.name}", step.datatable.raw() if step.datatable else None, step.docstring
        )


def pytest_bdd_after_scenario(request: pytest.FixtureRequest) -> None:
    """pytest-bdd does not tell of a step that called pytest.skip: whatever is still open ended so."""
    observed = request.node.stash.get(OBSERVED, None)
    if observed and observed.open_step:
        _step_ended(request, observed.open_step, pytest.skip.Exception())


def pytest_bdd_after_step(request: pytest.FixtureRequest, step: BddStep) -> None:
    """A sentence held."""
    _step_ended(request, step, None)


def pytest_bdd_step_error(request: pytest.FixtureRequest, step: BddStep, exception: BaseException) -> None:
    """A sentence did not hold, or could not be judged."""
    _step_ended(request, step, exception)


def _step_ended(request: pytest.FixtureRequest, step: BddStep, raised: BaseException | None) -> None:
    verdict = Verdict.SKIPPED if isinstance(raised, pytest.skip.Exception) else verdict_of(raised)
    if observed := request.node.stash.get(OBSERVED, None):
        seconds = round(time.monotonic() - observed.step_started, 3)
        observed.open_step = None
        observed.steps.append(StepResult(step.keyword, step.name, str(verdict), seconds))
    if bridge := request.config.stash.get(BRIDGE, None):
        bridge.stop_step(verdict, "" if raised is None else sentence_of(raised))


def _behaviour(item: pytest.Item) -> Behaviour | None:
    name = getattr(item, "originalname", None)
    return item.config.stash[BEHAVIOURS].get(name) if name and item.path.name == "test_features.py" else None


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


def _results_directory(config: pytest.Config) -> Path | None:
    directory = config.getoption("--muster-results")
    return Path(config.invocation_params.dir, directory) if directory else None


def _save_environment(config: pytest.Config) -> None:
    facts = recorded_environment()
    directory = _results_directory(config)
    if directory and facts != config.stash.get(SAVED_ENVIRONMENT, {}):
        save_environment(directory, facts)
        config.stash[SAVED_ENVIRONMENT] = facts
