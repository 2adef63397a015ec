"""Files for Allure besides its results: attachments, categories and the executor.

Without an Allure listener attachments do nothing. Attached text is sanitized: it may come from a scheduler.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import allure_commons
from allure_commons.model2 import GlobalAttachment, Globals
from allure_commons.types import AttachmentType
from allure_commons.utils import now, uuid4

from muster.report.sanitize import LONGEST_ATTACHMENT, one_line, plain, read_from
from muster.suite.paths import manifests
from muster.verdicts import Verdict

TEXT, SVG, JSON, YAML, CSV = (
    AttachmentType.TEXT,
    AttachmentType.SVG,
    AttachmentType.JSON,
    AttachmentType.YAML,
    AttachmentType.CSV,
)
_LONGEST_NAME = 80
_MANIFEST = re.compile(r'manifest "([\w.-]+)"')
_CATEGORIES = (  # Allure 2 draws its trend by these names: they stay
    ("The scheduler misbehaved", "failed", Verdict.FAILED),
    ("The harness or the cluster had trouble: no verdict", "broken", Verdict.ERROR),
    ("Not supported: the scheduler does not claim it", "skipped", Verdict.NOT_SUPPORTED),
    ("Not staged: it cannot be tried on this cluster", "skipped", Verdict.NOT_STAGED),
    ("Skipped on request", "skipped", Verdict.SKIPPED),
)


def attach(name: str, body: str, kind: AttachmentType = TEXT) -> None:
    """Attach text to the current step or scenario; an empty body is not attached."""
    if body:
        content = plain(body, LONGEST_ATTACHMENT)
        title = one_line(name, _LONGEST_NAME)
        allure_commons.plugin_manager.hook.attach_data(body=content, name=title, attachment_type=kind, extension=None)


def attach_logs(name: str, windows: Iterable[tuple[str, Path, int]]) -> None:
    """Attach each log from an offset on, as `name: component`."""
    for component, file, offset in windows:
        attach(f"{name}: {component}", read_from(file, offset))


def attach_to_run(name: str, body: str, kind: AttachmentType = TEXT) -> None:
    """Attach text to the whole run: Allure 3 shows it with the report, not with a scenario."""
    if not body:
        return
    hook = allure_commons.plugin_manager.hook
    source = f"{uuid4()}-attachment.{kind.extension}"
    hook.report_attached_data(body=plain(body, LONGEST_ATTACHMENT), file_name=source)
    shown = GlobalAttachment(name=one_line(name, _LONGEST_NAME), source=source, type=kind.mime_type, timestamp=now())
    hook.report_globals(globals_item=Globals(attachments=[shown]))


def categories() -> list[dict[str, Any]]:
    """For Allure 3, which groups by labels; every result has its verdict as a label."""
    return [
        {"name": name, "matchers": {"statuses": [status], "labels": {"verdict": str(verdict)}}}
        for name, status, verdict in _CATEGORIES
    ]


def write_categories(directory: Path) -> None:
    """For Allure 2, which groups by messages: where a status has several verdicts, messages begin with the verdict."""
    rules = [
        {"name": name, "matchedStatuses": [status], "messageRegex": rf"(?s){message_of(verdict, '')}.*"}
        for name, status, verdict in _CATEGORIES
    ]
    _write(directory / "categories.json", rules)


def message_of(verdict: Verdict, message: str) -> str:
    """Message of a result; a failure report is unchanged, because a prefix would break its columns."""
    return message if verdict in (Verdict.FAILED, Verdict.ERROR) else f"{verdict}: {message}"


def write_executor(directory: Path, scheduler: str) -> None:
    """Muster itself, or the GitHub workflow run that started it."""
    executor: dict[str, Any] = {"name": "muster", "type": "muster", "buildName": f"muster run --scheduler {scheduler}"}
    variables = os.environ
    if variables.get("GITHUB_ACTIONS") == "true":
        address = [variables.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
        url = "{}/{}/actions/runs/{}".format(*address)
        number = variables.get("GITHUB_RUN_NUMBER", "")
        executor |= {"name": "GitHub Actions", "type": "github", "buildUrl": url}
        executor |= {"buildOrder": int(number)} if number.isdecimal() else {}
    _write(directory / "executor.json", executor)


def named_manifests(step: str) -> Iterator[tuple[str, str]]:
    """The manifests that a step names, with their content."""
    for name in _MANIFEST.findall(step):
        for file in sorted(manifests().rglob(f"{name}.yaml")):
            yield file.name, file.read_text(encoding="utf-8")


def _write(file: Path, content: object) -> None:
    """Atomically: workers write the same file at the same time."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draft.replace(file)
