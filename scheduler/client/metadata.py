"""ObjectMeta, which all API objects have in common. The kinds are defined by their users."""

from __future__ import annotations

from typing import Protocol

import msgspec


class OwnerReference(msgspec.Struct, rename="camel"):
    """An owner reference."""

    uid: str
    kind: str = ""
    name: str = ""
    api_version: str = ""
    controller: bool | None = None


class Metadata(msgspec.Struct, rename="camel"):
    """ObjectMeta. Maps may be null in JSON: read them with `or {}`."""

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
    """Any struct that a reflector can decode."""

    @property
    def metadata(self) -> Metadata: ...
