"""`muster rbac`: print the roles that a run on an existing cluster needs, for an administrator to apply."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from muster.command_line import add_command
from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.command_line import Subparsers

_GROUP = "rbac.authorization.k8s.io"


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "rbac",
        rbac,
        help="print the roles that a run on your cluster needs",
        description="Print the roles that `muster run --context` needs, and nothing more; with --user, --group or "
        "--service-account also their bindings. An administrator applies them: muster rbac --user me | kubectl apply "
        "-f -",
    )
    parser.add_argument(
        "--node-selector",
        action="store_true",
        help="with what `muster run --node-selector` needs: to end containers and to read their logs",
    )
    to = parser.add_mutually_exclusive_group()
    to.add_argument("--user", metavar="NAME", help="bind them to this user")
    to.add_argument("--group", metavar="NAME", help="bind them to this group")
    to.add_argument("--service-account", metavar="NAMESPACE:NAME", help="bind them to this service account")


def rbac(args: argparse.Namespace) -> int:
    """YAML on standard output."""
    import yaml

    from muster.cluster.existing import rbac

    sys.stdout.write(rbac.roles_yaml(real_nodes=args.node_selector))
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
