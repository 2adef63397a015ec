"""Gherkin in Allure: titles, steps with their tables, stable histories; allure-pytest knows nothing of pytest-bdd.

The bridge stands where results are written. There it gives each result the identity of its requirement instead of the
name of a function, the verdict instead of allure's guess (a plain AssertionError is not a finding, it is our own
trouble), and drops the containers that allure makes for every step definition because pytest-bdd registers those as
fixtures.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import allure_commons
from allure_commons.logger import AllureFileLogger
from allure_commons.model2 import (
    ExecutableItem,
    Label,
    Parameter,
    Status,
    StatusDetails,
    TestResult,
    TestResultContainer,
)
from allure_commons.types import LabelType
from allure_commons.utils import md5, now, uuid4
from allure_pytest.listener import AllureListener

from muster.catalogue import DOCUMENTS
from muster.report.allure_files import message_of, named_manifests, write_categories, write_executor
from muster.report.attachments import CSV, YAML, attach
from muster.report.observations import with_text
from muster.report.plain_text import plain
from muster.report.results import Result
from muster.verdicts import Verdict

if TYPE_CHECKING:
    from muster.catalogue import Behaviour

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
    """Writes Allure's files, after turning what pytest saw into what the scenario meant."""

    def __init__(self, directory: Path, pytest_config: Any, scheduler: str, cluster: str) -> None:
        super().__init__(str(directory))
        self.listener = AllureListener(pytest_config)  # the caller gives it to pytest
        self._scheduler, self._cluster = scheduler, cluster
        self._current: tuple[Behaviour, Result] | None = None
        self._step = ""
        for plugin in (self.listener, self):
            allure_commons.plugin_manager.register(plugin)
            pytest_config.add_cleanup(lambda plugin=plugin: allure_commons.plugin_manager.unregister(plugin))
        write_executor(self._report_dir, scheduler)
        write_categories(self._report_dir)

    def judge(self, behaviour: Behaviour, result: Result) -> None:
        """The verdict for the Allure result that is about to be written."""
        self._current = (behaviour, result)

    def start_step(self, title: str, table: Sequence[Sequence[object]] | None, text: str | None) -> None:
        """A Gherkin step begins; what hangs on it is attached inside it."""
        hook = allure_commons.plugin_manager.hook
        self._step = uuid4()
        hook.start_step(uuid=self._step, title=with_text(title, text), params={})
        if table is not None:
            attach("table", _as_csv(table), CSV)
        if text and "\n" in text:  # a single line stands in the title
            attach("text", text)
        for name, content in named_manifests(title):
            attach(name, content, YAML)

    def stop_step(self, verdict: Verdict, message: str) -> None:
        """The step ended: a broken promise is red, our own trouble is broken."""
        details = StatusDetails(message=plain(message)) if message else None
        self.listener.allure_logger.stop_step(self._step, stop=now(), status=_STATUS[verdict], statusDetails=details)

    @allure_commons.hookimpl  # type: ignore[untyped-decorator]
    def report_result(self, result: TestResult) -> None:
        """Called by Allure when a test is over."""
        if self._current:
            self._rewrite(result, *self._current)
            self._current = None
        _make_plain(result)
        self._report_item(result)

    @allure_commons.hookimpl  # type: ignore[untyped-decorator]
    def report_container(self, container: TestResultContainer) -> None:
        """Called by Allure when a fixture is gone: only those that say something about the scenario are kept."""
        container.befores = [fixture for fixture in container.befores if _tells(fixture.name)]
        container.afters = [fixture for fixture in container.afters if _tells(fixture.name)]
        for fixture in container.afters:
            fixture.name = f"{fixture.name.partition('::')[0]}: clean-up"
        if container.befores or container.afters:
            self._report_item(container)

    def _rewrite(self, shown: TestResult, behaviour: Behaviour, result: Result) -> None:
        several = result.rounds > 1
        turn = f" (round {result.round}/{result.rounds})" if several else ""
        shown.name = f"{result.id} {result.title}{turn}"  # the id, too: it is what a reader searches for
        shown.fullName = f"{result.feature}#{result.name}"
        shown.titlePath = [*behaviour.capabilities[:1], behaviour.feature_title, *filter(None, [behaviour.rule])]
        # Allure 3 makes histories from this id and the parameters, and looks at historyId no more.
        shown.testCaseId = md5(result.id, self._scheduler)
        shown.historyId = md5(result.name, self._scheduler, str(result.round) if several else "")
        # Only what was not run to its end needs it: the other steps are shown. pytest-bdd's own holds a path.
        unseen = behaviour.steps if len(result.steps) < len(behaviour.steps) else ()
        shown.description = "\n".join(f"{step.keyword} {step.text}  " for step in unseen)
        shown.parameters = _parameters(behaviour, result)
        shown.status = _STATUS[result.verdict]
        if result.verdict is not Verdict.PASSED:
            ours = result.verdict is Verdict.ERROR and shown.statusDetails
            trace = shown.statusDetails.trace if ours else None  # a scheduler's failure is a story, not our stack
            shown.statusDetails = StatusDetails(message=message_of(result.verdict, result.message), trace=trace)
        others = [label for label in shown.labels if label.name not in _REPLACED_LABELS]
        shown.labels = [Label(name, value) for name, value in self._labels(behaviour, result)] + others

    def _labels(self, behaviour: Behaviour, result: Result) -> list[tuple[str, str]]:
        return [
            ("requirement", result.id),
            ("level", result.level),
            ("verdict", str(result.verdict)),
            *(("capability", capability) for capability in behaviour.capabilities),
            *(("document", tag) for tag in behaviour.tags if tag in DOCUMENTS),
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


def _tells(fixture: str) -> bool:
    """Not for pytest's and our own fixtures, nor for the finalisers that pytest puts between dependent fixtures."""
    return not fixture.startswith(_OWN_FIXTURES) and not fixture.endswith("::<lambda>")


def _parameters(behaviour: Behaviour, result: Result) -> list[Parameter]:
    """The columns of the outline's row under their names, and the round."""
    row = next((row for row in behaviour.examples if "-".join(row.values()) == result.example), {})
    parameters = [Parameter(name=name, value=value) for name, value in row.items()]
    if result.rounds > 1:
        parameters.append(Parameter(name="round", value=f"{result.round}/{result.rounds}"))
    return parameters


def _make_plain(shown: ExecutableItem) -> None:
    """Whatever was said by somebody else: one half of a character in it, and the file cannot be written."""
    shown.name = plain(shown.name or "", LONGEST_NAME)
    details = shown.statusDetails
    if details:
        shown.statusDetails = StatusDetails(message=plain(details.message or ""), trace=plain(details.trace or ""))
    for step in shown.steps:
        _make_plain(step)


def _as_csv(table: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    return text.getvalue()
