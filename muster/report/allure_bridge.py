"""Gherkin in Allure: titles, steps with their tables, stable histories; allure-pytest does not support pytest-bdd.

Replaces the writer of result files. Each result gets the id of its behaviour instead of the name of a function, and
the verdict instead of Allure's status (a plain AssertionError is an error of the harness, not a finding). Containers
of step definitions, which pytest-bdd registers as fixtures, are dropped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import allure_commons
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import (
    ExecutableItem,
    Label,
    Status,
    StatusDetails,
    TestResult,
    TestResultContainer,
)
from allure_commons.types import LabelType
from allure_commons.utils import now, uuid4
from allure_pytest.listener import AllureListener

from muster.report import history_keys, scenario_text
from muster.report.allure_files import (
    CSV,
    YAML,
    attach,
    message_of,
    named_manifests,
    write_categories,
    write_executor,
)
from muster.report.results import Result
from muster.report.sanitize import plain
from muster.report.scenario_result import with_first_line
from muster.suite.behaviours import WALKTHROUGHS
from muster.verdicts import Verdict

if TYPE_CHECKING:
    from muster.suite.behaviours import Behaviour

_STATUS = {
    Verdict.PASSED: Status.PASSED,
    Verdict.FAILED: Status.FAILED,
    Verdict.ERROR: Status.BROKEN,
    Verdict.NOT_SUPPORTED: Status.SKIPPED,
    Verdict.NOT_STAGED: Status.SKIPPED,
    Verdict.SKIPPED: Status.SKIPPED,
}
LONGEST_NAME = 1000
_SEVERITY = {"must": "critical", "should": "normal", "may": "minor"}
_OWN_FIXTURES = (
    "pytestbdd_",
    "_pytest_bdd_",
    "muster_round",
    "run_evidence",
    "behaviour",
    "requirement",
    "request",
    "pytestconfig",
)
_REPLACED_LABELS = {LabelType.PARENT_SUITE, LabelType.SUITE, LabelType.SUB_SUITE, LabelType.TAG, "package"}


class AllureBridge(AllureFileLogger):  # type: ignore[misc]
    """Writes Allure's files, with scenarios in place of test functions."""

    def __init__(self, directory: Path, pytest_config: Any, scheduler: str, cluster: str) -> None:
        super().__init__(str(directory))
        self.listener = AllureListener(pytest_config)  # the caller registers it with pytest
        self._scheduler, self._cluster = scheduler, cluster
        self._current: tuple[Behaviour, Result] | None = None
        self._step = ""
        for plugin in (self.listener, self):
            allure_commons.plugin_manager.register(plugin)
            pytest_config.add_cleanup(lambda plugin=plugin: allure_commons.plugin_manager.unregister(plugin))
        write_executor(self._report_dir, scheduler)
        write_categories(self._report_dir)

    def set_result(self, behaviour: Behaviour, result: Result) -> None:
        """The result that Allure is about to write belongs to this behaviour."""
        self._current = (behaviour, result)

    def start_step(self, title: str, table: Sequence[Sequence[object]] | None, text: str | None) -> None:
        """A Gherkin step begins; its table, doc string and manifests are attached to it."""
        hook = allure_commons.plugin_manager.hook
        self._step = uuid4()
        hook.start_step(uuid=self._step, title=with_first_line(title, text), params={})
        if table is not None:
            attach("table", _as_csv(table), CSV)
        if text and "\n" in text:  # a single line is part of the title
            attach("text", text)
        for name, content in named_manifests(title):
            attach(name, content, YAML)

    def stop_step(self, verdict: Verdict, message: str) -> None:
        """The step ended: a conformance failure is failed, an error of the harness is broken."""
        details = StatusDetails(message=plain(message)) if message else None
        self.listener.allure_logger.stop_step(self._step, stop=now(), status=_STATUS[verdict], statusDetails=details)

    @allure_commons.hookimpl  # type: ignore[untyped-decorator]
    def report_result(self, result: TestResult) -> None:
        """Called by Allure when a test is over."""
        if self._current:
            self._rewrite(result, *self._current)
            self._current = None
        _sanitize(result)
        self._report_item(result)

    @allure_commons.hookimpl  # type: ignore[untyped-decorator]
    def report_container(self, container: TestResultContainer) -> None:
        """Called by Allure when a fixture is torn down: only fixtures of the scenario are kept."""
        container.befores = [fixture for fixture in container.befores if _is_shown(fixture.name)]
        container.afters = [fixture for fixture in container.afters if _is_shown(fixture.name)]
        for fixture in container.afters:
            fixture.name = f"{fixture.name.partition('::')[0]}: clean-up"
        if container.befores or container.afters:
            self._report_item(container)

    def _rewrite(self, shown: TestResult, behaviour: Behaviour, result: Result) -> None:
        several = result.rounds > 1
        round_ = f" (round {result.round}/{result.rounds})" if several else ""
        shown.name = f"{result.id} {result.title}{round_}"  # readers search for the id
        shown.fullName = history_keys.full_name(result)
        shown.titlePath = [*behaviour.capabilities[:1], behaviour.feature_title, *filter(None, [behaviour.rule])]
        shown.testCaseId = history_keys.test_case_id(result, self._scheduler)
        shown.historyId = history_keys.history_id(result, self._scheduler)
        row = _row(behaviour, result)
        shown.description = scenario_text.markdown(behaviour, row, result.title)
        shown.parameters = history_keys.parameters(result, row)
        shown.status = _STATUS[result.verdict]
        if result.verdict is not Verdict.PASSED:
            is_ours = result.verdict is Verdict.ERROR and shown.statusDetails
            trace = shown.statusDetails.trace if is_ours else None  # a conformance failure has no stack trace
            shown.statusDetails = StatusDetails(message=message_of(result.verdict, result.message), trace=trace)
        others = [label for label in shown.labels if label.name not in _REPLACED_LABELS]
        shown.labels = [Label(name, value) for name, value in self._labels(behaviour, result)] + others

    def _labels(self, behaviour: Behaviour, result: Result) -> list[tuple[str, str]]:
        return [
            ("requirement", result.id),
            ("level", result.level),
            ("verdict", str(result.verdict)),
            *([("nodes", result.nodes)] if result.nodes else ()),
            *(("capability", capability) for capability in behaviour.capabilities),
            *(("document", tag) for tag in behaviour.tags if tag in WALKTHROUGHS),
            ("scheduler", self._scheduler),
            ("cluster", self._cluster),
            (LabelType.ID, result.id),
            (LabelType.EPIC, behaviour.capabilities[0] if behaviour.capabilities else ""),
            (LabelType.FEATURE, behaviour.feature_title),
            *((LabelType.STORY, rule) for rule in [behaviour.rule] if rule),
            (LabelType.PARENT_SUITE, self._scheduler),
            (LabelType.SUITE, behaviour.feature_title),
            (LabelType.SEVERITY, _SEVERITY.get(result.level, "normal")),
            *((LabelType.TAG, tag) for tag in behaviour.tags),
        ]


def _is_shown(fixture: str) -> bool:
    """Not the fixtures of pytest and of Muster, nor the finalisers that pytest adds between dependent fixtures."""
    return not fixture.startswith(_OWN_FIXTURES) and not fixture.endswith("::<lambda>")


def _row(behaviour: Behaviour, result: Result) -> Mapping[str, str]:
    """The outline's row that was run; empty for a scenario without Examples."""
    return next((row for row in behaviour.examples if "-".join(row.values()) == result.example), {})


def _sanitize(shown: ExecutableItem) -> None:
    """Untrusted text: a lone surrogate in it, and the file cannot be written."""
    shown.name = plain(shown.name or "", LONGEST_NAME)
    shown.description = plain(shown.description or "") or None
    details = shown.statusDetails
    if details:
        shown.statusDetails = StatusDetails(message=plain(details.message or ""), trace=plain(details.trace or ""))
    for step in shown.steps:
        _sanitize(step)


def _as_csv(table: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue()
