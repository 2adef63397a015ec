"""No scheduler is left out of anything without a text that can be read: in the code, and in the recorded matrix."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlparse

import pytest

from muster import schedulers
from muster.errors import NotSupported
from muster.schedulers import SCHEDULERS
from muster.schedulers.base import Scheduler
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.unclaimed import ABSENCES, absence
from muster.schedulers.unsupported import Feature, Unsupported
from muster.schedulers.volcano import VOLCANO_QUEUE
from muster.suite.behaviours import CAPABILITIES, read_features
from muster.suite.paths import suite_root

ROOT = Path(__file__).parents[3]
BEHAVIOURS = read_features(suite_root() / "features").by_id()
MATRIX = json.loads((ROOT / "docs" / "matrix.json").read_text())
SOURCE = re.compile(r"\((\S+)\)$")
PODS = (PodRequest("train-0", 2), PodRequest("train-1", 1))


def gang(**fields: object) -> GangRequest:
    return GangRequest("train", 2, **{"members": (PODS[0], PODS[0]), **fields})  # type: ignore[arg-type]


# The capability whose behaviours ask for it, and how a dialect is asked.
QUESTIONS: dict[str, tuple[str, Callable[[Dialect], object]]] = {
    "linked gangs": ("gangs", lambda one: one.gang_manifest(gang(linked_gangs=("other",)), "space")),
    "roles": ("gangs", lambda one: one.gang_manifest(gang(roles={"chief": 1}), "space")),
    "a role": ("gangs", lambda one: one.pod_manifest(PodRequest("one", 1, gang="lost", role="chief"), "space")),
    "different members": ("gangs", lambda one: one.gang_manifest(gang(members=PODS), "space")),
    "surplus": ("gangs", lambda one: one.gang_manifest(gang(members=(PODS[0],) * 3), "space")),
    "a pod before its gang": ("gangs", lambda one: one.pod_manifest(PodRequest("one", 1, gang="lost"), "space")),
    "minMember": ("gangs", lambda one: one.min_member_patch(gang())),
    "deletion": ("gangs", lambda one: one.check_pod_deletion(PodRequest("one", 1, gang="train"))),
    "binding": ("gangs", Dialect.check_direct_binding),
    "finished": ("gangs", lambda one: one.check_phase_supported("finished")),
    "running": ("gangs", lambda one: one.check_phase_supported("running")),
    "phase": ("gangs", lambda one: one.phase({})),
    "unit": ("job-preemption", lambda one: one.gang_manifest(gang(disruption_mode_all=True), "space")),
    "protected": ("job-preemption", lambda one: one.pod_manifest(PodRequest("one", 1, non_preemptible=True), "space")),
    "priority": ("queues", lambda one: one.priority_patch("high")),
    "fifo": ("queues", lambda one: one.queue_manifest(QueueRequest("q", strict_fifo=True))),
    "head": ("queues", lambda one: one.queue_manifest(QueueRequest("q", reserves_for_head=True))),
    "weight": ("queues", lambda one: one.queue_manifest(QueueRequest("q", weight=3))),
    "lending": ("queues", lambda one: one.queue_manifest(QueueRequest("q", lends=True))),
}


def claimed(scheduler: type[Scheduler]) -> set[str]:
    return {claim for each in scheduler.configurations for claim in scheduler.claims(each)}


def is_source(text: str) -> bool:
    return urlparse(text).scheme == "https" or (ROOT / text).exists()


def refusal(ask: Callable[[], object]) -> str:
    """The text of a NotSupported; empty where there is none."""
    try:
        ask()
    except NotSupported as refused:
        return str(refused)
    return ""


def rows() -> list[Unsupported]:
    return list(dict.fromkeys(row for scheduler in SCHEDULERS for row in scheduler.dialect_class.unsupported))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.text)
def test_a_row_has_a_reason_and_a_source(row: Unsupported) -> None:
    assert row.because
    assert is_source(row.source)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_an_answer_about_a_claimed_capability_has_a_source(scheduler: type[Scheduler], question: str) -> None:
    capability, ask = QUESTIONS[question]
    if capability not in claimed(scheduler):
        return
    answer = refusal(lambda: ask(scheduler.dialect_class()))
    source = SOURCE.search(answer)
    assert not answer or (source and is_source(source.group(1))), answer


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_who_cannot_switch_preemption_off_says_why(scheduler: type[Scheduler]) -> None:
    changes_it = scheduler.configure is not Scheduler.configure
    asked = {"preemption", "queues"} <= claimed(scheduler)
    table = [feature for row in scheduler.dialect_class.unsupported for feature in row.features]
    assert changes_it or not asked or Feature.PREEMPTION_SWITCH in table


def test_only_the_table_answers() -> None:
    """A NotSupported that a scheduler's module raises by itself would have no source."""
    package = ROOT / "muster" / "schedulers"
    allowed = {package / "unsupported.py": 2, package / "dialect.py": 1}  # there: capabilities that are not claimed
    for file in package.rglob("*.py"):
        calls = [
            node
            for node in ast.walk(ast.parse(file.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "NotSupported"
        ]
        assert len(calls) == allowed.get(file, 0), file


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_what_is_not_claimed_has_a_reason_and_a_source(scheduler: type[Scheduler]) -> None:
    for configuration in scheduler.configurations:
        for capability in CAPABILITIES:
            why = absence(scheduler.name, configuration, capability)
            if capability not in scheduler.claims(configuration):
                assert why, f"{scheduler.name}:{configuration} {capability}"
                assert is_source(why.source)


def test_absences_are_about_schedulers_and_capabilities() -> None:
    for place, capabilities in ABSENCES.items():
        scheduler, configuration = schedulers.choose(place)
        for capability in capabilities:
            assert capability in CAPABILITIES
            assert any(capability not in scheduler.claims(each) for each in scheduler.configurations)
            assert configuration == "default" or capability not in scheduler.claims(configuration)


def not_asked_rows() -> dict[str, dict[str, str]]:
    """Of docs/matrix.md: for each scheduler the reason of each behaviour."""
    _, _, section = (ROOT / "docs" / "matrix.md").read_text().partition("## Not asked")
    found: dict[str, dict[str, str]] = {}
    for line in section.splitlines():
        if line.startswith("| `"):
            title, ids, why = (cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(title.strip("`"), {}).update(dict.fromkeys(ids.split(", "), why))
    return found


def test_every_cell_of_the_matrix_that_was_not_asked_has_a_source() -> None:
    rows_of = not_asked_rows()
    for column in MATRIX["schedulers"]:
        scheduler, configuration = schedulers.choose(column["scheduler"])
        for id_, cell in column["cells"].items():
            if cell["verdict"] not in ("not-supported", "not-staged"):
                continue
            unclaimed = set(BEHAVIOURS[id_].capabilities) - set(scheduler.claims(configuration))
            why = rows_of.get(column["scheduler"], {}).get(id_, "")
            source = SOURCE.search(why)
            assert unclaimed or source, f"{column['scheduler']} {id_}: {why or 'no reason'}"
            assert not why or (source and is_source(source.group(1))), f"{column['scheduler']} {id_}: {why}"


def test_a_manifest_of_a_walkthrough_is_from_a_page() -> None:
    assert "koordinator.sh" in schedulers.walkthrough_page(name="koord-scheduler")
    assert "volcano.sh" in schedulers.walkthrough_page(kind=VOLCANO_QUEUE)
    assert schedulers.walkthrough_page(name="somebody's") == "features/walkthroughs"
