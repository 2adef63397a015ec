"""`muster doctor`: what a run needs, what is missing, and the command that fixes it. Changes nothing.

With --context: the same for a run on that existing cluster, down to each RBAC permission.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import socket
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muster.command_line import add_command
from muster.errors import EXIT_FAILED, EXIT_PASSED, MusterError, UsageError
from muster.run_options import node_labels
from muster.suite.paths import suite_root

if TYPE_CHECKING:
    from muster.cluster.existing.preflight import Findings
    from muster.cluster.existing.rbac import Permission
    from muster.command_line import Subparsers

_GIB = 1 << 30


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "doctor",
        doctor,
        help="show what is found, what is missing, and the command that fixes it",
        description="Show what is found, where and in which version, what is missing, and the command that fixes it. "
        "Exits with 0 if `muster run` could start at once, otherwise with 1. With --context or --kubeconfig: the same "
        "for a run on that cluster, down to each RBAC permission that it needs.",
    )
    parser.add_argument("--context", metavar="NAME", help="your cluster: a context of your kubeconfig")
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="a kubeconfig other than yours")
    parser.add_argument(
        "--scheduler", default="kube-scheduler", metavar="NAME", help="the scheduler to test there (%(default)s)"
    )
    parser.add_argument(
        "--node-selector", default="", metavar="KEY=VALUE[,…]", help="the real nodes there that a run may use"
    )


def doctor(args: argparse.Namespace) -> int:
    """Print the tables; 0 if `muster run` could start without fetching or building anything."""
    if args.context is not None or args.kubeconfig is not None:
        return _check_existing_cluster(args)
    if args.node_selector:
        raise UsageError("--node-selector is for an existing cluster: name it by --context")
    from muster.assets import CONTROL_PLANE

    notes: list[str] = []
    binaries = [_binary(name, notes.append) for name in CONTROL_PLANE]
    loopback_works, loopback = _loopback()
    missing = [name for name, _, source, _ in binaries if source == _fix()]
    _print_table([("component", "version", "source", "where"), *binaries])
    sys.stdout.write("\n")
    _print_table([("Python", platform.python_version(), sys.executable), _go(), _cache(), ("loopback", *loopback)])
    if missing:
        notes.append(f"missing: {', '.join(missing)}; to get them ready: {_fix()}")
    sys.stdout.write("\n" + "".join(f"{note}\n" for note in notes or ["muster run can start at once"]))
    ready = loopback_works and all(path for *_, path in binaries)
    return EXIT_PASSED if ready else EXIT_FAILED


def _binary(name: str, note: Callable[[str], None]) -> tuple[str, str, str, str]:
    from muster.assets import find

    try:
        found = find(name, print_line=note)
    except MusterError as problem:
        note(str(problem))
        return (name, "missing", "see below", "")
    return (name, found.version, found.source, str(found.path)) if found else (name, "missing", _fix(), "")


def _fix() -> str:
    return "make assets" if (suite_root() / "Makefile").is_file() else "muster assets"


def _go() -> tuple[str, ...]:
    from muster.assets import golang
    from muster.assets.components import components

    go = golang.find(max(component.go_needed for component in components()))
    return ("Go", go.version, f"{go.path} ({go.source})") if go else ("Go", "none", "comes from PyPI if needed")


def _cache() -> tuple[str, ...]:
    from muster.assets import cache

    path = cache.directory()
    there = next((place for place in (path, *path.parents) if place.is_dir()), Path("/"))
    state = "writable" if os.access(there, os.W_OK) else "NOT WRITABLE: set MUSTER_CACHE to a directory that is"
    free = shutil.disk_usage(there).free / _GIB
    return ("cache", f"{_size(path) / _GIB:.1f} GiB", f"{path}, {free:.0f} GiB free, {state}")


def _size(path: Path) -> int:
    """Bytes of a directory; what cannot be read or is being removed does not count."""
    total, pending = 0, [str(path)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def _loopback() -> tuple[bool, tuple[str, str]]:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            return True, ("works", f"127.0.0.1 gave port {server.getsockname()[1]}")
    except OSError as problem:
        return False, ("BROKEN", f"no port on 127.0.0.1 ({problem.strerror}): bring the loopback interface up")


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _check_existing_cluster(args: argparse.Namespace) -> int:
    """Print each permission, then warnings and problems; 0 if there is no problem."""
    from muster import schedulers
    from muster.cluster.existing import cleanup
    from muster.cluster.existing.pool_check import pool_nodes
    from muster.cluster.existing.preflight import inspect
    from muster.cluster.kubeconfig import check_kubeconfig
    from muster.cluster.kubeconfig_files import Kubeconfig
    from muster.cluster.run_scope import open_api
    from muster.environment.in_cluster_scheduler import optional_kinds, required_kinds

    kubeconfig = Kubeconfig.find(args.kubeconfig)
    context = check_kubeconfig(kubeconfig, args.context)
    chosen, configuration = schedulers.choose(args.scheduler)
    api = open_api(kubeconfig, context)
    claims = {"documents", *chosen.claims(configuration)}
    pool = node_labels(args.node_selector)
    kinds = required_kinds(args.scheduler, claims), optional_kinds(args.scheduler, claims)
    findings = inspect(api, *kinds, pool=pool)
    runs = cleanup.find_runs(api, schedulers.existing_cluster_objects()) if not findings.missing else {}
    lines = [f"Kubernetes  {findings.version}", *_permission_lines(findings, real_nodes=bool(pool))]
    for run, leftovers in runs.items():
        lines.append(f"run         {run}: {len(leftovers.names())} objects; muster cleanup deletes those of dead runs")
    lines += [_node_line(node) for node in (pool_nodes(api, pool) if pool else ())]
    lines.append("")
    lines += [f"warning: {warning}" for warning in findings.warnings]
    lines += findings.problems or ["a run there can start at once"]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return EXIT_FAILED if findings.problems else EXIT_PASSED


def _node_line(node: Mapping[str, Any]) -> str:
    allocatable, info = node["status"].get("allocatable", {}), node["status"].get("nodeInfo", {})
    gpus, cpus = allocatable.get("nvidia.com/gpu", "0"), allocatable.get("cpu", "0")
    return f"node        {node['metadata']['name']}: {gpus} GPUs, {cpus} CPUs, kubelet {info.get('kubeletVersion', '')}"


def _permission_lines(findings: Findings, *, real_nodes: bool) -> list[str]:
    """One line per resource, with the missing verbs marked."""
    from muster.cluster.existing import rbac

    by_target: dict[str, list[Permission]] = defaultdict(list)
    for permission in rbac.required(real_nodes=real_nodes):
        by_target[permission.target].append(permission)
    lines = []
    for target, required in by_target.items():
        missing = [permission.verb for permission in required if permission in findings.missing]
        granted = [permission.verb for permission in required if permission not in findings.missing]
        verbs = ", ".join(granted) + (f"{'; ' if granted else ''}MISSING {', '.join(missing)}" if missing else "")
        lines.append(f"permission  {target}: {verbs}")
    return lines
