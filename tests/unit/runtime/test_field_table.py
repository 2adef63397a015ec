"""The table of fields has every field of the pinned schemas, and each of them once."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from scheduler.runtime.field_table import KINDS, PARTS, Support
from tests.support.field_schemas import (
    CRD_FIELDS,
    CRD_RELEASES,
    crd_differences,
    package_schema,
    pod_spec_differences,
)

ROOT = Path(__file__).resolve().parents[3]


def pinned(component: str) -> str:
    text = (ROOT / "ci" / "toolchain" / component / "component.toml").read_text()
    return str(tomllib.loads(text)["version"])


def test_every_field_of_a_pod_is_classified() -> None:
    assert pod_spec_differences(package_schema()) == []


def test_the_model_of_a_pod_is_that_of_the_pinned_kubernetes() -> None:
    assert version("kubernetes").split(".")[0] == pinned("kubernetes").split(".")[1]


@pytest.mark.parametrize("part", CRD_FIELDS)
def test_every_field_of_podgroups_and_queues_is_classified(part: str) -> None:
    assert crd_differences(part, CRD_FIELDS[part].split()) == []


@pytest.mark.parametrize("component", CRD_RELEASES)
def test_the_lists_of_fields_are_of_the_pinned_releases(component: str) -> None:
    assert CRD_RELEASES[component] == pinned(component), "compare tests/support/field_schemas.py with the new CRDs"


def test_a_field_that_the_table_lacks_is_found() -> None:
    schema = dict(package_schema())
    schema["Toleration"] = {**schema["Toleration"], "onlyOnSundays": ""}
    assert pod_spec_differences(schema) == ["Toleration.onlyOnSundays is not classified"]
    fields = set(CRD_FIELDS["QueueSpec"].split())
    assert crd_differences("QueueSpec", fields | {"new"}) == ["QueueSpec.new is not classified"]
    assert crd_differences("QueueSpec", fields - {"weight"}) == ["QueueSpec.weight does not exist"]


def test_every_part_is_used_and_every_field_has_a_note() -> None:
    used = {kind.spec for kind in KINDS} | {row.part for part in PARTS.values() for row in part if row.part}
    assert used == set(PARTS)
    rows = [row for part in PARTS.values() for row in part]
    rows += [row for kind in KINDS for row in (*kind.annotations, *kind.labels)]
    assert [row for row in rows if not row.note and row.support is not Support.NESTED] == []
