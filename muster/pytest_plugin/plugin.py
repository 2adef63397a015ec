"""Muster's pytest plugin: options and start-up. The other hooks are in the modules that it loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster import schedulers
from muster.errors import UsageError
from muster.operators import Operator, choose_operator
from muster.pytest_plugin.session import MusterSession, add_options, is_worker, open_session, run_options
from muster.report.allure_bridge import AllureBridge
from muster.report.results import ALLURE_DIRECTORY
from muster.run_options import RunOptions
from muster.runner import parent_watchdog
from muster.suite.behaviours import CLOSED_TAGS, read_features

pytest_plugins = (
    "muster.pytest_plugin.collection",
    "muster.pytest_plugin.reporting",
    "muster.pytest_plugin.scenario_hooks",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """What `muster run` hands to pytest; usable by hand in a checkout."""
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Read the features, make their tags markers, and replace allure-pytest's file writer, before it configures."""
    features = config.rootpath / "features"
    if not features.is_dir():  # pytest takes the value of an option that it does not know yet for a path to the tests
        raise pytest.UsageError(f"{config.rootpath} holds no features: write options as --option=DIR, without a blank")
    options, catalogue = run_options(config), read_features(features)
    for tag in (*CLOSED_TAGS, *catalogue.by_id()):
        config.addinivalue_line("markers", f"{tag}: scenarios tagged @{tag}")
    scheduler, configuration = _chosen(options.scheduler)
    excuses = scheduler.excuse_for, _operator(options.operator).excuse_for
    session = MusterSession(options, catalogue, scheduler.claims(configuration), *excuses)
    session.bridge = _replace_allure_writer(config, options)
    open_session(config, session)
    if not is_worker(config):
        parent_watchdog.interrupt_when_the_parent_is_gone()


def _chosen(scheduler: str) -> tuple[type[schedulers.Scheduler], str]:
    try:
        return schedulers.choose(scheduler)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _operator(name: str) -> type[Operator]:
    try:
        return choose_operator(name)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None


def _replace_allure_writer(config: pytest.Config, options: RunOptions) -> AllureBridge | None:
    """None where no Allure files are written."""
    directory = config.option.allure_report_dir or (options.results and options.results / ALLURE_DIRECTORY)
    config.option.allure_report_dir = None  # or allure-pytest would write everything a second time
    if not directory or config.option.collectonly:
        return None
    bridge = AllureBridge(Path(directory).absolute(), config, options.scheduler, options.cluster)
    config.pluginmanager.register(bridge.listener, "allure_listener")
    return bridge
