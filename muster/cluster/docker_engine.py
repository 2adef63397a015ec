"""The Docker engine, through testcontainers; every error says what to do about it.

Trap: testcontainers would start a clean-up container of its own from a registry (Ryuk). It is not needed here: Muster's
containers end when their standard input is closed.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from muster.errors import HarnessError

LABEL = "muster.plane"
_ABANDONED = timedelta(minutes=10)  # a container that was created so long ago is not about to be started


def connect(*, reaper: bool = False) -> Any:
    """A client of an engine that answers; `reaper` enables Ryuk, for containers that do not end by themselves."""
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.docker_client import DockerClient

    if not reaper:
        testcontainers_config.ryuk_disabled = True
    logging.getLogger("testcontainers").setLevel(logging.WARNING)  # it prints to the terminal otherwise
    with explain_errors("reach Docker"):
        engine = DockerClient()
        engine.client.ping()
    return engine


def require_image(engine: Any, reference: str, how: str) -> None:
    """HarnessError unless the engine has the image; `how` says how to get it."""
    from docker.errors import ImageNotFound

    with explain_errors(f"look for the image {reference}"):
        try:
            engine.client.images.get(reference)
        except ImageNotFound:
            raise HarnessError(f"Docker has no image {reference}: {how}") from None


def remove_abandoned(engine: Any) -> None:
    """Remove containers that were created and never started, because their process was killed in between."""
    from docker.errors import APIError

    made = engine.client.containers.list(all=True, filters={"label": LABEL, "status": "created"})
    for container in made:
        when = datetime.fromisoformat(container.attrs["Created"][:19]).replace(tzinfo=UTC)
        if datetime.now(UTC) - when > _ABANDONED:
            with contextlib.suppress(APIError):  # another process removes it at the same time
                container.remove(force=True)


@contextlib.contextmanager
def explain_errors(doing: str) -> Iterator[None]:
    """Turn errors of Docker and of the connection to it into a HarnessError that says what to do."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException, OSError) as problem:
        raise HarnessError(_explanation(doing, problem)) from None


def _explanation(doing: str, problem: Exception) -> str:
    text = f"{type(problem).__name__} {problem}"
    if "PermissionError" in text:
        return (
            "no permission to use Docker: join its group (sudo usermod -aG docker $USER, then log in again), "
            "or run rootless Docker and set DOCKER_HOST; without Docker there is --cluster local"
        )
    if "FileNotFoundError" in text or "ConnectionRefusedError" in text or "NameResolutionError" in text:
        return (
            "Docker does not answer: start it, or name another engine with DOCKER_HOST; "
            "without Docker there is --cluster local"
        )
    if "no space left on device" in text:
        return f"cannot {doing}: Docker's disk is full (docker system df shows what uses the space)"
    lines = str(getattr(problem, "explanation", None) or problem).strip().splitlines() or [type(problem).__name__]
    return f"cannot {doing}: {lines[0]}"
