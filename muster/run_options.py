"""The options of a run: one validated value, declared once.

`muster run` and plain pytest generate their command-line options from these fields, and `muster run` hands the whole
value to its pytest process as JSON. A new option is a field here, read where it is used.
"""

# ruff: noqa: RUF009 - the call in each default returns a dataclasses.field

from __future__ import annotations

import argparse
import dataclasses
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muster.errors import UsageError

CLUSTERS = ("local", "container", "kind", "k3s", "kubeconfig")
NODE_TYPES = ("real", "simulated")
DEFAULT_SCHEDULER = "reference"
DEFAULT_OPERATOR = "reference"
DEFAULT_CLIENT = "muster"
WHAT, WHERE, HOW = "what to test", "where to run", "how to run"


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """How a field appears on the command line."""

    help: str
    group: str
    metavar: str | None = None
    short: str = ""  # instead of --name, as in -k
    parse: Callable[[str], Any] = str
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # further settings of argparse
    in_cli: bool = True  # an option of `muster run`
    in_pytest: bool = True  # an option --muster-NAME of pytest; False where pytest has an option of its own for it
    reproduces: bool = False  # part of the command that repeats a run: it can change a verdict


def _option(default: Any, help: str, group: str, **declared: Any) -> Any:  # noqa: A002
    return dataclasses.field(default=default, metadata={"declaration": Declaration(help=help, group=group, **declared)})


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 upwards")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What one run tests, where and how. Frozen: a changed option is a new value, made with `replace`."""

    scheduler: str = _option(
        DEFAULT_SCHEDULER, "the scheduler under test (%(default)s)", WHAT, metavar="NAME", reproduces=True
    )
    operator: str = _option(
        DEFAULT_OPERATOR, "the training operator to use (%(default)s)", WHAT, metavar="NAME", reproduces=True
    )
    client: str = _option(
        DEFAULT_CLIENT,
        "the client that runs the commands of the walk-throughs (%(default)s)",
        WHAT,
        metavar="NAME",
        reproduces=True,
    )
    only: tuple[str, ...] = _option(
        (), "these behaviours, such as PRE-01 or PRE-01,PRE-02", WHAT, metavar="ID", settings={"nargs": "+"}
    )
    keyword: str | None = _option(
        None,
        "those whose id, title, feature or tags contain: gpu and not gang",
        WHAT,
        metavar="EXPR",
        short="-k",
        in_pytest=False,
    )
    tags: tuple[str, ...] = _option(
        (),
        "a level or a capability; repeatable",
        WHAT,
        metavar="TAG",
        short="-m",
        settings={"action": "append"},
        in_pytest=False,
    )
    cluster: str = _option(
        "",
        f"one of {', '.join(CLUSTERS)}; local (default) starts an embedded control plane on loopback",
        WHERE,
        metavar="KIND",
        settings={"choices": CLUSTERS},
        reproduces=True,
    )
    kubeconfig: Path | None = _option(
        None, "the kubeconfig of an existing cluster (yours)", WHERE, metavar="FILE", parse=Path, reproduces=True
    )
    context: str | None = _option(
        None, "an existing cluster: a context of the kubeconfig", WHERE, metavar="NAME", reproduces=True
    )
    kind_image: str = _option(
        "",
        "kind's node image: a reference, or an archive of `make kind-image`",
        WHERE,
        metavar="IMAGE",
        reproduces=True,
    )
    node_type: str = _option(
        "",
        f"one of {', '.join(NODE_TYPES)}; default on kind with an image of `make kind-image`: real, kubelets and"
        " containers, for the scenarios that were compared there; real: for every one that workers can hold",
        WHERE,
        metavar="TYPE",
        settings={"choices": NODE_TYPES},
        reproduces=True,
    )
    installation: Path | None = _option(
        None,
        "kind: install the scheduler in the cluster, from the images and manifests that this file names",
        WHERE,
        metavar="FILE",
        parse=Path,
        reproduces=True,
    )
    node_selector: str = _option(
        "",
        "on an existing cluster: run the containers of scenarios on its real nodes with these labels, and on no others",
        WHERE,
        metavar="KEY=VALUE[,…]",
        reproduces=True,
    )
    training_image: str = _option(
        "",
        "with --node-selector: what every container runs (`muster assets training-image`), as these nodes can pull it",
        WHERE,
        metavar="IMAGE",
        reproduces=True,
    )
    reuse: bool = _option(False, "keep the kind cluster from run to run", WHERE, reproduces=True)
    run_id: str = _option("", "the id of this run on an existing cluster", WHERE, metavar="ID", in_cli=False)
    workers: int = _option(
        1, "run N scenarios at a time, on N clusters", HOW, metavar="N", parse=_at_least_one, in_pytest=False
    )
    repeat: int = _option(1, "run every scenario N times", HOW, metavar="N", parse=_at_least_one)
    keep: bool = _option(False, "keep a failed scenario: running until ctrl-C on a terminal, otherwise its files", HOW)
    hold: bool = _option(False, "leave the first failed scenario as it is until ctrl-C, then stop", HOW, in_cli=False)
    results: Path | None = _option(None, "where to write (results/<time>-<scheduler>)", HOW, metavar="DIR", parse=Path)
    junit: Path | None = _option(None, "write JUnit XML as well", HOW, metavar="FILE", parse=Path, in_pytest=False)
    durations: int = _option(
        5, "show the N slowest scenarios (%(default)s)", HOW, metavar="N", parse=int, in_pytest=False
    )
    timeout_scale: float | None = _option(
        None, "multiply all time limits by X, for slow machines", HOW, metavar="X", parse=float, in_pytest=False
    )

    def __post_init__(self) -> None:
        """Refuse what does not fit together; `cluster` is then always one of CLUSTERS."""
        existing = self.kubeconfig is not None or self.context is not None
        if existing and self.cluster not in ("", "kubeconfig"):
            raise UsageError(f"--cluster {self.cluster} is made by Muster: leave out --context and --kubeconfig")
        object.__setattr__(self, "cluster", self.cluster or ("kubeconfig" if existing else "local"))
        if self.cluster not in CLUSTERS:
            raise UsageError(f"unknown cluster {self.cluster!r}: choose from {', '.join(CLUSTERS)}")
        if self.cluster != "kind" and (self.kind_image or self.reuse or self.installation):
            raise UsageError("--kind-image, --installation and --reuse are for --cluster kind")
        if self.node_type not in ("", *NODE_TYPES):
            raise UsageError(f"unknown node type {self.node_type!r}: choose from {', '.join(NODE_TYPES)}")
        if self.node_type == "real" and self.cluster != "kind":
            raise UsageError("--node-type real is for --cluster kind: other clusters have simulated nodes")
        self._check_node_selector()
        if self.reuse and self.workers > 1:
            raise UsageError("--reuse keeps one cluster: leave out --workers")
        for name in ("workers", "repeat"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} {getattr(self, name)} is not a number from 1 upwards")
        if self.timeout_scale is not None and not 0 < self.timeout_scale <= 100:
            raise UsageError(f"--timeout-scale {self.timeout_scale:g}: give a factor between 0 and 100, such as 3")

    def _check_node_selector(self) -> None:
        if not self.node_selector and not self.training_image:
            return
        if not self.on_existing_cluster:
            raise UsageError("--node-selector and --training-image are for an existing cluster: name it by --context")
        if not self.node_selector:
            raise UsageError("--training-image is what containers run on real nodes: add --node-selector")
        if not self.training_image:
            raise UsageError(
                "--node-selector needs --training-image: `muster assets training-image` writes an archive with"
                " muster.dev/training:1; push that image where these nodes can pull it"
            )
        if self.node_type == "simulated" or self.workers > 1:
            other = "--workers" if self.workers > 1 else "--node-type simulated"
            raise UsageError(f"--node-selector gives real nodes to one scenario at a time: leave out {other}")
        node_labels(self.node_selector)

    @property
    def on_existing_cluster(self) -> bool:
        """Whether the run takes place on a cluster that Muster did not start."""
        return self.cluster == "kubeconfig"

    @property
    def command(self) -> str:
        """The command that repeats this run; what is the default is left out."""
        arguments = ["muster", "run", "--scheduler", self.scheduler]
        for name, default, declaration in declarations():
            value = getattr(self, name)
            if name == "scheduler" or not declaration.reproduces or value == default:
                continue
            if name == "cluster" and (value == "local" or self.kubeconfig or self.context):
                continue  # the default, or implied by the options that follow
            arguments += [flag(name)] if value is True else [flag(name), str(value)]
        return shlex.join(arguments)

    def replace(self, **changes: Any) -> RunOptions:
        """The same options but for these."""
        return dataclasses.replace(self, **changes)

    def to_json(self) -> str:
        """As one argument, for the pytest process."""
        import msgspec

        return msgspec.json.encode(self, enc_hook=str).decode()

    @classmethod
    def from_json(cls, text: str) -> RunOptions:
        """The inverse of `to_json`."""
        import msgspec

        options: RunOptions = msgspec.json.decode(text, type=cls, dec_hook=lambda kind, value: kind(value))
        return options

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> RunOptions:
        """From what `add_arguments` made argparse read."""
        given: dict[str, Any] = {}
        for name, _, declaration in declarations():
            if declaration.in_cli:
                value = getattr(arguments, name)
                given[name] = tuple(value) if isinstance(value, list) else value
        return cls(**given)


