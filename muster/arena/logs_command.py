"""`muster logs NAME`: the log of a training job's chief, or of another of its pods.

Pods on simulated nodes have no processes and no log. The API server would try to reach a kubelet at the made-up address
of such a node until its request times out; that a node has no kubelet is known from its status.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from muster.arena import argument_types, target
from muster.command_line import add_command
from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.arena.model import Instance, TrainingJob
    from muster.arena.target import Target
    from muster.command_line import Subparsers


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "logs",
        _logs,
        help="print the log of a training job",
        description="Print the log of the pod that decides the result of a training job, or of another of its pods.",
    )
    parser.add_argument("name", metavar="NAME")
    target.add_type(parser)
    parser.add_argument("-i", "--instance", metavar="POD", help="another pod of the job")
    parser.add_argument("-t", "--tail", type=argument_types.count, metavar="N", help="the last N lines (default: all)")
    target.add_options(parser)


def _logs(args: argparse.Namespace) -> int:
    """A pod without a log is no error; the message about it goes to standard error."""
    from muster.arena.queries import find_job
    from muster.cluster.resources import POD

    cluster = target.connect(args)
    instance = _choose(find_job(cluster, args.name, args.type), args.instance)
    if reason := _why_no_log(cluster, instance):
        sys.stderr.write(f"there is no log of {instance.name}: {reason}\n")
        return EXIT_PASSED
    pod = cluster.api.get(POD, instance.name, cluster.namespace)
    query = {"container": pod["spec"]["containers"][0]["name"]}
    if args.tail is not None:
        query["tailLines"] = str(args.tail)
    log = cluster.api.read(POD.path(cluster.namespace, instance.name, "log"), **query)
    sys.stdout.write(log.decode("utf-8", "replace"))
    return EXIT_PASSED


def _choose(job: TrainingJob, name: str | None) -> Instance:
    if not job.instances:
        raise UsageError(f"the training job {job.name!r} has no pods: muster get {job.name} shows its status")
    if name is None:
        return job.chief or job.instances[0]
    chosen = next((one for one in job.instances if one.name == name), None)
    if chosen is None:
        known = ", ".join(one.name for one in job.instances)
        raise UsageError(f"the training job {job.name!r} has no pod {name!r}: choose from {known}")
    return chosen


def _why_no_log(cluster: Target, instance: Instance) -> str:
    from muster.cluster.api import ApiRefused
    from muster.cluster.resources import NODE

    if instance.node is None:
        return "it is pending"
    try:
        node = cluster.api.get(NODE, instance.node)
    except ApiRefused:  # the user may not read nodes, or the node is gone: the API server knows more about the log
        return ""
    return "" if _has_kubelet(node) else f"its node {instance.node} is simulated, no process runs there"


def _has_kubelet(node: dict[str, Any]) -> bool:
    endpoints = node.get("status", {}).get("daemonEndpoints") or {}
    return bool((endpoints.get("kubeletEndpoint") or {}).get("Port"))
