"""The Deployment that Muster writes for a user's scheduler image that comes without manifests.

One replica with all rights, as a scheduler that runs beside the cluster has. The description's files are mounted where
its command expects them, and so is a kubeconfig of the pod's service account.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

NAMESPACE = "kube-system"
_DIRECTORY = "/etc/scheduler"
_KUBECONFIG = "kubeconfig"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def deployment_manifests(
    name: str, image: str, command: Sequence[str], files: Mapping[str, str]
) -> list[dict[str, Any]]:
    """ServiceAccount, its rights, a ConfigMap with all files, and the Deployment. No command: the image's own."""
    values = {"{kubeconfig}": f"{_DIRECTORY}/{_KUBECONFIG}", "{directory}": _DIRECTORY}
    data = {place: substitute(str(text), values) for place, text in files.items()}
    metadata = {"name": name, "namespace": NAMESPACE}
    container = {
        "name": "scheduler",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "volumeMounts": [{"name": "files", "mountPath": _DIRECTORY}],
        **({"command": [substitute(argument, values) for argument in command]} if command else {}),
    }
    spec = {
        "serviceAccountName": name,
        "priorityClassName": "system-cluster-critical",
        "containers": [container],
        "volumes": [{"name": "files", "configMap": {"name": name}}],
    }
    labels = {"app": name}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"muster-{name}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", **metadata}],
        },
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {**data, _KUBECONFIG: _kubeconfig()}},
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata,
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
    ]


def substitute(text: str, values: Mapping[str, str]) -> str:
    """With the placeholders filled in."""
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


def _kubeconfig() -> str:
    """Of the pod's service account, for programs that take nothing but a file."""
    cluster = {"server": "https://kubernetes.default.svc", "certificate-authority": f"{_ACCOUNT}/ca.crt"}
    loaded = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "kind", "cluster": cluster}],
        "users": [{"name": "scheduler", "user": {"tokenFile": f"{_ACCOUNT}/token"}}],
        "contexts": [{"name": "kind", "context": {"cluster": "kind", "user": "scheduler"}}],
        "current-context": "kind",
    }
    return yaml.safe_dump(loaded)
