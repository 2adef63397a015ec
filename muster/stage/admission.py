"""What the cluster does to pods on admission. Muster looks, and says when a scenario cannot be staged."""

from __future__ import annotations

from muster.chronicle.quantities import GPU
from muster.errors import NotStaged
from muster.stage.scene import Scene
from muster.subject.requests import PodRequest


def require_added_toleration(scene: Scene) -> None:
    """Admission gives a pod that asks for GPUs the toleration of their taint (ExtendedResourceToleration)."""
    rehearsed = scene.api.rehearse(scene.subject.dialect.pod(PodRequest("rehearsal", 1), scene.namespace))
    if not any(one.get("key") == GPU for one in rehearsed["spec"].get("tolerations", [])):
        raise NotStaged("the admission plugin ExtendedResourceToleration is off on this cluster")
