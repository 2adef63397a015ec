"""What the hooks share in one pytest process: the options of the run, the behaviours, the scheduler's claims."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from muster.errors import UsageError
from muster.report.allure_bridge import AllureBridge
from muster.report.scenario_result import Observation
from muster.run_options import RunOptions, declarations, flag
from muster.schedulers.excuses import Excuse
from muster.suite.behaviours import Behaviour, Catalogue

OBSERVED = pytest.StashKey[Observation]()  # of an item: what was seen of its scenario so far
_OPTIONS = pytest.StashKey[RunOptions]()
_SESSION = pytest.StashKey["MusterSession"]()


@dataclass
class MusterSession:
    """One per pytest process, made when pytest is configured."""

    options: RunOptions
    catalogue: Catalogue
    claims: Collection[str]
    excuse_for: Callable[[str], Excuse | None] = lambda _: None
    operator_excuse_for: Callable[[str], Excuse | None] = lambda _: None
    bridge: AllureBridge | None = None
    saved_environment: dict[str, str] = field(default_factory=dict)

    @cached_property
    def by_test_name(self) -> dict[str, Behaviour]:
        """The behaviours by the name of their test function."""
        return {behaviour.test_name: behaviour for behaviour in self.catalogue.behaviours}


def open_session(config: pytest.Config, session: MusterSession) -> None:
    """Let `session_of` find it."""
    config.stash[_SESSION] = session


def session_of(config: pytest.Config) -> MusterSession:
    """The session of this pytest process."""
    return config.stash[_SESSION]


def behaviour_of(item: pytest.Item) -> Behaviour | None:
    """The behaviour that a test is about; None for a test that is no scenario of features/."""
    name = getattr(item, "originalname", None)
    is_scenario = name and item.path.name == "test_features.py"
    return session_of(item.config).by_test_name.get(name) if name and is_scenario else None


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a worker process of pytest-xdist."""
    return hasattr(config, "workerinput")


def add_options(parser: pytest.Parser) -> None:
    """One option for the whole value, which `muster run` uses, and one per field to type in a checkout.

    All of them stay text here: pytest-xdist hands options to its workers and can pass on no Path.
    """
    group = parser.getgroup("muster", "Muster: conformance of Kubernetes schedulers")
    group.addoption("--muster-options", default=None, metavar="JSON", help="all options of a run as one value")
    for name, default, declaration in declarations():
        if not declaration.in_pytest:
            continue
        settings: dict[str, Any] = {"default": None, "help": declaration.help.replace("%(default)s", str(default))}
        if isinstance(default, bool):
            settings["action"] = "store_true"
        else:
            settings["metavar"] = declaration.metavar
        group.addoption(f"--muster-{flag(name).removeprefix('--')}", **settings)


def run_options(config: pytest.Config) -> RunOptions:
    """The options of this run, read once."""
    if _OPTIONS not in config.stash:
        try:
            config.stash[_OPTIONS] = _read_options(config)
        except (UsageError, argparse.ArgumentTypeError, ValueError) as error:
            raise pytest.UsageError(str(error)) from None
    return config.stash[_OPTIONS]


def _read_options(config: pytest.Config) -> RunOptions:
    given: dict[str, Any] = {}
    for name, default, declaration in declarations():
        value = config.getoption(f"muster_{name}") if declaration.in_pytest else None
        if value is not None:
            parsed = value if isinstance(default, bool) else declaration.parse(value)
            given[name] = (parsed,) if isinstance(default, tuple) else parsed
    handed = config.getoption("muster_options")
    options = RunOptions.from_json(handed).replace(**given) if handed else RunOptions(**given)
    if options.results is None:
        return options
    return options.replace(results=Path(config.invocation_params.dir, options.results))
