"""`muster doctor --context NAME`: what a run on that cluster would meet. Looks and rehearses, and changes nothing."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict

from muster import subject
from muster.cli.preflight import check_kubeconfig
from muster.cluster.api import Api
from muster.cluster.foreign import rights, sweeping
from muster.cluster.foreign.inspection import Findings, inspect
from muster.errors import EXIT_FAILED, EXIT_PASSED
from muster.jobs.targets import usual_kubeconfig
from muster.stage.residents import jobs_spoken_of, spoken_with


def examine(args: argparse.Namespace) -> int:
    """Every right by itself, then what is worth knowing and what stands in the way; 0 if nothing does."""
    file = args.kubeconfig or usual_kubeconfig(args.context)
    check_kubeconfig(file, args.context)
    chosen, configuration = subject.choose(args.scheduler)
    api = Api.connect(file, args.context)
    claims = {"documents", *chosen.claims(configuration)}
    findings = inspect(api, spoken_with(args.scheduler, claims), jobs_spoken_of(args.scheduler, claims))
    _say(f"Kubernetes  {findings.version}")
    for line in _rights(findings):
        _say(line)
    runs = sweeping.find(api) if not findings.missing else {}
    for run, remains in runs.items():
        _say(f"run         {run}: {len(remains.names())} things are there; muster sweep clears away what is dead")
    _say("")
    for warning in findings.warnings:
        _say(f"warning: {warning}")
    for problem in findings.problems or ["a run there can start at once"]:
        _say(problem)
    return EXIT_FAILED if findings.problems else EXIT_PASSED


def _rights(findings: Findings) -> list[str]:
    """One line per resource, with the verbs that are missing told apart."""
    verbs: dict[str, list[rights.Right]] = defaultdict(list)
    for right in rights.wanted():
        verbs[right.thing].append(right)
    lines = []
    for thing, wanted in verbs.items():
        lacking = [right.verb for right in wanted if right in findings.missing]
        having = [right.verb for right in wanted if right not in findings.missing]
        told = ", ".join(having) + (f"{'; ' if having else ''}MISSING {', '.join(lacking)}" if lacking else "")
        lines.append(f"right       {thing}: {told}")
    return lines


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
