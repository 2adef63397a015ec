"""`python -m scheduler --kubeconfig FILE`: schedule until stopped; `python -m scheduler explain POD`: explain one pod.

Run one instance only: there is no leader election. Exit codes: 0 stopped by a signal, 64 usage error.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from scheduler.client import Access, AccessError, Client
from scheduler.core.explain import explain
from scheduler.core.policy import Policy
from scheduler.runtime import logs
from scheduler.runtime.cache import Cache, all_synced
from scheduler.runtime.config import ConfigError, read_config
from scheduler.runtime.probes import probes
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
        access = (
            Access.from_kubeconfig(options.kubeconfig, options.context) if options.kubeconfig else Access.from_pod()
        )
    except (ConfigError, AccessError) as error:
        sys.stderr.write(f"{error}\n")
        return _USAGE
    if explain_command:
        return asyncio.run(_explain(access, policy, options.namespace, options.pod))
    logs.to_stderr()
    asyncio.run(_serve(access, policy, options.listen))
    return 0


async def _serve(access: Access, policy: Policy, listen: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Client(access) as client, Client(access, connections=8) as events_client:
        scheduler = Scheduler(client, events_client, policy)
        async with probes(listen, ready=lambda: scheduler.ready, metrics=scheduler.metrics.text) as address:
            logging.getLogger(__name__).info("listening", extra={"fields": {"address": address}})
            await scheduler.run(stop)


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
    pod = next((pod for pod in cache.cluster.pods.values() if pod.key == (namespace, name)), None)
    if pod is None:
        sys.stderr.write(f"there is no pending or running pod {namespace}/{name}\n")
        return 1
    sys.stdout.write(f"{explain(cache.cluster, policy, pod)}\n")
    return 0


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m scheduler",
        description="Schedule pods, gangs and queues until stopped. Run one only: there is no leader election.",
        epilog="`python -m scheduler explain POD -n NAMESPACE` explains why a pod is pending.",
    )
    _common(parser)
    serving = "address of /healthz, /readyz and /metrics; port 0 picks a free one, which is logged"
    parser.add_argument("--listen", type=_address, default="127.0.0.1:0", metavar="HOST:PORT", help=serving)
    return parser


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
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
