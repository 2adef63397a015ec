"""Which fields of an object are refused: those that `field_table` marks so, if they are set to more than it allows.

One way for all kinds: the refused fields of a kind are looked up once in the table, and then in every object of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import msgspec

from scheduler.runtime.field_table import KINDS, PARTS, Kind, Part, Support

_NOT_SUPPORTED = "is not supported by this scheduler"


@dataclass(frozen=True, slots=True)
class _Refused:
    """A field that is refused, or that has refused fields inside."""

    field: str
    path: str  # as messages name it
    met: tuple[object, ...]
    inside: tuple[_Refused, ...] = ()


def refusal(
    kind: Kind,
    spec: object,
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Why an object with these fields is not scheduled; empty when none of them is refused."""
    refused_spec, refused_annotations, refused_labels = _REFUSED[kind.spec]
    found = list(_set_fields(spec, refused_spec))
    for metadata, refused in ((annotations, refused_annotations), (labels, refused_labels)):
        if metadata and not refused.keys().isdisjoint(metadata):
            found += _set_fields(metadata, tuple(refused.values()))
    return _message(found) if found else ""


def _message(found: list[_Refused]) -> str:
    """The first field by itself, so that it can be searched for; then the others."""
    first, *others = dict.fromkeys(found)
    message = f"{first.path} {_NOT_SUPPORTED}{_exception(first)}"
    return message + "".join(f", nor is {one.path}{_exception(one)}" for one in others)


def _exception(one: _Refused) -> str:
    return f" (only {', '.join(map(str, one.met))})" if one.met else ""


def _refused_in(part: Part, prefix: str) -> Iterator[_Refused]:
    """The refused fields of a part before those inside of others: messages begin with the shortest path."""
    for row in sorted(part, key=lambda row: row.support is Support.NESTED):
        for field in row.fields:
            path = prefix + field
            if row.support is Support.REFUSED:
                yield _Refused(field, path, row.met)
            elif row.support is Support.NESTED and (inside := tuple(_refused_in(PARTS[row.part], f"{path}."))):
                yield _Refused(field, path, (), inside)


def _set_fields(found: object, refused: tuple[_Refused, ...]) -> Iterator[_Refused]:
    for one in refused:
        value = _value(found, one.field)
        if value is None:
            continue
        if one.inside:
            for element in value if isinstance(value, list) else (value,):
                yield from _set_fields(element, one.inside)
        elif not _is_empty(value) and value not in one.met:
            yield one


def _value(found: object, field: str) -> object:
    """Custom resources are plain values, and may hold anything; built-in kinds are decoded as structs."""
    if isinstance(found, msgspec.Struct):
        value: object = getattr(found, _attributes(type(found))[field])
        return value
    return found.get(field) if isinstance(found, dict) else None


@cache
def _attributes(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {field.encode_name: field.name for field in msgspec.structs.fields(struct)}


def _is_empty(value: object) -> bool:
    """False and 0 are values; a mapping of nothing but empty values asks for nothing."""
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value is None or value in ("", [], ())


_REFUSED = {
    kind.spec: (
        tuple(_refused_in(PARTS[kind.spec], "spec.")),
        {one.field: one for one in _refused_in(kind.annotations, "annotation ")},
        {one.field: one for one in _refused_in(kind.labels, "label ")},
    )
    for kind in KINDS
}
