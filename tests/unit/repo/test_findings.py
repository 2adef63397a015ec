"""No red cell of the recorded matrix without a page, no page without a transcript, and what pages say of the matrix."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from muster.report.matrix.run import slug

DOCS = Path(__file__).parents[3] / "docs"
FINDINGS = DOCS / "findings"
COLUMNS = json.loads((DOCS / "matrix.json").read_text())["schedulers"]
RED = [
    (column["scheduler"], id_)
    for column in COLUMNS
    for id_, cell in column["cells"].items()
    if cell["verdict"] in ("failed", "unstable", "error")
]
NAMED = re.compile(r"\b([A-Z]{3})-(\d\d)((?:, \d\d\b(?! of))*)")  # PRE-35, 36 names both


def named(text: str) -> set[str]:
    """The ids in a text."""
    return {
        f"{prefix}-{number}"
        for prefix, first, more in NAMED.findall(text.replace("DOC-5", "DOC-05"))
        for number in (first, *re.findall(r"\d\d", more))
    }


def transcript(scheduler: str) -> Path:
    return FINDINGS / "transcripts" / f"{slug(scheduler)}.md"


def is_about(page: Path, scheduler: str) -> bool:
    """By its name, or because it links to the scheduler's transcripts."""
    project = re.split("[:@]", scheduler)[0]
    return page.name.startswith(project) or f"transcripts/{transcript(scheduler).name}" in page.read_text()


@pytest.mark.parametrize(("scheduler", "id_"), RED, ids=str)
def test_a_red_cell_has_a_page_and_a_transcript(scheduler: str, id_: str) -> None:
    pages = [page for page in FINDINGS.glob("*.md") if page.name != "README.md" and is_about(page, scheduler)]
    wanted = id_.replace("DOC-5", "DOC-05")
    assert any(wanted in named(page.read_text()) for page in pages), f"no page about {id_} of {scheduler}"
    assert f"\n## {id_}\n" in transcript(scheduler).read_text()


def test_every_page_is_linked() -> None:
    readme = (FINDINGS / "README.md").read_text()
    for page in FINDINGS.glob("**/*.md"):
        if page.name != "README.md":
            assert f"({page.relative_to(FINDINGS)})" in readme, page


def test_links_to_transcripts_have_a_section() -> None:
    for page in FINDINGS.glob("*.md"):
        for file, anchor in re.findall(r"\((transcripts/[^)#]+\.md)(?:#([^)]+))?\)", page.read_text()):
            text = (FINDINGS / file).read_text()
            assert not anchor or f"\n## {anchor.upper()}\n" in text, f"{page.name}: {file}#{anchor}"


@pytest.mark.parametrize(
    ("id_", "schedulers"),
    [
        ("JPR-21", {"reference", "kube-scheduler-gangs", "kueue:preempt", "kai"}),
        ("QUE-05", {"reference", "kueue", "kueue:preempt"}),
        ("QUE-06", set()),
    ],
)
def test_the_page_of_limits_says_who_was_asked(id_: str, schedulers: set[str]) -> None:
    """docs/limits.md, the behaviours that few schedulers support."""
    asked = {one["scheduler"] for one in COLUMNS if one["cells"][id_]["verdict"] != "not-supported"}
    assert asked == schedulers, "docs/limits.md names the schedulers: change it as well"
