"""`muster rbac`: the roles that a run on your cluster needs, to be applied by an administrator."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_GROUP = "rbac.authorization.k8s.io"


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "rbac",
        help="print the roles that a run on your cluster needs",
        description="Print the roles that `muster run --context` needs, and nothing more; with --user, --group or "
        "--service-account also their bindings. An administrator applies them: muster rbac --user me | kubectl apply "
        "-f -",
    )
    to = parser.add_mutually_exclusive_group()
    to.add_argument("--user", metavar="NAME", help="bind them to this user")
    to.add_argument("--group", metavar="NAME", help="bind them to this group")
    to.add_argument("--service-account", metavar="NAMESPACE:NAME", help="bind them to this service account")
    parser.set_defaults(run=rbac)


def rbac(args: argparse.Namespace) -> int:
    """YAML on standard output."""
    import yaml

    from muster.cluster.foreign import rights

    sys.stdout.write(rights.text())
    if subject := _subject(args):
        for binding in (_binding("ClusterRole", "muster", "", subject), *_leases(subject)):
            sys.stdout.write(f"---\n{yaml.safe_dump(binding, sort_keys=False)}")
    return EXIT_PASSED


def _leases(subject: dict[str, str]) -> tuple[dict[str, Any], ...]:
    return (_binding("Role", "muster-leases", "kube-node-lease", subject),)


def _subject(args: argparse.Namespace) -> dict[str, str]:
    if args.service_account:
        namespace, colon, name = args.service_account.partition(":")
        if not (namespace and colon and name):
            raise UsageError(f"--service-account {args.service_account}: write NAMESPACE:NAME")
        return {"kind": "ServiceAccount", "namespace": namespace, "name": name}
    for kind, name in (("User", args.user), ("Group", args.group)):
        if name:
            return {"apiGroup": _GROUP, "kind": kind, "name": name}
    return {}


def _binding(kind: str, role: str, namespace: str, subject: dict[str, str]) -> dict[str, Any]:
    where = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": f"{_GROUP}/v1",
        "kind": f"{kind}Binding",
        "metadata": {"name": role, **where},
        "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": role},
        "subjects": [subject],
    }
