"""The kube-scheduler of a kind cluster: a static pod, started and stopped by its manifest in the kubelet's directory.

When it is tested it gets the settings of the embedded one (back-off and client limits, printed in the report): its
default back-off is longer than scenarios wait. When another scheduler is tested it is stopped.
"""

from __future__ import annotations

from typing import Any

import yaml

from muster import timeouts
from muster.cluster.kind.docker_cli import Engine
from muster.suite import paths

_DIRECTORY = "/etc/kubernetes"
_MANIFEST, _ORIGINAL = f"{_DIRECTORY}/manifests/kube-scheduler.yaml", f"{_DIRECTORY}/kube-scheduler.yaml"
_NEW_MANIFEST, _SETTINGS = f"{_DIRECTORY}/kube-scheduler.new", f"{_DIRECTORY}/kube-scheduler-settings.yaml"
# The first time the original manifest is kept; later there is only Muster's to remove. Waits for the process to end.
_STOP = (
    f"if test -e {_MANIFEST}; then pid=$(pgrep --exact kube-scheduler); "
    f"if test -e {_ORIGINAL}; then rm {_MANIFEST}; else mv {_MANIFEST} {_ORIGINAL}; fi; "
    f"test -z $pid || timeout {timeouts.STATIC_POD_RESTART} tail --pid=$pid --sleep-interval=0.1 -f /dev/null; fi"
)
_START = (
    f"cat > {_NEW_MANIFEST} && mv {_NEW_MANIFEST} {_MANIFEST} && "
    f"timeout {timeouts.STATIC_POD_RESTART} sh -c 'until pgrep --exact kube-scheduler; do sleep 0.1; done'"
)


def stop_scheduler(engine: Engine, node: str) -> None:
    """Stop it, and return when its process has ended."""
    engine.run_in_node(node, _STOP)


def start_scheduler(engine: Engine, node: str) -> None:
    """Restart it with Muster's settings."""
    stop_scheduler(engine, node)
    manifest = yaml.safe_load(engine.run_in_node(node, f"cat {_ORIGINAL}"))
    engine.run_in_node(node, f"cat > {_SETTINGS}", text=_settings())
    engine.run_in_node(node, _START, text=yaml.safe_dump(with_settings(manifest), sort_keys=False))


def with_settings(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest of the static pod, with a mounted configuration file."""
    spec = manifest["spec"]
    container = spec["containers"][0]
    mount = {"name": "settings", "mountPath": _SETTINGS, "readOnly": True}
    volume = {"name": "settings", "hostPath": {"path": _SETTINGS, "type": "File"}}
    configured = container | {
        "command": [*container["command"], f"--config={_SETTINGS}"],
        "volumeMounts": [*container.get("volumeMounts", []), mount],
    }
    return manifest | {"spec": spec | {"containers": [configured], "volumes": [*spec.get("volumes", []), volume]}}


def _settings() -> str:
    settings = yaml.safe_load((paths.manifests() / "schedulers" / "kube-scheduler" / "default.yaml").read_text())
    settings.setdefault("clientConnection", {})["kubeconfig"] = f"{_DIRECTORY}/scheduler.conf"
    return yaml.safe_dump(settings, sort_keys=False)
