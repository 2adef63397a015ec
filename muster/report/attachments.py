"""What hangs on a step, a scenario or the whole run in Allure. Without an Allure listener all of it does nothing.

Everything that is attached as text goes through `plain`: it may come from a scheduler.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import allure_commons
from allure_commons.model2 import GlobalAttachment, Globals
from allure_commons.types import AttachmentType
from allure_commons.utils import now, uuid4

from muster.report.plain_text import LONGEST_ATTACHMENT, one_line, plain, read_from

TEXT, SVG, JSON, YAML, CSV = (
    AttachmentType.TEXT,
    AttachmentType.SVG,
    AttachmentType.JSON,
    AttachmentType.YAML,
    AttachmentType.CSV,
)
_LONGEST_NAME = 80


def attach(name: str, body: str, kind: AttachmentType = TEXT) -> None:
    """Hang something on the step or the scenario that is under way; nothing is not hung up."""
    if body:
        content = plain(body, LONGEST_ATTACHMENT)
        title = one_line(name, _LONGEST_NAME)
        allure_commons.plugin_manager.hook.attach_data(body=content, name=title, attachment_type=kind, extension=None)


def attach_logs(name: str, windows: Iterable[tuple[str, Path, int]]) -> None:
    """Each log from an offset on, as `name: component`."""
    for component, file, offset in windows:
        attach(f"{name}: {component}", read_from(file, offset))


def attach_to_run(name: str, body: str, kind: AttachmentType = TEXT) -> None:
    """Hang something on the whole run: Allure 3 shows it with the report, not with a scenario."""
    if not body:
        return
    hook = allure_commons.plugin_manager.hook
    source = f"{uuid4()}-attachment.{kind.extension}"
    hook.report_attached_data(body=plain(body, LONGEST_ATTACHMENT), file_name=source)
    shown = GlobalAttachment(name=one_line(name, _LONGEST_NAME), source=source, type=kind.mime_type, timestamp=now())
    hook.report_globals(globals_item=Globals(attachments=[shown]))
