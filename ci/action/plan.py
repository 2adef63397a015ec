"""What the action needs before anything is fetched: which binaries, where they are cached, and under which key.

The key of the GitHub cache is made of the keys of Muster's own cache, so that both forget a binary at the same moment.
Read from SCHEDULER, CLUSTER, KIND_IMAGE and ARTIFACT; written as `name=value` lines for GITHUB_OUTPUT.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from collections.abc import Sequence

from muster.assets import cache
from muster.assets.components import component_of
from muster.errors import MusterError
from muster.run_options import RunOptions
from muster.runner.prepare import binaries
from muster.suite import paths

_MADE = "make"  # the input by which a node image is made
KEPT = ("bin", "kind", "allure", "node")  # of the cache: what Go leaves there takes gigabytes and is needed once


def main() -> int:
    scheduler, cluster = os.environ["SCHEDULER"], os.environ["CLUSTER"]
    try:
        names = list(dict.fromkeys(binaries(RunOptions(scheduler=scheduler, cluster=cluster))))
    except MusterError as problem:
        sys.stderr.write(f"::error title=Muster::{_one_line(str(problem))}\n")
        return problem.exit_code
    place = cache.directory()
    print(f"assets={' '.join(names)}")
    print(f"cache={place}")
    print(f"cache-key={cache_key(names, node_image=os.environ['KIND_IMAGE'] == _MADE)}")
    print("\n".join(["cache-paths<<END-OF-PATHS", *(str(place / each) for each in KEPT), "END-OF-PATHS"]))
    print(f"artifact={os.environ['ARTIFACT'] or artifact_name(scheduler, cluster)}")
    return 0


def cache_key(names: Sequence[str], *, node_image: bool = False) -> str:
    """Changes when one of the binaries, or the report generator, would be another one."""
    digest = hashlib.sha256()
    for name in sorted(names):
        component = component_of(name)
        release = component.downloads.get(name)
        digest.update(f"{name} {release.sha256 if release else component.fingerprint}\n".encode())
    for file in sorted((paths.toolchain().parent / "allure").iterdir()):
        digest.update(file.read_bytes())
    if node_image:  # of all components: an image has a dozen of them
        recipes = [file for file in sorted((paths.toolchain().parent / "kind-image").rglob("*")) if file.is_file()]
        for file in (*recipes, *sorted(paths.toolchain().glob("*/go.sum"))):
            digest.update(file.read_bytes())
    return f"muster-{platform.machine()}-{digest.hexdigest()[:20]}"


def artifact_name(scheduler: str, cluster: str) -> str:
    """GitHub refuses colons and slashes in it."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", f"muster-{scheduler}-{cluster}").strip("-")


def _one_line(text: str) -> str:
    return text.replace("%", "%25").replace("\n", "%0A")


if __name__ == "__main__":
    sys.exit(main())
