"""`muster submit pytorch|mpi`: a training job, as Arena would submit it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from muster.errors import EXIT_PASSED, UsageError
from muster.jobs import targets, words

if TYPE_CHECKING:
    from muster.jobs.requests import Submission

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_LOGDIR = "/training_logs"
_COUNTED = {
    "pytorch": "pods, the master included (default: 1)",
    "mpi": "workers; a launcher without GPUs comes on top (default: 1)",
}
_VERSIONS = {
    "pytorch": "a PyTorchJob (kubeflow.org/v1)",
    "mpi": "an MPIJob (kubeflow.org/v1alpha1 as Arena does, or v1 where the cluster serves only that)",
}


def add(subparsers: Subparsers) -> None:
    """Register the sub-command and one below it for each kind of job."""
    parser = subparsers.add_parser(
        "submit",
        help="submit a training job",
        description="Submit a training job to a cluster that serves the kinds of kubeflow.org.",
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for word in ("pytorch", "mpi"):
        one = kinds.add_parser(
            word,
            aliases=[f"{word}job"],
            help=f"submit {_VERSIONS[word]}",
            description=f"Submit {_VERSIONS[word]}. The command comes last, in quotes.",
        )
        _add_options(one, word)
        one.set_defaults(run=submit, word=word, parser=one)


def submit(args: argparse.Namespace) -> int:
    """What was created goes to standard output, as does the dry run's YAML."""
    from muster.cli.preflight import check_kubeconfig
    from muster.jobs import submissions
    from muster.jobs.documents import manifests_document

    _check(args)
    target = targets.reach(args, check_kubeconfig)
    wanted = _submission(args, target.namespace)
    prepared = submissions.prepare(target.api, wanted)
    if args.dry_run:
        sys.stdout.write(manifests_document(prepared))
        return EXIT_PASSED
    sys.stderr.write(f"submitting a {prepared[-1]['apiVersion']} {wanted.kind.kind}\n")
    for created in submissions.submit(target.api, prepared):
        _say(f"{created} created")
    look = f"muster get {wanted.name} --type {wanted.kind.trainer} -n {wanted.namespace}"
    _say(f"The Job {wanted.name} has been submitted successfully")
    _say(f"You can run `{look}` to check the job status")
    return EXIT_PASSED


def _add_options(parser: argparse.ArgumentParser, word: str) -> None:
    add = parser.add_argument
    add("--name", type=words.job_name, required=True, help="the name of the job")
    add("--image", required=True, help="the image of its containers")
    add("--gpus", type=words.count, default=0, metavar="N", help="GPUs of each pod that trains (default: 0)")
    add("--workers", type=words.at_least_one, default=1, metavar="N", help=_COUNTED[word])
    add("--cpu", type=words.quantity, metavar="QUANTITY", help="CPUs of each pod that trains")
    add("--memory", type=words.quantity, metavar="QUANTITY", help="memory of each pod that trains")
    add("-p", "--priority", metavar="CLASS", help="a PriorityClass")
    add("--queue", metavar="NAME", help="the queue that it waits in")
    add("--gang", action="store_true", help="start all its pods together, or none")
    add("--scheduler-name", metavar="NAME", help="the scheduler that places its pods")
    add(
        "--toleration", type=words.toleration, action="append", default=[], metavar="TAINT", dest="tolerations",
        help="KEY, KEY=VALUE:EFFECT or all; may be repeated",
    )  # fmt: skip
    for option, kind, help_ in (
        ("--selector", words.selector, "KEY=VALUE, a label that its nodes have; may be repeated"),
        ("--label", words.label, "KEY=VALUE, on the job and its pods; may be repeated"),
        ("--annotation", words.annotation, "KEY=VALUE, on the job and its pods; may be repeated"),
        ("--env", words.variable, "NAME=VALUE, in its containers; may be repeated"),
    ):
        add(option, type=kind, action="append", default=[], metavar="PAIR", help=help_)
    add("--sync-mode", choices=("git",), help="fetch the code before the training starts")
    add("--sync-source", metavar="ADDRESS", help="the repository, which appears under /root/code")
    add("--tensorboard", action="store_true", help="a tensorboard beside it")
    add("--logdir", metavar="PATH", help=f"where the tensorboard finds the logs (default: {_LOGDIR})")
    add("--retry", type=words.count, default=0, metavar="N", help="start lost pods again, N times (default: 0)")
    add(
        "--clean-task-policy", choices=("None", "Running", "All"), default="None",
        help="which pods are removed when the job ends (default: None)",
    )  # fmt: skip
    add("--running-timeout", type=words.timeout, metavar="TIME", help="end it after 90s, 30m or 2h30m")
    add("--dry-run", action="store_true", help="check everything, print the manifests, create nothing")
    targets.add_options(parser)
    add("training", nargs="*", metavar="COMMAND", help="what to run; without quotes, put -- before it")


def _check(args: argparse.Namespace) -> None:
    """What does not fit together, before a cluster is asked for anything."""
    if args.sync_source and not args.sync_mode:
        raise UsageError("--sync-source needs --sync-mode git")
    if args.sync_mode and not args.sync_source:
        raise UsageError("--sync-mode needs --sync-source with the address of the repository")
    if args.logdir and not args.tensorboard:
        raise UsageError("--logdir is for the tensorboard: add --tensorboard, or leave it out")
    _submission(args, "default")


def _submission(args: argparse.Namespace, namespace: str) -> Submission:
    from muster.jobs.kinds import KINDS
    from muster.jobs.requests import Submission

    same: dict[str, Any] = {
        name: getattr(args, name)
        for name in (
            "name", "image", "gpus", "workers", "cpu", "memory", "priority", "queue", "gang", "scheduler_name",
            "tolerations", "sync_source", "tensorboard", "retry", "clean_task_policy", "running_timeout",
        )
    }  # fmt: skip
    return Submission(
        kind=next(kind for kind in KINDS if kind.word == args.word),
        namespace=namespace,
        command=" ".join(args.training),
        selector=dict(args.selector),
        env=dict(args.env),
        labels=dict(args.label),
        annotations=dict(args.annotation),
        logdir=args.logdir or _LOGDIR,
        **same,
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
