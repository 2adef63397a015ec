"""`muster submit KIND`: submit a training job, with Arena's options."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from muster.arena import argument_types, log, target
from muster.cluster.job_kinds import JOB_KINDS, JobKind
from muster.command_line import print_line
from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.arena.job_manifests import Submission
    from muster.command_line import Subparsers

_LOGDIR = "/training_logs"


def add(subparsers: Subparsers) -> None:
    """Register the command, and a sub-command for each kind of job."""
    parser = subparsers.add_parser(
        "submit",
        help="submit a training job",
        description="Submit a training job to a cluster that serves the kinds of kubeflow.org.",
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for kind in JOB_KINDS:
        one = kinds.add_parser(
            kind.framework,
            aliases=[kind.trainer],
            help=f"submit {kind.description}",
            description=f"Submit {kind.description}. The command comes last, in quotes.",
        )
        _add_options(one, kind)
        one.set_defaults(run=_submit, job_kind=kind, parser=one)


def _submit(args: argparse.Namespace) -> int:
    """What is done to objects is printed to standard output, as are the manifests of a dry run; the rest is logged."""
    from muster.arena.output import manifests_yaml
    from muster.arena.submission import prepare, submit

    _check(args)
    cluster = target.connect(args)
    wanted = _submission(args, cluster.namespace)
    prepared = prepare(cluster.api, wanted)
    if args.dry_run:
        sys.stdout.write(manifests_yaml(prepared))
        return EXIT_PASSED
    log.debug(args, f"submitting a {prepared[-1]['apiVersion']} {wanted.kind.kind}")
    for done in submit(cluster.api, prepared):
        print_line(done)
    command = f"muster get {wanted.name} --type {wanted.kind.trainer} -n {wanted.namespace}"
    log.info(args, f"The Job {wanted.name} has been submitted successfully")
    log.info(args, f"You can run `{command}` to check the job status")
    return EXIT_PASSED


def _add_options(parser: argparse.ArgumentParser, kind: JobKind) -> None:
    add = parser.add_argument
    add("--name", type=argument_types.job_name, required=True, help="the name of the job")
    add("--image", required=True, help="the image of its containers")
    add("--gpus", type=argument_types.count, default=0, metavar="N", help="GPUs of each pod that trains (default: 0)")
    add("--workers", type=argument_types.at_least_one, default=1, metavar="N", help=kind.workers_help)
    add("--cpu", type=argument_types.quantity, metavar="QUANTITY", help="CPUs of each pod that trains")
    add("--memory", type=argument_types.quantity, metavar="QUANTITY", help="memory of each pod that trains")
    add("-p", "--priority", metavar="CLASS", help="a PriorityClass")
    add("--queue", metavar="NAME", help="its queue")
    add("--gang", action="store_true", help="gang scheduling: start all its pods or none")
    add("--scheduler-name", metavar="NAME", help="schedulerName of its pods")
    add(
        "--toleration", type=argument_types.toleration, action="append", default=[], metavar="TAINT",
        dest="tolerations",
        help="KEY, KEY=VALUE:EFFECT or all; may be repeated",
    )  # fmt: skip
    for option, type_, help_ in (
        ("--selector", argument_types.selector, "KEY=VALUE, a label that its nodes have; may be repeated"),
        ("--label", argument_types.label, "KEY=VALUE, on the job and its pods; may be repeated"),
        ("--annotation", argument_types.annotation, "KEY=VALUE, on the job and its pods; may be repeated"),
        ("--env", argument_types.variable, "NAME=VALUE, in its containers; may be repeated"),
    ):
        add(option, type=type_, action="append", default=[], metavar="PAIR", help=help_)
    add("--sync-mode", choices=("git",), help="fetch the code before the training starts")
    add("--sync-source", metavar="ADDRESS", help="the repository, which appears under /root/code")
    add("--tensorboard", action="store_true", help="create a tensorboard for it")
    add("--logdir", metavar="PATH", help=f"where the tensorboard reads the logs (default: {_LOGDIR})")
    add(
        "--retry",
        type=argument_types.count,
        default=0,
        metavar="N",
        help="replace up to N failed pods (default: 0)",
    )
    add(
        "--clean-task-policy", choices=("None", "Running", "All"), default="None",
        help="which pods are deleted when the job finishes (default: None)",
    )  # fmt: skip
    add(
        "--running-timeout",
        type=argument_types.timeout,
        metavar="TIME",
        help="fail it after 90s, 30m or 2h30m",
    )
    add("--dry-run", action="store_true", help="check everything, print the manifests, create nothing")
    target.add_options(parser)
    add("training", nargs="*", metavar="COMMAND", help="what to run; without quotes, put -- before it")


def _check(args: argparse.Namespace) -> None:
    """Check combinations of options before any request is sent to a cluster."""
    if args.sync_source and not args.sync_mode:
        raise UsageError("--sync-source needs --sync-mode git")
    if args.sync_mode and not args.sync_source:
        raise UsageError("--sync-mode needs --sync-source with the address of the repository")
    if args.logdir and not args.tensorboard:
        raise UsageError("--logdir needs --tensorboard")
    _submission(args, "default")


def _submission(args: argparse.Namespace, namespace: str) -> Submission:
    from muster.arena.job_manifests import Submission

    same: dict[str, Any] = {
        name: getattr(args, name)
        for name in (
            "name", "image", "gpus", "workers", "cpu", "memory", "priority", "queue", "gang", "scheduler_name",
            "tolerations", "sync_source", "tensorboard", "retry", "clean_task_policy", "running_timeout",
        )
    }  # fmt: skip
    return Submission(
        kind=args.job_kind,
        namespace=namespace,
        command=" ".join(args.training),
        selector=dict(args.selector),
        env=dict(args.env),
        labels=dict(args.label),
        annotations=dict(args.annotation),
        logdir=args.logdir or _LOGDIR,
        **same,
    )
