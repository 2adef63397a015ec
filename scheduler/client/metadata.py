"""What all objects of the API have in common. The kinds themselves belong to those who read them."""

from __future__ import annotations

from typing import Protocol

import msgspec


class OwnerReference(msgspec.Struct, rename="camel"):
    """Who an object belongs to."""

    uid: str
    kind: str = ""
    name: str = ""
    api_version: str = ""
    controller: bool | None = None


class Metadata(msgspec.Struct, rename="camel"):
    """metadata. Maps may be null in the API's JSON: read them through `or {}`."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.namespace, self.name


class Watched(Protocol):
    """Any struct that a reflector can decode into."""

    @property
    def metadata(self) -> Metadata: ...
