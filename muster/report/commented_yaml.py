"""YAML with a comment above every field, taken from the description of the field; said once, not for every item."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import yaml

_WIDTH = 110


def write(top: msgspec.Struct) -> str:
    """The whole document; reading it with any YAML parser gives the same fields."""
    return "\n".join(_fields(top, "", set())) + "\n"


def _fields(one: msgspec.Struct, indent: str, told: set[tuple[type, str]]) -> Iterator[str]:
    described = _descriptions(type(one))
    for name in one.__struct_fields__:
        value = getattr(one, name)
        if value == "" and name in _optional(type(one)):
            continue
        if (type(one), name) not in told:
            told.add((type(one), name))
            width = _WIDTH - len(indent)
            yield from (f"{indent}# {line}" for line in textwrap.wrap(described.get(name, ""), width))
        yield from _entry(f"{indent}{name}:", value, indent, told)


def _entry(head: str, value: object, indent: str, told: set[tuple[type, str]]) -> Iterator[str]:
    if isinstance(value, msgspec.Struct):
        yield head
        yield from _fields(value, indent + "  ", told)
    elif isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        yield head
        for item in value:
            yield from _item(item, indent, told)
    else:
        yield from _plain(head, value, indent)


def _item(item: msgspec.Struct, indent: str, told: set[tuple[type, str]]) -> Iterator[str]:
    """A list's dash goes to the first line that is no comment."""
    dashed = False
    for line in _fields(item, indent + "  ", told):
        if not dashed and not line.lstrip().startswith("#"):
            dashed = True
            yield f"{indent}- {line[len(indent) + 2 :]}"
        else:
            yield line


def _plain(head: str, value: object, indent: str) -> Iterator[str]:
    name = head.strip().removesuffix(":")
    text = yaml.dump({name: value}, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=10_000)
    yield from (f"{indent}{line}" if line else "" for line in text.rstrip("\n").split("\n"))


class _Dumper(yaml.SafeDumper):
    """Strings of several lines as they are read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _descriptions(kind: type[msgspec.Struct]) -> dict[str, str]:
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            metas: tuple[Any, ...] = tuple(one for one in get_args(hint)[1:] if isinstance(one, msgspec.Meta))
            found[name] = " ".join(meta.description or "" for meta in metas)
    return found


def _optional(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind) if not field.required}
