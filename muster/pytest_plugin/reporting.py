"""The verdict of each scenario, from pytest's phases to a line of results."""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path

import msgspec
import pytest

from muster import progress
from muster.errors import NotStaged, NotSupported
from muster.pytest_plugin.session import OBSERVED, behaviour_of, is_worker, run_options, session_of
from muster.report.results import Result, append_result, recorded_environment, save_environment
from muster.report.scenario_result import Observation
from muster.suite.behaviours import Behaviour
from muster.verdicts import Verdict, message_of, verdict_of


def pytest_configure(config: pytest.Config) -> None:
    """Write results, where that was asked for."""
    if (results := run_options(config).results) and not is_worker(config):
        results.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(ResultWriter(config, results))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """From the first fixture to the last finaliser of one scenario."""
    found = behaviour_of(item)
    if not found:
        return (yield)
    item.stash[OBSERVED] = Observation(
        behaviour=found,
        title=found.title,
        node_id=item.nodeid,
        round=_round(item),
        rounds=session_of(item.config).options.repeat,
        example=_example(item),
        worker=os.environ.get("PYTEST_XDIST_WORKER", "main"),
    )
    progress.send("starts", id=found.id, title=found.title)
    progress.send("waits", text="a clean cluster")
    try:
        return (yield)
    finally:
        progress.send("ends", id=found.id)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The verdict of each phase; after the last one the result of the scenario goes with the report."""
    observed = item.stash.get(OBSERVED, None)
    if observed is None:  # no scenario: a unit test that raises NotSupported has failed, like any other
        return (yield)
    raised = call.excinfo.value if call.excinfo else None
    if isinstance(raised, (NotSupported, NotStaged)) and call.when != "teardown":
        as_skip = pytest.skip.Exception(f"{verdict_of(raised)}: {raised}")
        call.excinfo = pytest.ExceptionInfo.from_exception(as_skip.with_traceback(raised.__traceback__))
    report = yield
    verdict, message = verdict_and_message(raised)
    observed.phase_ends(report.when, verdict, message, call.duration)
    if verdict is Verdict.FAILED:
        report.longrepr = message  # the failure report, not Muster's stack
    if report.when == "teardown":
        _finish(item, observed, report)
    return report


def verdict_and_message(raised: BaseException | None) -> tuple[Verdict, str]:
    """What follows from an exception, or from none."""
    if isinstance(raised, pytest.skip.Exception):
        return Verdict.SKIPPED, str(raised.msg)
    return verdict_of(raised), "" if raised is None else message_of(raised)


def _finish(item: pytest.Item, observed: Observation, report: pytest.TestReport) -> None:
    result = observed.result(item.config.rootpath)
    if bridge := session_of(item.config).bridge:
        bridge.set_result(observed.behaviour, result)
    report.user_properties += [("requirement", result.id), ("level", result.level), ("verdict", str(result.verdict))]
    report.muster_result = msgspec.to_builtins(result)  # type: ignore[attr-defined]
    _save_environment(item.config)


def _save_environment(config: pytest.Config) -> None:
    muster, facts = session_of(config), recorded_environment()
    if muster.options.results and facts != muster.saved_environment:
        save_environment(muster.options.results, facts)
        muster.saved_environment = facts


class ResultWriter:
    """Appends results in the process that was started first: xdist's controller or the only one."""

    def __init__(self, config: pytest.Config, directory: Path) -> None:
        self._config = config
        self._directory = directory

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A phase of a scenario is over, here or in a worker."""
        if facts := getattr(report, "muster_result", None):
            self._write(msgspec.convert(facts, Result))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport) -> None:
        """A worker died: its scenario has no verdict, and that is an error."""
        name, _, parameters = crashitem.rpartition("::")[2].partition("[")
        muster = session_of(self._config)
        if found := muster.by_test_name.get(name):
            crashed = Observation(found, found.title, crashitem, _round_in(parameters), muster.options.repeat)
            crashed.example = _example_in(parameters, found)
            crashed.worker = report.node.gateway.id  # set by xdist
            crashed.phase_ends("call", Verdict.ERROR, "the worker process died while it ran this scenario", 0.0)
            self._write(crashed.result(self._config.rootpath))

    def _write(self, result: Result) -> None:
        append_result(self._directory, result)
        progress.send("recorded")


def _round(item: pytest.Item) -> int:
    callspec = getattr(item, "callspec", None)
    return int(callspec.params.get("muster_round", 1)) if callspec else 1


def _round_in(parameters: str) -> int:
    number = re.search(r"round(\d+)", parameters)
    return int(number[1]) if number else 1


def _example_in(parameters: str, behaviour: Behaviour) -> str:
    """The row of an outline in the parameters of a node id, which name the round as well; empty where there is none."""
    named = re.sub(r"^round\d+-|-round\d+$", "", parameters.removesuffix("]"))
    return named if named in behaviour.row_names else ""


def _example(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return "-".join(callspec.params.get("_pytest_bdd_example", {}).values()) if callspec else ""
