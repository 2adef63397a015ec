"""`python -m scheduler --kubeconfig FILE`: schedule until stopped. `python -m scheduler explain POD`: why does it wait?

One process schedules at a time: there is no leader election. Exit codes: 0 stopped when asked, 64 wrong usage.
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
from scheduler.core.policy import Policy
from scheduler.runtime import logs
from scheduler.runtime.config import ConfigError, read_config
from scheduler.runtime.probes import probes

_USAGE = 64


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(_USAGE, f"{self.prog}: {message}\n")


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    explaining = words[:1] == ["explain"]
    given = _explain_parser().parse_args(words[1:]) if explaining else _parser().parse_args(words)
    try:
        policy = read_config(given.config) if given.config else Policy()
        access = Access.from_kubeconfig(given.kubeconfig, given.context) if given.kubeconfig else Access.from_pod()
    except (ConfigError, AccessError) as mistake:
        sys.stderr.write(f"{mistake}\n")
        return _USAGE
    if explaining:
        from scheduler.runtime.explaining import explain_pod

        return asyncio.run(explain_pod(access, policy, given.namespace, given.pod))
    logs.to_stderr()
    asyncio.run(_serve(access, policy, given.listen))
    return 0


async def _serve(access: Access, policy: Policy, listen: str) -> None:
    from scheduler.runtime.service import Service

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Client(access) as client, Client(access, connections=8) as events_client:
        service = Service(client, events_client, policy)
        async with probes(listen, ready=lambda: service.ready, metrics=service.metrics.text) as address:
            logging.getLogger(__name__).info("listening", extra={"fields": {"address": address}})
            await service.run(stop)


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m scheduler",
        description="Schedule pods, gangs and queues until stopped. Run one only: there is no leader election.",
        epilog="`python -m scheduler explain POD -n NAMESPACE` says why a pod waits.",
    )
    _common(parser)
    serving = "where /healthz, /readyz and /metrics are served; port 0 takes a free one, and the log says which"
    parser.add_argument("--listen", type=_address, default="127.0.0.1:0", metavar="HOST:PORT", help=serving)
    return parser


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return text


def _explain_parser() -> _Parser:
    parser = _Parser(prog="python -m scheduler explain", description="Say why a pod waits.")
    _common(parser)
    parser.add_argument("pod")
    parser.add_argument("-n", "--namespace", default="default")
    return parser


def _common(parser: _Parser) -> None:
    parser.add_argument("--kubeconfig", type=Path, help="without it: the service account of the pod this runs in")
    parser.add_argument("--context", help="of the kubeconfig; the current one if not given")
    parser.add_argument("--config", type=Path, help="a SchedulerConfiguration in YAML")


if __name__ == "__main__":
    sys.exit(main())
