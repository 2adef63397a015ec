"""Errors of API requests, distinguished by how a caller handles them."""

from __future__ import annotations

import msgspec


class ApiError(Exception):
    """The API server rejected the request; transient errors were retried before."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float = 0.0) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after  # seconds, as the API server asks for

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

    @property
    def is_busy(self) -> bool:
        """The API server, or a proxy before it, sheds load or is not ready: nothing is wrong with the request."""
        return self.status in (429, 502, 503)

    @classmethod
    def read(cls, status: int, answer: bytes, retry_after: str | None = None) -> ApiError:
        """From a Status object, or from the plain text of a proxy."""
        seconds = float(retry_after) if retry_after and retry_after.isdecimal() else 0.0
        try:
            parsed = msgspec.json.decode(answer, type=_Status)
        except msgspec.MsgspecError:
            return cls(status, "", answer[:300].decode("utf-8", "replace"), seconds)
        return cls(status, parsed.reason or "", parsed.message or "", seconds)


class Unreachable(Exception):
    """No response after all retries: connection refused, reset, or timed out."""


class NotLeader(Unreachable):
    """The write deadline has passed: the request was not sent, and no attempt of it will be."""


class _Status(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
