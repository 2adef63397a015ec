"""A failed scenario for whoever sits at the terminal: it is left as it is until ctrl-C, and can be looked at."""

from __future__ import annotations

import signal
from contextlib import suppress

from muster import progress
from muster.cluster.clusters import Cluster
from muster.stage.scene import Scene


def hold(scene: Scene, cluster: Cluster) -> None:
    """Say how to look at it, and wait. SIGTERM and the end of `muster run` arrive as ctrl-C as well."""
    lines = [
        *str(scene.failure).splitlines(),
        "",
        "It is left as it is until ctrl-C. In another terminal:",
        f"export KUBECONFIG={cluster.client_kubeconfig('admin')}",
        f"kubectl get pods,events -n {scene.namespace}",
        f"Logs: {cluster.directory}",
    ]
    progress.send("kept", lines=lines)
    with suppress(KeyboardInterrupt), progress.waiting("ctrl-C"):
        while True:
            signal.pause()
