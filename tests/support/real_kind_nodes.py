"""A kind cluster with real nodes for tests, where there is an engine and an image; `make test-kind` has both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from muster.cluster.kind.docker_cli import Engine
from muster.errors import HarnessError

IMAGE = "MUSTER_KIND_IMAGE"  # the archive that `make kind-image` prints


def image_or_skip() -> str:
    """The image of the nodes; without one, or without an engine, the test is skipped and says why."""
    image = os.environ.get(IMAGE, "")
    if not image:
        pytest.skip(f"{IMAGE} does not name an archive of `make kind-image`: `make test-kind` runs this test")
    try:
        Engine(print)
    except HarnessError as missing:
        pytest.skip(str(missing))
    return image


def run_there(image: str, results: Path, *options: str, **environment: str) -> list[dict[str, Any]]:
    """The results of `muster run` on the reused cluster."""
    command = [sys.executable, "-m", "muster", "run", "--cluster", "kind", "--reuse", "--kind-image", image]
    variables = {**os.environ, **environment}
    subprocess.run([*command, "--results", str(results), *options], env=variables, check=False)
    return [json.loads(line) for line in (results / "results.jsonl").read_text().splitlines()]
