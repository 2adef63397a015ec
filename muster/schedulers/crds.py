"""Custom resources: create their definitions and wait until the API server serves them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tenacity
import yaml

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import Resource

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(file: Path) -> list[dict[str, Any]]:
    """The definitions of a file."""
    return [one for one in yaml.load_all(file.read_text(), Loader=_Loader) if one]


def define(api: Api, file: Path) -> None:
    """Create every definition of a file; return when all of them are served."""
    define_all(api, read(file))


def define_all(api: Api, manifests: Sequence[dict[str, Any]]) -> None:
    for manifest in manifests:
        api.ensure(manifest)
    for manifest in manifests:
        spec = manifest["spec"]
        stored = next(version["name"] for version in spec["versions"] if version["served"])
        resource = Resource(f"{spec['group']}/{stored}", spec["names"]["kind"], spec["names"]["plural"])
        _served(api, resource)


def _served(api: Api, resource: Resource) -> None:
    # The server starts to answer some milliseconds after it has said Established; asking is the only way to know.
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(ApiRefused),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        reraise=True,
    )
    attempts(api.list, resource, limit="1")
