"""The format of the ConformanceReport, and of every field in it what its reader should know."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

API_VERSION = "muster/v1alpha1"
KIND = "ConformanceReport"


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Fields are told to people by their descriptions: as comments in the file, and in its schema."""


class Implementation(_Part, frozen=True):
    """What was judged."""

    name: Annotated[str, Meta(description="The scheduler, as `muster run --scheduler` knows it.")]
    version: Annotated[str, Meta(description="Its version and configuration, as it was started.")]
    configuration: Annotated[str, Meta(description="The name of the configuration that was judged.")]
    digest: Annotated[str, Meta(description="SHA-256 over the settings below: equal digests, equal settings.")]
    settings: Annotated[dict[str, str], Meta(description="What was set apart from the configuration's name.")]
    operator: Annotated[str, Meta(description="Who made pods of training jobs.")]
    client: Annotated[str, Meta(description="Who carried out the documents' commands.")]


class Where(_Part, frozen=True):
    """The cluster."""

    kind: Annotated[str, Meta(description="What kind of cluster it was.")]
    kubernetes: Annotated[str, Meta(description="The version of its API server.")]


class Counts(_Part, frozen=True):
    """How a part of a profile came out."""

    result: Annotated[str, Meta(description="passed, failed, incomplete, not-supported or not-judged.")]
    behaviours: Annotated[dict[str, int], Meta(description="How many behaviours got which verdict.")]


class Profile(_Part, frozen=True):
    """A capability: its core and what goes beyond it."""

    name: Annotated[str, Meta(description="The capability that is judged.")]
    core: Annotated[Counts, Meta(description="The MUSTs: what the sources promise.")]
    extended: Annotated[Counts, Meta(description="SHOULD and MAY: what users expect beyond it.")]


class Judgement(_Part, frozen=True):
    """One behaviour."""

    id: Annotated[str, Meta(description="The behaviour, for ever under this id.")]
    title: Annotated[str, Meta(description="What is promised, in a sentence.")]
    level: Annotated[str, Meta(description="must, should or may.")]
    profile: Annotated[str, Meta(description="The profile that it counts for.")]
    verdict: Annotated[str, Meta(description="passed, failed, unstable, error, not-supported, not-staged or skipped.")]
    runs: Annotated[dict[str, int], Meta(description="How often it ended how, over all rounds and rows.")]
    reproduce: Annotated[str, Meta(description="The command that judges it again.")]
    evidence: Annotated[str, Meta(description="The timeline, beside the results of the run.")] = ""
    story: Annotated[str, Meta(description="What was wanted and what was seen, where it did not pass.")] = ""


class Unsupported(_Part, frozen=True):
    """What is not claimed."""

    capability: Annotated[str, Meta(description="What the scheduler does not claim.")]
    behaviours: Annotated[list[str], Meta(description="What was therefore not judged.")]
    source: Annotated[str, Meta(description="Where that is said.")]


class ConformanceReport(_Part, frozen=True):
    """The whole file."""

    apiVersion: Annotated[str, Meta(description="The version of this format.")]  # noqa: N815
    kind: Annotated[str, Meta(description="What this file is.")]
    made: Annotated[str, Meta(description="When the run ended; the only field that depends on time.")]
    muster: Annotated[str, Meta(description="The version of Muster that judged.")]
    implementation: Annotated[Implementation, Meta(description="What was judged.")]
    cluster: Annotated[Where, Meta(description="Where it was judged.")]
    profiles: Annotated[list[Profile], Meta(description="The result, capability by capability.")]
    behaviours: Annotated[list[Judgement], Meta(description="The result, behaviour by behaviour.")]
    unsupported: Annotated[list[Unsupported], Meta(description="What the scheduler does not claim, and who says so.")]


def schema() -> dict[str, object]:
    """The JSON schema of the file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(ConformanceReport)}
