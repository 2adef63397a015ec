"""`muster run`: judge a scheduler. Whatever can be wrong with the request is found before anything is started."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED, HarnessError, UsageError
from muster.suite import suite_root

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.catalogue import Behaviour

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

CLUSTERS = ("local", "container", "kind", "k3s", "kubeconfig")


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "run",
        help="judge a scheduler",
        description="Judge a scheduler. Ends with 0 if all MUSTs that it claims passed, 1 if one failed, 2 if the "
        "harness broke or was interrupted, 64 if the request makes no sense.",
    )
    what, where, how = (parser.add_argument_group(title) for title in ("what to judge", "where to run", "how to run"))
    option = what.add_argument
    option("--scheduler", default="reference", metavar="NAME", help="the scheduler under test (%(default)s)")
    option("--operator", default="reference", metavar="NAME", help="who makes pods of jobs (%(default)s)")
    option("--client", default="muster", metavar="NAME", help="who carries out the documents' commands (%(default)s)")
    option("--only", nargs="+", default=[], metavar="ID", help="these behaviours, such as PRE-01 or PRE-01,PRE-02")
    option("-k", dest="words", metavar="EXPR", help="those whose id, title, feature or tags contain: gpu and not gang")
    option("-m", dest="tags", action="append", default=[], metavar="TAG", help="a level or a capability; repeatable")
    option("--list", action="store_true", help="show what would be judged, and start nothing")
    option = where.add_argument
    option("--cluster", choices=CLUSTERS, default=None, help="local (default): a control plane of its own, on loopback")
    option("--context", metavar="NAME", help="your cluster: a context of your kubeconfig")
    option("--kubeconfig", type=Path, metavar="FILE", help="a kubeconfig other than yours")
    option("--kind-image", metavar="IMAGE", help="kind's node image: a reference, or an archive of `make kind-image`")
    option("--reuse", action="store_true", help="keep the kind cluster from run to run")
    option = how.add_argument
    option("--workers", type=_at_least_one, default=1, metavar="N", help="run N scenarios at a time, on N clusters")
    option("--repeat", type=_at_least_one, default=1, metavar="N", help="run every scenario N times")
    option(
        "--keep", action="store_true", help="keep a failed scenario: running until ctrl-C on a terminal, else its files"
    )
    option("--results", type=Path, metavar="DIR", help="where to write (results/<time>-<scheduler>)")
    option("--junit", type=Path, metavar="FILE", help="write JUnit XML as well")
    option("--durations", type=int, default=5, metavar="N", help="show the N slowest scenarios (%(default)s)")
    option("--timeout-scale", type=float, default=None, metavar="X", help="stretch all time limits, for slow machines")
    parser.set_defaults(run=run)


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 upwards")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Check the request, then hand over to the judging."""
    behaviours = _selected(args)
    if args.list:
        from muster.cli.listing import listing

        sys.stdout.write(listing(behaviours))
        return EXIT_PASSED
    _check_cluster(args, behaviours)
    if args.timeout_scale is not None:
        if not 0 < args.timeout_scale <= 100:
            raise UsageError(f"--timeout-scale {args.timeout_scale:g}: give a factor between 0 and 100, such as 3")
        os.environ["MUSTER_TIMEOUT_SCALE"] = str(args.timeout_scale)
    from muster.cli.judging import judge

    return judge(args, behaviours)


def _selected(args: argparse.Namespace) -> Sequence[Behaviour]:
    from muster import subject
    from muster.catalogue import read_features
    from muster.lint import lint
    from muster.selection import select
    from muster.subject.clients import choose_client
    from muster.subject.operators import choose_operator
    from muster.variants import problem

    chosen, configuration = subject.choose(args.scheduler)
    choose_operator(args.operator)
    choose_client(args.client)
    args.scheduler = subject.full_name(args.scheduler)  # pytest will run in another directory
    catalogue = read_features(suite_root() / "features")
    if problems := lint(catalogue, claims=chosen.claims(configuration)):
        raise HarnessError("\n  ".join(["the features have mistakes:", *map(str, problems)]))
    behaviours = select(catalogue.behaviours, only=args.only, tags=args.tags, words=args.words)
    if not args.only:  # what is about another operator or client is no verdict on anybody
        everything = catalogue.behaviours
        behaviours = [one for one in behaviours if not problem(one, everything, args.operator, args.client)]
    if not behaviours:
        raise UsageError("no behaviour fits --only, -k and -m together; muster run --list shows all")
    return behaviours


def _check_cluster(args: argparse.Namespace, behaviours: Sequence[Behaviour]) -> None:
    foreign = args.context is not None or args.kubeconfig is not None or args.cluster == "kubeconfig"
    if foreign and args.cluster not in (None, "kubeconfig"):
        raise UsageError(f"--cluster {args.cluster} is made by Muster: leave out --context and --kubeconfig")
    if foreign:
        from muster.cli.preflight import check_kubeconfig

        check_kubeconfig(args.kubeconfig, args.context)
        _check_foreign(args, behaviours)
        return
    if args.cluster == "kind":
        _check_kind(args)
        return
    if args.kind_image or args.reuse:
        raise UsageError("--kind-image and --reuse are for --cluster kind")
    if args.cluster in ("container", "k3s"):
        _check_engine(args.cluster)


def _check_engine(cluster: str) -> None:
    """An engine that answers and, where it cannot be pulled, the image, before the first scenario asks for them."""
    from muster.cluster import container, container_engine

    if cluster == "container":
        container.engine_with_image()
    else:
        container_engine.connect(reaper=True)


def _check_kind(args: argparse.Namespace) -> None:
    """An engine that answers and an image that is there, before the first scenario asks for a cluster."""
    from muster.cluster.kind.configuration import STOCK_IMAGE
    from muster.cluster.kind.engine import Engine

    if args.reuse and args.workers > 1:
        raise UsageError("--reuse keeps one cluster: leave out --workers")
    if args.kind_image and args.kind_image.endswith(".tar"):
        args.kind_image = str(Path(args.kind_image).absolute())  # pytest will run in another directory
    Engine(lambda line: print(line, file=sys.stderr, flush=True)).have_image(args.kind_image or STOCK_IMAGE)  # noqa: T201


def _check_foreign(args: argparse.Namespace, behaviours: Sequence[Behaviour]) -> None:
    """Look before anything is created there, and decide what the run is called."""
    from muster.cluster.api import Api
    from muster.cluster.fences import new_run
    from muster.cluster.foreign.inspection import inspect
    from muster.jobs.targets import usual_kubeconfig
    from muster.stage.residents import check_companions, jobs_spoken_of, spoken_with

    check_companions(args.scheduler, args.operator, args.client)
    args.cluster, args.run_id = "kubeconfig", new_run()
    file = args.kubeconfig or usual_kubeconfig(args.context)
    args.kubeconfig = file.absolute()  # pytest will run in another directory
    capabilities = {capability for behaviour in behaviours for capability in behaviour.capabilities}
    spoken = spoken_with(args.scheduler, capabilities), jobs_spoken_of(args.scheduler, capabilities)
    findings = inspect(Api.connect(args.kubeconfig, args.context), *spoken)
    for warning in findings.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    findings.must_be_sound()
