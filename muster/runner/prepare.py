"""Before a run: select the behaviours, check the cluster, have the binaries. Nothing is started or created here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muster.command_line import print_progress
from muster.errors import HarnessError, UsageError
from muster.run_options import RunOptions, node_labels
from muster.suite.behaviours import Behaviour
from muster.suite.paths import suite_root

if TYPE_CHECKING:
    from muster.cluster.kubeconfig_files import Kubeconfig

# The binaries that a cluster needs; any other needs those of a control plane.
CLUSTER_BINARIES: dict[str, tuple[str, ...]] = {
    "kubeconfig": ("kwok",),
    "kind": ("kind", "kwok"),
    "k3s": ("kwok",),
    "container": (),
}


def select_behaviours(options: RunOptions) -> Sequence[Behaviour]:
    """What --only, -k and -m select; a UsageError where a name is unknown or nothing is left."""
    from muster import schedulers
    from muster.arena.clients import choose_client
    from muster.operators import choose_operator
    from muster.suite.behaviours import read_features
    from muster.suite.lint import lint
    from muster.suite.selection import inapplicable, select

    chosen, configuration = schedulers.choose(options.scheduler)
    choose_operator(options.operator)
    choose_client(options.client)
    catalogue = read_features(suite_root() / "features")
    if problems := lint(catalogue, claims=chosen.claims(configuration)):
        raise HarnessError("\n  ".join(["the features have mistakes:", *map(str, problems)]))
    behaviours = select(catalogue.behaviours, only=options.only, tags=options.tags, keyword=options.keyword)
    if not options.only:  # a walk-through for another operator or client says nothing about this run
        everything = catalogue.behaviours
        behaviours = [one for one in behaviours if not inapplicable(one, everything, options.operator, options.client)]
    if not behaviours:
        raise UsageError("no behaviour fits --only, -k and -m together; muster run --list shows all")
    return behaviours


def check_cluster(options: RunOptions, behaviours: Sequence[Behaviour]) -> RunOptions:
    """The options with absolute paths, because pytest runs in another directory, once the cluster can be used."""
    from muster import schedulers

    options = options.replace(scheduler=schedulers.full_name(options.scheduler))
    if options.on_existing_cluster:
        return _check_existing(options, behaviours)
    if options.cluster == "kind":
        return _check_kind(options)
    if options.cluster in ("container", "k3s"):
        _check_engine(options.cluster)
    return options


def _check_engine(cluster: str) -> None:
    """An engine that answers and, where it cannot be pulled, the image."""
    from muster.cluster import container, docker_engine

    if cluster == "container":
        container.engine_with_image()
    else:
        docker_engine.connect(reaper=True)


def _check_kind(options: RunOptions) -> RunOptions:
    """An engine that answers and an image that is there."""
    from muster.cluster.kind.docker_cli import Engine
    from muster.cluster.kind.kind_cli import STOCK_IMAGE
    from muster.environment.own_clusters import installation_of

    if options.kind_image.endswith(".tar"):
        options = options.replace(kind_image=str(Path(options.kind_image).absolute()))
    if options.installation:
        options = options.replace(installation=options.installation.absolute())
    installation_of(options)  # read once more later: mistakes in the file are reported before anything is started
    Engine(print_progress).ensure_image(options.kind_image or STOCK_IMAGE)
    return options


def _check_existing(options: RunOptions, behaviours: Sequence[Behaviour]) -> RunOptions:
    """Inspect the cluster before anything is created there, and choose the id of the run."""
    from muster.cluster.existing.preflight import inspect
    from muster.cluster.kubeconfig import check_kubeconfig
    from muster.cluster.kubeconfig_files import Kubeconfig
    from muster.cluster.run_scope import new_run_id, open_api
    from muster.environment.in_cluster_scheduler import check_existing_cluster_choices, optional_kinds, required_kinds

    kubeconfig = Kubeconfig.find(options.kubeconfig)
    context = check_kubeconfig(kubeconfig, options.context)
    check_existing_cluster_choices(options.scheduler, options.operator, options.client)
    capabilities = {capability for behaviour in behaviours for capability in behaviour.capabilities}
    kinds = required_kinds(options.scheduler, capabilities), optional_kinds(options.scheduler, capabilities)
    findings = inspect(open_api(kubeconfig, context), *kinds, pool=node_labels(options.node_selector))
    for warning in findings.warnings:
        print_progress(f"warning: {warning}")
    findings.raise_first_problem()
    return _pinned(options, kubeconfig, context).replace(run_id=new_run_id())


def _pinned(options: RunOptions, kubeconfig: Kubeconfig, context: str) -> RunOptions:
    """Name the cluster so that every process of the run takes it, even if the user chooses another context meanwhile.

    Several files have no name of their own but the variable, which the processes inherit.
    """
    kubeconfig = kubeconfig.absolute()  # pytest runs in another directory
    if len(kubeconfig.files) == 1:
        return options.replace(kubeconfig=kubeconfig.files[0], context=context)
    os.environ["KUBECONFIG"] = str(kubeconfig)
    return options.replace(context=context)


def binaries(options: RunOptions) -> tuple[str, ...]:
    """Of the cluster and of the scheduler; on an existing cluster the scheduler is there already."""
    from muster.assets import CONTROL_PLANE
    from muster.environment.own_clusters import scheduler_assets

    needed = CLUSTER_BINARIES.get(options.cluster, CONTROL_PLANE)
    return needed if options.on_existing_cluster else (*needed, *scheduler_assets(options))


def ensure_binaries(options: RunOptions) -> None:
    """Before the workers start, so that no binary is built twice and the progress is seen."""
    if not any((suite_root() / "fixtures").glob("*.py")):  # a suite without fixtures starts no cluster
        return
    from muster.arena.clients import choose_client
    from muster.assets import ensure
    from muster.environment.own_clusters import operator_assets

    beside = (*operator_assets(options), *choose_client(options.client).assets)
    ensure(list(dict.fromkeys((*binaries(options), *beside))), print_line=print_progress)
