"""`python -m scheduler.operator --kubeconfig FILE`: carry out PyTorchJobs and MPIJobs until stopped.

One instance at a time: there is no leader election.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from scheduler.client import Access, AccessError, Client
from scheduler.operator.groups import DIALECTS
from scheduler.operator.profiles import PROFILES, Profile
from scheduler.operator.shell import Operator
from scheduler.runtime import logs
from scheduler.runtime.events import Events
from scheduler.runtime.probes import probes

_USAGE = 64
_DRAIN_SECONDS = 5.0
_CONNECTIONS, _EVENT_CONNECTIONS = 32, 1  # events may come later

_log = logging.getLogger("scheduler.operator")


def main(words: Sequence[str] | None = None) -> int:
    options = _options(words)
    logs.to_stderr()
    profile = dataclasses.replace(PROFILES[options.profile], gang=options.gang, scheduler_name=options.scheduler_name)
    if not options.listen.rpartition(":")[2].isdecimal():
        _log.error("--listen: %r is not HOST:PORT", options.listen)
        return _USAGE
    try:
        access = Access.from_kubeconfig(options.kubeconfig)
    except AccessError as trouble:
        _log.error("--kubeconfig: %s", trouble)
        return _USAGE
    asyncio.run(_operate(access, profile, options.listen))
    return 0


async def _operate(access: Access, profile: Profile, listen: str) -> None:
    stopped = asyncio.Event()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(wanted, stopped.set)
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(access, connections=_CONNECTIONS))
        events = Events(await stack.enter_async_context(Client(access, connections=_EVENT_CONNECTIONS)))
        operator = Operator(client, events, profile)
        address = await stack.enter_async_context(
            probes(listen, ready=lambda: operator.ready, metrics=operator.metrics)
        )
        _log.info("started", extra={"fields": {"profile": profile.name, "gang": profile.gang, "listens": address}})
        telling, working = asyncio.create_task(events.run()), asyncio.create_task(operator.run())
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        working.cancel()
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(events.drain(), _DRAIN_SECONDS)
        telling.cancel()


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scheduler.operator", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--gang", choices=sorted(DIALECTS), default="none", help="whose PodGroups a gang gets")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="training-operator", help="after a loss")
    parser.add_argument("--scheduler-name", default="", help="for pods whose template names none")
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="/healthz, /readyz, /metrics")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
