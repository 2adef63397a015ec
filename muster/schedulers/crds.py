"""CustomResourceDefinitions: create them and wait until the API server serves their kinds."""

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


def read_crds(file: Path) -> list[dict[str, Any]]:
    """The definitions of a file."""
    return [manifest for manifest in yaml.load_all(file.read_text(), Loader=_Loader) if manifest]


def install_crds(api: Api, file: Path) -> None:
    """Create every definition of a file; return when all of them are served."""
    install_crd_manifests(api, read_crds(file))


def install_crd_manifests(api: Api, manifests: Sequence[dict[str, Any]]) -> None:
    for manifest in manifests:
        api.ensure(manifest)
    for manifest in manifests:
        spec = manifest["spec"]
        version = next(version["name"] for version in spec["versions"] if version["served"])
        _wait_until_served(api, Resource(f"{spec['group']}/{version}", spec["names"]["kind"], spec["names"]["plural"]))


def _wait_until_served(api: Api, resource: Resource) -> None:
    # The server serves a kind some milliseconds after the condition Established; only a request shows when.
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(ApiRefused),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        reraise=True,
    )
    attempts(api.list, resource, limit="1")
