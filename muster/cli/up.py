"""`muster up`: a cluster with GPU nodes to try things on, until ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.cluster.local import LocalCluster
    from muster.subject import Subject

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "up",
        help="start a cluster with GPU nodes and keep it until ctrl-C",
        description="Start a local cluster with GPU nodes, print the KUBECONFIG line, and keep it until ctrl-C. "
        "Nothing of it is left afterwards.",
    )
    parser.add_argument("--nodes", type=int, default=3, metavar="N", help="how many nodes (default: 3)")
    parser.add_argument("--gpus", type=int, default=4, metavar="N", help="GPUs on each node (default: 4)")
    parser.add_argument(
        "--scheduler", metavar="NAME", help="start this scheduler, too (default: none; pods stay Pending)"
    )
    parser.set_defaults(run=up)


def up(args: argparse.Namespace) -> int:
    """Run until a signal asks for the end; a component that dies ends it as well, with its last words."""
    from muster.cluster.local import LocalCluster
    from muster.subject import choose

    if args.nodes < 0 or args.gpus < 0:
        raise UsageError("--nodes and --gpus count things: 0 or more")
    chosen = choose(args.scheduler) if args.scheduler else None
    cluster, subject = LocalCluster(say=_say), None
    for number in (signal.SIGINT, signal.SIGTERM):  # SIGINT, too: a shell's background job starts with it ignored
        signal.signal(number, signal.default_int_handler)
    try:
        _say("starting etcd, kube-apiserver, kube-controller-manager, KWOK and the player")
        cluster.start()
        _add_nodes(cluster, args.nodes, args.gpus)
        subject = _start_scheduler(cluster, *chosen) if chosen else None
        _introduce(cluster, args.nodes, args.gpus, subject)
        _wait(cluster, subject)
    except KeyboardInterrupt:
        _say("stopping")
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):  # an impatient second ctrl-C must not leave half of it behind
            signal.signal(number, signal.SIG_IGN)
        if subject is not None:
            subject.kill()
        cluster.stop()
    _say("everything is gone: no process, no port, no file left")
    return EXIT_PASSED


def _add_nodes(cluster: LocalCluster, nodes: int, gpus: int) -> None:
    from muster.stage.nodes import node_manifest
    from muster.subject.requests import NodeRequest

    for number in range(1, nodes + 1):
        cluster.connection.api.create(node_manifest(NodeRequest(f"gpu-{number}", gpus)))


def _start_scheduler(cluster: LocalCluster, kind: type[Subject], configuration: str) -> Subject:
    from muster import assets
    from muster.subject import Workplace

    files = assets.ensure(kind.assets, say=_say)
    kubeconfigs = (cluster.client_kubeconfig("admin"), cluster.client_kubeconfig("scheduler"))
    subject = kind(configuration, Workplace(cluster.directory, *kubeconfigs, files))
    subject.install(cluster.connection.api)
    subject.start()
    return subject


def _introduce(cluster: LocalCluster, nodes: int, gpus: int, subject: Subject | None) -> None:
    for name, process in cluster.processes.items():
        _say(f"  {name:<24} pid {process.pid}")
    if subject is None:
        _say("  no scheduler: pods stay Pending until you bind them or start one")
    else:
        for process in subject.processes:
            _say(f"  {process.name:<24} pid {process.pid}")
    _say(f"  {nodes} nodes with {gpus} GPUs each; logs in {cluster.directory}")
    _say("in another terminal (ctrl-C here ends it all):")
    sys.stdout.write(f"export KUBECONFIG={cluster.client_kubeconfig('admin')}\n")
    sys.stdout.flush()


def _wait(cluster: LocalCluster, subject: Subject | None) -> None:
    from muster.processes import first_to_end

    processes = [*cluster.processes.values(), *(subject.processes if subject else ())]
    first_to_end(processes, None)
    cluster.check()
    if subject is not None:
        subject.check()


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
