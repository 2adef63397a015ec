"""After a run on somebody's cluster: whatever its workers did not clear away, because they crashed, is cleared here."""

from __future__ import annotations

import argparse
import sys

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.fences import same_run
from muster.cluster.foreign import rights, sweeping
from muster.errors import MusterError


def command(args: argparse.Namespace, run: str) -> str:
    """What a person types to clear a run away."""
    where = f" --kubeconfig {args.kubeconfig}" + (f" --context {args.context}" if args.context else "")
    return f"muster sweep --run {run}{where}"


def after_run(args: argparse.Namespace) -> bool:
    """Sweep, or say how to; what will not go is listed by name. Whether the cluster is as it should be then."""
    clean = True
    try:
        api = Api.connect(args.kubeconfig, args.context)
        runs = [run for run in sweeping.find(api) if same_run(run, args.run_id)]
        for run in sorted(runs):
            if args.keep:
                _say(f"kept on the cluster: run {run}; to clear it away: {command(args, run)}")
                continue
            left = sweeping.clear(api, run, within=timeouts.CLEARING_AWAY, grant=_grant(api))
            clean = clean and not left
            _say(f"run {run} was cleared away after its process had ended" if not left else _leak(args, run, left))
    except MusterError as trouble:
        _say(f"what is left on the cluster is not known ({trouble}); later: {command(args, args.run_id)}")
        return False
    return clean


def _leak(args: argparse.Namespace, run: str, left: list[str]) -> str:
    return f"left on the cluster: {', '.join(left)}; try again with: {command(args, run)}"


def _grant(api: Api) -> sweeping.Grant:
    return lambda namespace: rights.try_to_bind_scene(api, namespace)


def _say(line: str) -> None:
    sys.stderr.write(f"muster: {line}\n")
