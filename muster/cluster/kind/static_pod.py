"""The scheduler that a kind cluster comes with: a static pod, there while its manifest is where the kubelet looks.

When it is judged it gets the settings that the embedded one has (back-off and client limits, printed in the report), or
the longest waits of its defaults would outlast what scenarios stage. When another is judged it stands aside.
"""

from __future__ import annotations

from typing import Any

import yaml

from muster import suite
from muster.cluster.kind.engine import Engine

_HOME = "/etc/kubernetes"
_MANIFEST, _ASIDE = f"{_HOME}/manifests/kube-scheduler.yaml", f"{_HOME}/kube-scheduler.yaml"
_DRAFT, _SETTINGS = f"{_HOME}/kube-scheduler.draft", f"{_HOME}/kube-scheduler-settings.yaml"
_PATIENCE = 60  # seconds
# The first time its own manifest is kept; later there is only ours to remove. Gone is gone when the process is.
_STAND_ASIDE = (
    f"if test -e {_MANIFEST}; then pid=$(pgrep --exact kube-scheduler); "
    f"if test -e {_ASIDE}; then rm {_MANIFEST}; else mv {_MANIFEST} {_ASIDE}; fi; "
    f"test -z $pid || timeout {_PATIENCE} tail --pid=$pid --sleep-interval=0.1 -f /dev/null; fi"
)
_COME_FORWARD = (
    f"cat > {_DRAFT} && mv {_DRAFT} {_MANIFEST} && "
    f"timeout {_PATIENCE} sh -c 'until pgrep --exact kube-scheduler; do sleep 0.1; done'"
)


def stand_aside(engine: Engine, node: str) -> None:
    """Nobody places pods there when this returns."""
    engine.inside(node, _STAND_ASIDE)


def come_forward(engine: Engine, node: str) -> None:
    """It is started anew, with our settings."""
    stand_aside(engine, node)
    manifest = yaml.safe_load(engine.inside(node, f"cat {_ASIDE}"))
    engine.inside(node, f"cat > {_SETTINGS}", text=_settings())
    engine.inside(node, _COME_FORWARD, text=yaml.safe_dump(with_settings(manifest), sort_keys=False))


def with_settings(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest of a static pod that is told where its settings are."""
    spec = manifest["spec"]
    container = spec["containers"][0]
    mount = {"name": "settings", "mountPath": _SETTINGS, "readOnly": True}
    volume = {"name": "settings", "hostPath": {"path": _SETTINGS, "type": "File"}}
    told = container | {
        "command": [*container["command"], f"--config={_SETTINGS}"],
        "volumeMounts": [*container.get("volumeMounts", []), mount],
    }
    return manifest | {"spec": spec | {"containers": [told], "volumes": [*spec.get("volumes", []), volume]}}


def _settings() -> str:
    settings = yaml.safe_load((suite.manifests() / "subjects" / "kube-scheduler" / "default.yaml").read_text())
    settings.setdefault("clientConnection", {})["kubeconfig"] = f"{_HOME}/scheduler.conf"
    return yaml.safe_dump(settings, sort_keys=False)
