"""The workers of a kind cluster before the first scenario: ready, with a device plugin and with images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tenacity
import yaml

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import NODE
from muster.errors import HarnessError
from muster.suite import paths

GPU = "nvidia.com/gpu"


def prepare_workers(api: Api, workers: Sequence[str]) -> None:
    """Return when every worker is ready and reports GPUs, if only none; `kind create` succeeds without either."""
    for manifest in yaml.safe_load_all((paths.manifests() / "kind" / "local-images.yaml").read_text()):
        api.ensure(manifest)
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.2),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else "",
    )
    if problem := attempts(lambda: first_problem(api.list(NODE)["items"], workers)):
        raise HarnessError(
            f"{problem} after {timeouts.SETTING_UP:g} s: use an image of `make kind-image`, try "
            "MUSTER_TIMEOUT_SCALE=3, or run with --node-type simulated"
        )


def first_problem(nodes: Sequence[dict[str, Any]], workers: Sequence[str]) -> str:
    """Why the workers cannot be used yet; empty if they can."""
    known = {node["metadata"]["name"]: node.get("status", {}) for node in nodes}
    for name in workers:
        if name not in known:
            return f"the worker {name} has not joined the cluster"
        conditions = known[name].get("conditions") or []
        if not any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
            return f"the worker {name} is not ready"
        if GPU not in known[name].get("allocatable", {}):
            return f"the device plugin of the worker {name} has not registered {GPU}"
    return ""
