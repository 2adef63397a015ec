"""`python -m scheduler --kubeconfig FILE`: schedule until stopped; `python -m scheduler explain POD`: explain one pod.

Of several instances on one cluster all must take part in the leader election. Exit codes: 0 stopped by a signal, 1 the
lease was lost, 64 usage error.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from scheduler.client import Access, AccessError, Client, all_synced
from scheduler.core.explain import explain
from scheduler.core.policy import Policy
from scheduler.runtime import logs
from scheduler.runtime.background_loop import BackgroundLoop
from scheduler.runtime.cache import Cache
from scheduler.runtime.config import ConfigError, read_config, read_leader_election
from scheduler.runtime.leader_election import LeaderElection
from scheduler.runtime.leader_election_config import RESOURCE_NAME
from scheduler.runtime.replica import Addresses, Replica, is_address
from scheduler.runtime.scheduler import Scheduler

_USAGE = 64
_SYNC_SECONDS = 30.0  # to list all objects for `explain`


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_USAGE, f"{self.prog}: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    explain_command = arguments[:1] == ["explain"]
    options = _explain_parser().parse_args(arguments[1:]) if explain_command else _parser().parse_args(arguments)
    try:
        policy = read_config(options.config) if options.config else Policy()
        election = None if explain_command else leader_election(options.config, options.leader_elect)
        access = (
            Access.from_kubeconfig(options.kubeconfig, options.context) if options.kubeconfig else Access.from_pod()
        )
    except (ConfigError, AccessError) as error:
        sys.stderr.write(f"{error}\n")
        return _USAGE
    if explain_command:
        return asyncio.run(_explain(access, policy, options.namespace, options.pod))
    logs.to_stderr()
    with BackgroundLoop() as background:
        asyncio.run(_serve(access, policy, election, background, Addresses(options.listen, options.metrics_listen)))
    return 0


def leader_election(config: Path | None, flag: bool | None) -> LeaderElection | None:
    """The flag decides where it is given, as kube-scheduler's does."""
    configured = read_leader_election(config) if config else None
    if flag is None:
        return configured.settings if configured and configured.leader_elect else None
    return (configured.settings if configured else LeaderElection(RESOURCE_NAME)) if flag else None


async def _serve(
    access: Access, policy: Policy, election: LeaderElection | None, background: BackgroundLoop, addresses: Addresses
) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    replica = Replica(background, election)
    write_deadline, leadership = replica.write_deadline, replica.leadership
    async with (
        Client(access, write_deadline=write_deadline) as client,
        Client(access, connections=8, write_deadline=write_deadline) as events_client,
    ):
        scheduler = Scheduler(client, events_client, policy)
        serving = replica.serving(addresses, ready=lambda: scheduler.ready, numbers=scheduler.metrics.text)
        async with serving, replica.participating(access):
            finished = await scheduler.run(stop, leadership.elected if leadership else None)
            if leadership:
                leadership.may_release = finished


async def _explain(access: Access, policy: Policy, namespace: str, name: str) -> int:
    """Explain from the objects as they are now; 1 when there is no such pod."""
    cache = Cache(lambda: None)
    async with Client(access) as client:
        reflectors = cache.reflectors(client)
        tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
        try:
            async with asyncio.timeout(_SYNC_SECONDS):
                await all_synced(reflectors)
        except TimeoutError:
            sys.stderr.write(f"not all objects could be listed within {_SYNC_SECONDS:g} s\n")
            return 1
        finally:
            for task in tasks:
                task.cancel()
    cache.update_pods()
    pod = next((pod for pod in cache.cluster.pods.values() if pod.key == (namespace, name)), None)
    if pod is None:
        sys.stderr.write(f"there is no pending or running pod {namespace}/{name}\n")
        return 1
    sys.stdout.write(f"{explain(cache.cluster, policy, pod)}\n")
    return 0


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m scheduler",
        description="Schedule pods, gangs and queues until stopped.",
        epilog="`python -m scheduler explain POD -n NAMESPACE` explains why a pod is pending.",
    )
    _common(parser)
    loopback: dict[str, Any] = {"type": _address, "default": "127.0.0.1:0", "metavar": "HOST:PORT"}
    serving = "address of /healthz, /livez and /readyz; port 0 picks a free one, which is logged"
    parser.add_argument("--listen", **loopback, help=serving)
    parser.add_argument("--metrics-listen", **loopback, help="address of /metrics: anyone who reaches it can read them")
    electing = "act only while holding a Lease; default: as in the configuration"
    parser.add_argument("--leader-elect", type=_boolean, nargs="?", const=True, metavar="true|false", help=electing)
    return parser


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is not true or false")
    return text == "true"


def _address(text: str) -> str:
    if not is_address(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return text


def _explain_parser() -> _Parser:
    parser = _Parser(prog="python -m scheduler explain", description="Explain why a pod is pending.")
    _common(parser)
    parser.add_argument("pod")
    parser.add_argument("-n", "--namespace", default="default")
    return parser


def _common(parser: _Parser) -> None:
    parser.add_argument("--kubeconfig", type=Path, help="default: the service account of the pod that this runs in")
    parser.add_argument("--context", help="context of the kubeconfig; default: its current context")
    parser.add_argument("--config", type=Path, help="a SchedulerConfiguration in YAML")


if __name__ == "__main__":
    sys.exit(main())
