"""Docker, and what to do when it is not there, not allowed, or has no image. Spoken to through testcontainers.

Trap: testcontainers would start a container of its own from a registry (Ryuk) to clean up after us. Ours end by
themselves when nobody holds their standard input any more, so that none is needed.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from muster.errors import HarnessError

LABEL = "muster.plane"
_ABANDONED = timedelta(minutes=10)  # nobody takes so long from making a container to starting it


def connect(*, reaper: bool = False) -> Any:
    """A client of testcontainers whose engine answers; with a `reaper` for containers that do not end by themselves."""
    from testcontainers.core.config import testcontainers_config
    from testcontainers.core.docker_client import DockerClient

    if not reaper:
        testcontainers_config.ryuk_disabled = True
    logging.getLogger("testcontainers").setLevel(logging.WARNING)  # it prints to the terminal otherwise
    with explained("reach Docker"):
        engine = DockerClient()
        engine.client.ping()
    return engine


def need_image(engine: Any, reference: str, how: str) -> None:
    """HarnessError unless the engine has it; `how` says where it comes from."""
    from docker.errors import ImageNotFound

    with explained(f"look for the image {reference}"):
        try:
            engine.client.images.get(reference)
        except ImageNotFound:
            raise HarnessError(f"Docker has no image {reference}: {how}") from None


def remove_abandoned(engine: Any) -> None:
    """Containers that were made and never started, because somebody was killed in between."""
    from docker.errors import APIError

    made = engine.client.containers.list(all=True, filters={"label": LABEL, "status": "created"})
    for container in made:
        when = datetime.fromisoformat(container.attrs["Created"][:19]).replace(tzinfo=UTC)
        if datetime.now(UTC) - when > _ABANDONED:
            with contextlib.suppress(APIError):  # somebody else removes it at the same moment
                container.remove(force=True)


@contextlib.contextmanager
def explained(doing: str) -> Iterator[None]:
    """Whatever Docker or the way to it complains about becomes one sentence with the remedy."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        yield
    except (DockerException, RequestException, OSError) as problem:
        raise HarnessError(_sentence(doing, problem)) from None


def _sentence(doing: str, problem: Exception) -> str:
    words = f"{type(problem).__name__} {problem}"
    if "PermissionError" in words:
        return (
            "you may not talk to Docker: join its group (sudo usermod -aG docker $USER, then log in again), "
            "or run rootless Docker and set DOCKER_HOST; without Docker there is --cluster local"
        )
    if "FileNotFoundError" in words or "ConnectionRefusedError" in words or "NameResolutionError" in words:
        return (
            "Docker does not answer: start it, or name another engine with DOCKER_HOST; "
            "without Docker there is --cluster local"
        )
    if "no space left on device" in words:
        return f"cannot {doing}: Docker's disk is full (docker system df shows what takes the room)"
    lines = str(getattr(problem, "explanation", None) or problem).strip().splitlines() or [type(problem).__name__]
    return f"cannot {doing}: {lines[0]}"
