"""Which cluster and namespace a command talks to. Where there is none, `muster up` may run one: say so."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muster.errors import MusterError

if TYPE_CHECKING:
    from muster.cluster.api import Api

Check = Callable[[Path | None, str | None], str]


@dataclass(frozen=True)
class Target:
    """An API server that answers, and the namespace that is meant."""

    api: Api
    namespace: str


def add_options(parser: argparse.ArgumentParser, *, namespace: bool = True) -> None:
    """The options that every command on jobs shares."""
    parser.add_argument("--kubeconfig", type=Path, metavar="FILE", help="default: $KUBECONFIG, else ~/.kube/config")
    parser.add_argument("--context", metavar="NAME", help="a context of the kubeconfig (default: its current one)")
    if namespace:
        parser.add_argument("-n", "--namespace", metavar="NAME", help="default: the context's, else default")


def reach(args: argparse.Namespace, check: Check) -> Target:
    """Connect, once `check` has found the kubeconfig sound and the server behind it awake."""
    from muster.cluster.api import Api

    file = args.kubeconfig or usual_kubeconfig(args.context)
    try:
        check(file, args.context)
        api = Api.connect(file, args.context)
    except MusterError as error:
        raise type(error)(f"{error}{_hint()}") from None
    return Target(api, getattr(args, "namespace", None) or _namespace_of(file, args.context))


def usual_kubeconfig(context: str | None = None) -> Path:
    """Of the files that KUBECONFIG names the first that knows the context; one that is not there is passed over."""
    named = [Path(name) for name in os.environ.get("KUBECONFIG", "").split(os.pathsep) if name]
    if len(named) < 2:
        return named[0] if named else Path.home() / ".kube" / "config"
    there = [file for file in named if file.exists()] or named
    return next((file for file in there if _knows(file, context)), there[0])


def _knows(file: Path, context: str | None) -> bool:
    import yaml

    try:
        document = _read(file)
        if not context:
            return bool(document["current-context"])
        return any(entry["name"] == context for entry in document["contexts"])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, LookupError, TypeError):
        return False  # whoever has to use it says what is wrong with it


def _read(file: Path) -> Any:
    import yaml

    return yaml.load(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _namespace_of(file: Path, context: str | None) -> str:
    document = _read(file)
    wanted = context or document["current-context"]
    chosen = next(entry for entry in document["contexts"] if entry["name"] == wanted)
    return (chosen.get("context") or {}).get("namespace") or "default"


def _hint() -> str:
    files = sorted(map(str, set(_running_planes(Path("/proc")))))
    return "".join(f"; muster up is running: export KUBECONFIG={file}" for file in files)


def _running_planes(proc: Path) -> Iterator[Path]:
    """The kubeconfigs of running `muster up`: its children work in the directory that holds it."""
    for process in proc.glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            if "up" not in words or Path(words[words.index("up") - 1]).name not in ("muster", "__main__.py"):
                continue
            for child in (process / "task" / process.name / "children").read_text().split():
                file = Path(os.readlink(proc / child / "cwd")) / "admin.kubeconfig"
                if file.exists():
                    yield file
        except OSError:  # gone meanwhile, or another user's
            continue
