"""Format of the ConformanceReport: its fields with their descriptions, its JSON schema, and YAML with comments.

The names of the fields in files are those of version 0.1; `story` and `not-judged` are read by other tools.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import yaml
from msgspec import Meta

API_VERSION = "muster/v1alpha1"
KIND = "ConformanceReport"
_WIDTH = 110  # of comments


class _ReportStruct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Descriptions of fields become comments in the file and are part of its schema."""


class Implementation(_ReportStruct, frozen=True):
    """The tested scheduler."""

    name: Annotated[str, Meta(description="The scheduler, as `muster run --scheduler` knows it.")]
    version: Annotated[str, Meta(description="Its version and configuration, as it was started.")]
    configuration: Annotated[str, Meta(description="The name of the tested configuration.")]
    digest: Annotated[str, Meta(description="SHA-256 over the settings below: equal digests, equal settings.")]
    settings: Annotated[dict[str, str], Meta(description="Settings besides the name of the configuration.")]
    operator: Annotated[str, Meta(description="The training operator that created pods of jobs.")]
    client: Annotated[str, Meta(description="The client that ran the commands of the walk-throughs.")]


class Cluster(_ReportStruct, frozen=True):
    """The cluster of the run."""

    kind: Annotated[str, Meta(description="The kind of cluster.")]
    kubernetes: Annotated[str, Meta(description="The version of its API server.")]


class Counts(_ReportStruct, frozen=True):
    """Result of one part of a profile."""

    result: Annotated[str, Meta(description="passed, failed, incomplete, not-supported or not-judged.")]
    behaviours: Annotated[dict[str, int], Meta(description="Number of behaviours by verdict.")]


class Profile(_ReportStruct, frozen=True):
    """A capability: its core and its extended part."""

    name: Annotated[str, Meta(description="The capability that is tested.")]
    core: Annotated[Counts, Meta(description="The MUSTs: what the sources specify.")]
    extended: Annotated[Counts, Meta(description="SHOULD and MAY: what users expect beyond it.")]


class BehaviourResult(_ReportStruct, frozen=True):
    """One behaviour."""

    id: Annotated[str, Meta(description="The stable id of the behaviour.")]
    title: Annotated[str, Meta(description="The title of the scenario.")]
    level: Annotated[str, Meta(description="must, should or may.")]
    profile: Annotated[str, Meta(description="The profile that it counts for.")]
    verdict: Annotated[str, Meta(description="passed, failed, unstable, error, not-supported, not-staged or skipped.")]
    runs: Annotated[dict[str, int], Meta(description="Number of runs by verdict, over all rounds and rows.")]
    reproduce: Annotated[str, Meta(description="The command that tests it again.")]
    evidence: Annotated[str, Meta(description="The timeline, beside the results of the run.")] = ""
    failure_report: Annotated[str, Meta(description="What was wanted and what was seen, where it did not pass.")] = (
        msgspec.field(default="", name="story")
    )
    excuse: Annotated[str, Meta(description="Why it was not asked, where the scheduler claims the capability.")] = ""


class Unsupported(_ReportStruct, frozen=True):
    """Capabilities that are not claimed."""

    capability: Annotated[str, Meta(description="The capability that the scheduler does not claim.")]
    behaviours: Annotated[list[str], Meta(description="The behaviours that were therefore not tested.")]
    source: Annotated[str, Meta(description="The source of that statement.")]


class ConformanceReport(_ReportStruct, frozen=True):
    """The whole file."""

    apiVersion: Annotated[str, Meta(description="The version of this format.")]  # noqa: N815
    kind: Annotated[str, Meta(description="What this file is.")]
    made: Annotated[str, Meta(description="When the run ended; the only field that depends on time.")]
    muster: Annotated[str, Meta(description="The version of Muster.")]
    implementation: Annotated[Implementation, Meta(description="The tested scheduler.")]
    cluster: Annotated[Cluster, Meta(description="The cluster of the run.")]
    profiles: Annotated[list[Profile], Meta(description="The result, capability by capability.")]
    behaviours: Annotated[list[BehaviourResult], Meta(description="The result, behaviour by behaviour.")]
    unsupported: Annotated[list[Unsupported], Meta(description="What the scheduler does not claim, with sources.")]


def schema() -> dict[str, object]:
    """The JSON schema of the file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(ConformanceReport)}


def to_yaml(report: ConformanceReport) -> str:
    """YAML with a comment above every field where it occurs first; any YAML parser reads the same fields."""
    return "\n".join(_fields(report, "", set())) + "\n"


def _fields(struct: msgspec.Struct, indent: str, commented: set[tuple[type, str]]) -> Iterator[str]:
    kind = type(struct)
    descriptions, optional = _descriptions(kind), _optional(kind)
    for attribute, name in zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True):
        value = getattr(struct, attribute)
        if value == "" and attribute in optional:
            continue
        if (kind, name) not in commented:
            commented.add((kind, name))
            width = _WIDTH - len(indent)
            yield from (f"{indent}# {line}" for line in textwrap.wrap(descriptions.get(attribute, ""), width))
        yield from _entry(f"{indent}{name}:", value, indent, commented)


def _entry(head: str, value: object, indent: str, commented: set[tuple[type, str]]) -> Iterator[str]:
    if isinstance(value, msgspec.Struct):
        yield head
        yield from _fields(value, indent + "  ", commented)
    elif isinstance(value, list) and value and isinstance(value[0], msgspec.Struct):
        yield head
        for item in value:
            yield from _item(item, indent, commented)
    else:
        yield from _plain(head, value, indent)


def _item(item: msgspec.Struct, indent: str, commented: set[tuple[type, str]]) -> Iterator[str]:
    """The dash of a list item is put on its first line that is no comment."""
    dashed = False
    for line in _fields(item, indent + "  ", commented):
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
    """Writes strings of several lines as literal blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _descriptions(kind: type[msgspec.Struct]) -> dict[str, str]:
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Annotated:
            metas: tuple[Any, ...] = tuple(meta for meta in get_args(hint)[1:] if isinstance(meta, Meta))
            found[name] = " ".join(meta.description or "" for meta in metas)
    return found


def _optional(kind: type[msgspec.Struct]) -> set[str]:
    return {field.name for field in msgspec.structs.fields(kind) if not field.required}
