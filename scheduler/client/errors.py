"""Errors of API requests, distinguished by how a caller handles them."""

from __future__ import annotations

import msgspec


class ApiError(Exception):
    """The API server rejected the request; transient errors were retried before."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def is_conflict(self) -> bool:
        """409: the object was changed or created concurrently."""
        return self.status == 409

    @property
    def is_missing(self) -> bool:
        return self.status == 404

    @property
    def is_forbidden(self) -> bool:
        return self.status == 403

    @property
    def is_expired(self) -> bool:
        """410: the resourceVersion is too old, list again."""
        return self.status == 410

    @classmethod
    def read(cls, status: int, answer: bytes) -> ApiError:
        """From a Status object, or from the plain text of a proxy."""
        try:
            parsed = msgspec.json.decode(answer, type=_Status)
        except msgspec.MsgspecError:
            return cls(status, "", answer[:300].decode("utf-8", "replace"))
        return cls(status, parsed.reason or "", parsed.message or "")


class Unreachable(Exception):
    """No response after all retries: connection refused, reset, or timed out."""


class NotLeader(Unreachable):
    """The write deadline has passed: the request was not sent, and no attempt of it will be."""


class _Status(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
