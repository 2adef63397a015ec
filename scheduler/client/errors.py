"""What can go wrong with a request, told apart by what a caller does about it."""

from __future__ import annotations

import msgspec


class ApiError(Exception):
    """The API server refused, for good: transient answers have been retried before this is raised."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message

    @property
    def is_conflict(self) -> bool:
        """Somebody else was there first, also with creating it (409)."""
        return self.status == 409

    @property
    def is_missing(self) -> bool:
        return self.status == 404

    @property
    def is_expired(self) -> bool:
        """The history that was asked for is gone: list again (410)."""
        return self.status == 410

    @classmethod
    def read(cls, status: int, answer: bytes) -> ApiError:
        """From the API's own Status object, or from whatever text a proxy in between has sent."""
        try:
            told = msgspec.json.decode(answer, type=_Status)
        except msgspec.MsgspecError:
            return cls(status, "", answer[:300].decode("utf-8", "replace"))
        return cls(status, told.reason or "", told.message or "")


class Unreachable(Exception):
    """No answer, after all retries: connection refused, reset, or too slow."""


class _Status(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
