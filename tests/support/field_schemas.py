"""The fields of the pinned schemas, and where the scheduler's table of fields differs from them.

PodSpec: the model of the kubernetes package, or the OpenAPI document of a running API server. PodGroups and Queue: the
CRDs that Volcano and Koordinator ship, as assets; for tests without assets their fields are listed here, with the
release that they were taken from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import models

from scheduler.runtime.field_table import PARTS, Support

Fields = Mapping[str, str]  # by name, the type that a field has, or has elements of; empty for plain values
Schema = Mapping[str, Fields]  # by type

CRD_PARTS = {  # by plural and group of the CRD
    "podgroups.scheduling.volcano.sh": "VolcanoPodGroupSpec",
    "queues.scheduling.volcano.sh": "QueueSpec",
    "podgroups.scheduling.sigs.k8s.io": "KoordinatorPodGroupSpec",
}
CRD_RELEASES = {"volcano": "1.14.1", "koordinator": "1.8.0"}  # that the lists below were taken from
CRD_FIELDS = {
    "VolcanoPodGroupSpec": """
        minMember minResources minTaskMember networkTopology priorityClassName queue subGroupPolicy
    """,
    "QueueSpec": """
        affinity capability dequeueStrategy deserved extendClusters guarantee parent priority reclaimable type weight
    """,
    "KoordinatorPodGroupSpec": "minMember minResources scheduleTimeoutSeconds",
}


def crd_fields(manifests: Path) -> dict[str, frozenset[str]]:
    """The fields of each spec in a file of CRDs, as far as the scheduler reads the kind."""
    found = {}
    for crd in yaml.safe_load_all(manifests.read_text()):
        part = CRD_PARTS.get(crd["metadata"]["name"]) if crd else None
        if part:
            versions = (one["schema"]["openAPIV3Schema"]["properties"] for one in crd["spec"]["versions"])
            found[part] = frozenset(field for one in versions for field in one["spec"]["properties"])
    return found


def package_schema() -> Schema:
    """The types of the kubernetes package, as far as the table has them."""
    found = {part: getattr(models, f"V1{part}", None) for part in PARTS}
    return {
        part: {model.attribute_map[name]: _element_type(inner) for name, inner in model.openapi_types.items()}
        for part, model in found.items()
        if model is not None
    }


def _element_type(type_name: str) -> str:
    """X of V1X and List[V1X]."""
    inner = re.sub(r"^\w+\[(.*)\]$", r"\1", type_name)
    return inner.removeprefix("V1") if inner.startswith("V1") else ""


def openapi_schema(document: Mapping[str, Any]) -> Schema:
    """The types of core/v1 in an OpenAPI v3 document of the API server."""
    prefix = "io.k8s.api.core.v1."
    schemas = document["components"]["schemas"]
    return {
        name.rpartition(".")[2]: {field: _referenced(one) for field, one in found.get("properties", {}).items()}
        for name, found in schemas.items()
        if name.startswith(prefix) or name.endswith(("meta.v1.LabelSelector", "meta.v1.LabelSelectorRequirement"))
    }


def _referenced(field: Mapping[str, Any]) -> str:
    places = (field, field.get("items", {}), *field.get("allOf", ()), *field.get("items", {}).get("allOf", ()))
    reference = next((place["$ref"] for place in places if "$ref" in place), "")
    name = str(reference).rpartition(".")[2]
    return "" if name == "Quantity" else name


def pod_spec_differences(schema: Schema) -> list[str]:
    return list(_differences("PodSpec", schema, set()))


def crd_differences(part: str, fields: Iterable[str]) -> list[str]:
    return list(_field_differences(part, fields))


def _differences(part: str, schema: Schema, seen: set[str]) -> Iterator[str]:
    if part in seen:
        return
    seen.add(part)
    fields = schema[part]
    yield from _field_differences(part, fields)
    for row in PARTS[part]:
        for field in row.fields:
            inner = fields.get(field, "")
            if row.support is Support.NESTED and inner != row.part:
                yield f"{part}.{field} is a {inner or 'plain value'}, and not a {row.part}"
            elif row.support is Support.HONOURED and inner:
                yield f"{part}.{field} is a {inner}: classify its fields"
        if row.support is Support.NESTED:
            yield from _differences(row.part, schema, seen)


def _field_differences(part: str, fields: Iterable[str]) -> Iterator[str]:
    listed = [field for row in PARTS[part] for field in row.fields]
    yield from (f"{part}.{field} is listed twice" for field in sorted(set(listed)) if listed.count(field) > 1)
    yield from (f"{part}.{field} is not classified" for field in sorted(set(fields) - set(listed)))
    yield from (f"{part}.{field} does not exist" for field in sorted(set(listed) - set(fields)))
