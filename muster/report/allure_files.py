"""The files that Allure wants beside its results: who ran it, and what kinds of trouble are told apart."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from muster.suite import manifests
from muster.verdicts import Verdict

_MANIFEST = re.compile(r'manifest "([\w.-]+)"')
_CATEGORIES = (
    ("The scheduler misbehaved", "failed", Verdict.FAILED),
    ("The harness or the cluster had trouble: no verdict", "broken", Verdict.ERROR),
    ("Not supported: the scheduler does not claim it", "skipped", Verdict.NOT_SUPPORTED),
    ("Not staged: it cannot be tried on this cluster", "skipped", Verdict.NOT_STAGED),
    ("Skipped on request", "skipped", Verdict.SKIPPED),
)


def categories() -> list[dict[str, Any]]:
    """For Allure 3, which groups by labels; every result carries its verdict as one."""
    return [
        {"name": name, "matchers": {"statuses": [status], "labels": {"verdict": str(verdict)}}}
        for name, status, verdict in _CATEGORIES
    ]


def write_categories(directory: Path) -> None:
    """For Allure 2, which groups by the message: where one status has several verdicts, it begins with the verdict."""
    rules = [
        {"name": name, "matchedStatuses": [status], "messageRegex": rf"(?s){message_of(verdict, '')}.*"}
        for name, status, verdict in _CATEGORIES
    ]
    _write(directory / "categories.json", rules)


def message_of(verdict: Verdict, message: str) -> str:
    """What a result says for itself; a story stays as it is, or its columns would not fit any more."""
    return message if verdict in (Verdict.FAILED, Verdict.ERROR) else f"{verdict}: {message}"


def write_executor(directory: Path, scheduler: str) -> None:
    """Muster itself, or the CI that started it where that says where to look."""
    executor: dict[str, Any] = {"name": "muster", "type": "muster", "buildName": f"muster run --scheduler {scheduler}"}
    ci = os.environ
    if ci.get("GITHUB_ACTIONS") == "true":
        place = [ci.get(f"GITHUB_{name}", "") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
        url = "{}/{}/actions/runs/{}".format(*place)
        number = ci.get("GITHUB_RUN_NUMBER", "")
        executor |= {"name": "GitHub Actions", "type": "github", "buildUrl": url}
        executor |= {"buildOrder": int(number)} if number.isdecimal() else {}
    _write(directory / "executor.json", executor)


def named_manifests(step: str) -> Iterator[tuple[str, str]]:
    """The manifests that a sentence names, with their content."""
    for name in _MANIFEST.findall(step):
        for file in sorted(manifests().rglob(f"{name}.yaml")):
            yield file.name, file.read_text(encoding="utf-8")


def _write(file: Path, content: object) -> None:
    """In one go: workers write the same file at the same time."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draft.replace(file)
