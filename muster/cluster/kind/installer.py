"""Install manifests in a kind cluster, with kubectl inside its control plane, and wait until they are available.

The pods run on the control plane: workers are for scenarios. What was installed is remembered in the node's file
system, so that the next run on a reused cluster deletes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from muster import timeouts
from muster.cluster.api import STRATEGIC_PATCH, Api
from muster.cluster.kind.docker_cli import Engine
from muster.cluster.kind.installation import DeploymentName, Manifest, in_order, workloads
from muster.cluster.resources import DEPLOYMENT, NODE, POD
from muster.errors import HarnessError

_REMEMBERED = "/etc/muster/installed.yaml"  # in the control plane
_KUBECTL = "kubectl --kubeconfig=/etc/kubernetes/admin.conf"
_APPLY = f"{_KUBECTL} apply --server-side --force-conflicts -f -"
_DELETE = (
    f"test ! -e {_REMEMBERED} || {{ {_KUBECTL} delete --ignore-not-found --timeout={timeouts.CLEARING_AWAY:g}s "
    f"-f {_REMEMBERED} && rm {_REMEMBERED}; }}"
)
_ROLLED_OUT = (DEPLOYMENT.kind, "StatefulSet", "DaemonSet")
_LINES = 5
_STARTING = ("ContainerCreating", "PodInitializing")


def signal_processes(engine: Engine, node: str, api: Api, name: DeploymentName, signal: str) -> None:
    """Send a signal to every process of a Deployment's pods; the kubelet starts those again that it ends."""
    labels = api.get(DEPLOYMENT, name.name, name.namespace)["spec"]["selector"]["matchLabels"]
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    pods = api.list(POD, name.namespace, labelSelector=selector)["items"]
    engine.run_in_node(node, signal_script([pod["metadata"]["uid"] for pod in pods], signal))


def signal_script(uids: Sequence[str], signal: str) -> str:
    """Processes are found by their cgroups, which are named after pods, with _ for - where systemd makes them."""
    pattern = "|".join(uid.replace("-", "[-_]") for uid in uids)
    found = f"grep -lsE 'pod({pattern})' /proc/[0-9]*/cgroup | cut -d/ -f3"
    return f"kill -{signal} $({found})"


def install(engine: Engine, node: str, api: Api, manifests: Sequence[Manifest]) -> None:
    """Return when every workload is available. The cluster's own scheduler must be running, and the node open."""
    engine.run_in_node(node, f"mkdir -p /etc/muster && cat > {_REMEMBERED}", text=yaml.safe_dump_all(manifests))
    first, others = in_order(manifests)
    if first:
        engine.run_in_node(node, _APPLY, text=yaml.safe_dump_all(first))
    if any(one["kind"] == "CustomResourceDefinition" for one in first):
        waiting = f"{_KUBECTL} wait --for=condition=Established --timeout={timeouts.SETTING_UP:g}s crd --all"
        engine.run_in_node(node, waiting)
    engine.run_in_node(node, _APPLY, text=yaml.safe_dump_all(others))
    for kind in _ROLLED_OUT:
        for name in workloads(manifests, kind):
            wait_for_rollout(engine, node, api, kind, name)


def wait_for_rollout(engine: Engine, node: str, api: Api, kind: str, name: DeploymentName) -> None:
    """Return when all pods of a workload are of its current template and available."""
    seconds = timeouts.ROLLOUT
    command = f"{_KUBECTL} -n {name.namespace} rollout status {kind.lower()}/{name.name} --timeout={seconds:g}s"
    try:
        engine.run_in_node(node, command, seconds=seconds + timeouts.ENGINE_COMMAND)
    except HarnessError as problem:
        reason = first_trouble(api.list(POD, name.namespace)["items"], name.name) or str(problem)
        log = log_lines(engine, node, f"{name.namespace} {kind.lower()}/{name.name}", _LINES)
        said = f"; its last log lines:\n{log}" if log else ""
        raise HarnessError(f"the {kind} {name} is not available after {seconds:g} s: {reason}{said}") from None


def arguments_of(api: Api, name: DeploymentName) -> list[str]:
    """The arguments of its first container."""
    container = api.get(DEPLOYMENT, name.name, name.namespace)["spec"]["template"]["spec"]["containers"][0]
    return list(container.get("args", ()))


def run_with_arguments(engine: Engine, node: str, api: Api, name: DeploymentName, arguments: Sequence[str]) -> None:
    """Replace all pods of a Deployment. No scheduler serves them any more: they are bound by their template."""
    spec = api.get(DEPLOYMENT, name.name, name.namespace)["spec"]
    container = {"name": spec["template"]["spec"]["containers"][0]["name"], "args": list(arguments)}
    template = {"spec": {"nodeName": node, "containers": [container]}}
    change = {"strategy": {"type": "Recreate", "rollingUpdate": None}, "template": template}
    api.patch(DEPLOYMENT, name.name, {"spec": change}, namespace=name.namespace, content_type=STRATEGIC_PATCH)
    wait_for_rollout(engine, node, api, DEPLOYMENT.kind, name)


def uninstall(engine: Engine, node: str) -> None:
    """Delete what an earlier run has installed, and wait: a definition that is terminating cannot be applied again."""
    engine.run_in_node(node, _DELETE)


def open_control_plane(api: Api, node: str, *, on: bool) -> None:
    """Let pods without tolerations run there, or no new pods."""
    api.patch(NODE, node, {"spec": {"unschedulable": None, "taints": None} if on else {"unschedulable": True}})


def first_trouble(pods: Sequence[dict[str, Any]], workload: str) -> str:
    """Why a pod of a workload does not run, in the words of the kubelet or the scheduler; empty if nothing is known."""
    for pod in pods:
        name, status = pod["metadata"]["name"], pod.get("status", {})
        if not name.startswith(f"{workload}-"):
            continue
        for container in [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]:
            waiting = container.get("state", {}).get("waiting", {})
            if waiting and waiting["reason"] not in _STARTING:
                return f"{name}: {waiting['reason']}: {waiting.get('message', '')}"
        for condition in status.get("conditions", ()):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return f"{name}: {condition.get('message', 'not scheduled')}"
    return ""


def log_lines(engine: Engine, node: str, where: str, lines: int) -> str:
    """The end of the log of `NAMESPACE KIND/NAME`; of one pod if a workload has several."""
    command = f"{_KUBECTL} logs --tail={lines} -n {where} 2>/dev/null || true"
    return engine.run_in_node(node, command).strip()
