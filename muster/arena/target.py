"""The cluster and namespace that a command talks to, from its options.

If the kubeconfig does not lead to a cluster, the error names the kubeconfig of a running `muster up`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muster.arena import argument_types
from muster.cluster.job_kinds import JOB_KINDS
from muster.errors import MusterError

if TYPE_CHECKING:
    from muster.cluster.api import Api
    from muster.cluster.kubeconfig_files import Kubeconfig


@dataclass(frozen=True)
class Target:
    """A reachable API server, the namespace to use, and the context that leads there."""

    api: Api
    namespace: str
    kubeconfig: Kubeconfig
    context: str


def add_options(parser: argparse.ArgumentParser, *, namespace: bool = True) -> None:
    """The options that every command on jobs has."""
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="default: $KUBECONFIG, else ~/.kube/config")
    parser.add_argument("--context", metavar="NAME", help="a context of the kubeconfig (default: its current one)")
    if namespace:
        parser.add_argument("-n", "--namespace", metavar="NAME", help="default: the context's, else default")


def add_type(parser: argparse.ArgumentParser) -> None:
    """--type, of the commands that take the name of a job."""
    trainers = " or ".join(kind.trainer for kind in JOB_KINDS)
    parser.add_argument("-T", "--type", type=argument_types.trainer, metavar="TYPE", help=trainers)


def connect(args: argparse.Namespace) -> Target:
    """Connect, after a check of the kubeconfig and of the API server that it names."""
    from muster.cluster.kubeconfig import check_kubeconfig
    from muster.cluster.kubeconfig_files import Kubeconfig
    from muster.cluster.run_scope import open_api

    kubeconfig = Kubeconfig.find(args.kubeconfig)
    try:
        context = check_kubeconfig(kubeconfig, args.context)
        api = open_api(kubeconfig, context)
    except MusterError as error:
        raise type(error)(f"{error}{_hint()}") from None
    return Target(api, getattr(args, "namespace", None) or _namespace_of(kubeconfig, context), kubeconfig, context)


def _namespace_of(kubeconfig: Kubeconfig, context: str) -> str:
    chosen = next(entry for entry in kubeconfig.load()["contexts"] if entry["name"] == context)
    return (chosen["context"] or {}).get("namespace") or "default"


def _hint() -> str:
    files = sorted(map(str, set(_running_clusters(Path("/proc")))))
    return "".join(f"; muster up is running: export KUBECONFIG={file}" for file in files)


def _running_clusters(proc: Path) -> Iterator[Path]:
    """The kubeconfigs of running `muster up` processes: their children work in the directory that contains it."""
    for process in proc.glob("[0-9]*"):
        try:
            argv = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if "up" not in argv or Path(argv[argv.index("up") - 1]).name not in ("muster", "__main__.py"):
                continue
            for child in (process / "task" / process.name / "children").read_text().split():
                file = Path(os.readlink(proc / child / "cwd")) / "admin.kubeconfig"
                if file.exists():
                    yield file
        except OSError:  # it has ended, or belongs to another user
            continue
