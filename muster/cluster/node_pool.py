"""The real nodes of an existing cluster that `--node-selector` gives to a run, and what its pods need to use them.

Nothing of these nodes is changed. Their owner keeps other tenants' pods off them by a taint; the run's pods select and
tolerate what the owner has put there, and the names of the nodes that the current scenario uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Manifest = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_INIT = ("MUSTER_TRAINING=init",)  # the program of the training image ends at once
_OWN_LABELS = "muster.dev/"  # a pod that selects one of these is the probe's, which has a simulated node


@dataclass(frozen=True)
class NodePool:
    """`selector` is what was asked for, and also the taint; `used` are the nodes of the current scenario.

    Every container runs `image`; `variables` of its environment depend on the image that a manifest names.
    """

    selector: dict[str, str]
    image: str
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    used: tuple[str, ...] = ()

    def is_for(self, pod_spec: Mapping[str, Any]) -> bool:
        return not any(label.startswith(_OWN_LABELS) for label in pod_spec.get("nodeSelector") or {})

    def confine(self, pod_spec: Manifest) -> None:
        """Select and tolerate the nodes that the scenario uses, and run the training image."""
        pod_spec["nodeSelector"] = {**(pod_spec.get("nodeSelector") or {}), **self.selector}
        tolerations = [{"key": key, "operator": "Equal", "value": value} for key, value in self.selector.items()]
        pod_spec["tolerations"] = [*(pod_spec.get("tolerations") or []), *tolerations]
        self._require_used_nodes(pod_spec)
        for container in pod_spec["containers"]:
            self._use_image(container, self.variables.get(full_reference(container.get("image", "")), ()))
        for container in pod_spec.get("initContainers") or ():
            self._use_image(container, _INIT)

    def shows(self, raw: bytes) -> bool:
        """Whether this is the Node object of one of its nodes: the name of an object in a namespace precedes that."""
        return any(_node_text(name).encode() in raw for name in self.nodes)

    def texts(self) -> list[str]:
        """One of these is in each of its Node objects, and in each pod that is bound there, whoever's it is."""
        return [text for name in self.nodes for text in (_node_text(name), f'"nodeName":"{name}"')]

    def _require_used_nodes(self, pod_spec: Manifest) -> None:
        """By affinity: a selector could name one node only. Terms are alternatives, so each of them gets it."""
        here = {"key": HOSTNAME, "operator": "In", "values": list(self.used)}
        affinity = dict(pod_spec.get("affinity") or {})
        node_affinity = dict(affinity.get("nodeAffinity") or {})
        terms = (node_affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
        confined = [{**term, "matchExpressions": [*(term.get("matchExpressions") or []), here]} for term in terms]
        node_affinity[_REQUIRED] = {"nodeSelectorTerms": confined}
        pod_spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}

    def _use_image(self, container: Manifest, variables: tuple[str, ...]) -> None:
        container["image"], container["imagePullPolicy"] = self.image, "IfNotPresent"
        known = {variable["name"] for variable in container.get("env") or ()}
        added = [text.partition("=") for text in variables]
        environment = [{"name": name, "value": value} for name, _, value in added if name not in known]
        if environment:
            container["env"] = [*(container.get("env") or []), *environment]


def full_reference(image: str) -> str:
    """`busybox` is docker.io/library/busybox:latest, as a kubelet reads it."""
    first, slash, _ = image.partition("/")
    host = slash and ("." in first or ":" in first or first == "localhost")
    if not host:
        image = f"docker.io/{image}" if slash else f"docker.io/library/{image}"
    return image if ":" in image.rpartition("/")[2] or "@" in image else f"{image}:latest"


def _node_text(name: str) -> str:
    return f'"metadata":{{"name":"{name}","uid"'