def node_labels(selector: str) -> dict[str, str]:
    """The labels of --node-selector; none if it is empty."""
    pairs = [pair.partition("=") for pair in selector.split(",")] if selector else []
    if not all(key.strip() and value.strip() for key, _, value in pairs):
        raise UsageError(f"--node-selector {selector}: write KEY=VALUE, or several of them with commas between")
    return {key.strip(): value.strip() for key, _, value in pairs}


def declarations() -> Iterator[tuple[str, Any, Declaration]]:
    """Every option: its name, its default and how it appears on the command line."""
    for field in dataclasses.fields(RunOptions):
        yield field.name, field.default, field.metadata["declaration"]


def flag(name: str) -> str:
    """The option as it is typed."""
    return f"--{name.replace('_', '-')}"


def add_arguments(parser: argparse.ArgumentParser) -> dict[str, argparse._ArgumentGroup]:
    """Give a parser the options of `muster run`, and return the groups of its help by title."""
    groups = {title: parser.add_argument_group(title) for title in (WHAT, WHERE, HOW)}
    for name, default, declaration in declarations():
        if not declaration.in_cli:
            continue
        settings: dict[str, Any] = {"default": default, "dest": name, "help": declaration.help}
        if isinstance(default, bool):
            settings |= {"action": "store_true"}
        else:
            settings |= {"metavar": declaration.metavar, "type": declaration.parse, **declaration.settings}
        if settings.get("action") == "append":
            settings["default"] = []  # argparse appends to a copy of it
        groups[declaration.group].add_argument(declaration.short or flag(name), **settings)
    return groups
