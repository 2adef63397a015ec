"""What separates scenarios from the cluster's own life, and from the remains of a run that was killed."""

from __future__ import annotations

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import NAMESPACE, NODE, POD
from muster.errors import HarnessError

REAL = "kubernetes.io/os"  # the label that every kubelet puts on its node, and scenarios never do
SIMULATED = f"!{REAL}"


def close_real_nodes(api: Api) -> None:
    """Once everything that belongs there has its place: nothing of a scenario may find one."""
    settled = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.1),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        settled(lambda: [pod for pod in api.list(POD, "kube-system")["items"] if "nodeName" not in pod["spec"]])
    except tenacity.RetryError:
        raise HarnessError("the kind cluster's own pods found no place in time: try MUSTER_TIMEOUT_SCALE=3") from None
    for node in api.list(NODE, labelSelector=REAL)["items"]:
        api.patch(NODE, node["metadata"]["name"], {"spec": {"unschedulable": True}})


def clear_remains(api: Api) -> None:
    """Simulated nodes and namespaces of scenarios that nobody is left to strike."""
    for node in api.list(NODE, labelSelector=SIMULATED)["items"]:
        api.delete(NODE, node["metadata"]["name"], grace=0)
    for namespace in api.list(NAMESPACE)["items"]:
        name = namespace["metadata"]["name"]
        if name == "default" or name.startswith("muster-"):
            api.delete_all(POD, name, gracePeriodSeconds="0")
        if name.startswith("muster-"):
            api.delete(NAMESPACE, name)
