"""`python -m scheduler.operator --kubeconfig FILE`: reconcile PyTorchJobs and MPIJobs until stopped.

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
from scheduler.operator.controller import Controller
from scheduler.operator.lost_replicas import PROFILES, Profile
from scheduler.operator.pod_group import DIALECTS
from scheduler.runtime import logs
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.probes import probes

_USAGE = 64
_DRAIN_SECONDS = 5.0
_CONNECTIONS, _EVENT_CONNECTIONS = 32, 1  # events may be delayed

_log = logging.getLogger("scheduler.operator")


def main(argv: Sequence[str] | None = None) -> int:
    options = _parse(argv)
    logs.to_stderr()
    profile = dataclasses.replace(PROFILES[options.profile], gang=options.gang, scheduler_name=options.scheduler_name)
    if not options.listen.rpartition(":")[2].isdecimal():
        _log.error("--listen: %r is not HOST:PORT", options.listen)
        return _USAGE
    try:
        access = Access.from_kubeconfig(options.kubeconfig)
    except AccessError as error:
        _log.error("--kubeconfig: %s", error)
        return _USAGE
    asyncio.run(_run(access, profile, options.listen))
    return 0


async def _run(access: Access, profile: Profile, listen: str) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(access, connections=_CONNECTIONS))
        events = EventRecorder(await stack.enter_async_context(Client(access, connections=_EVENT_CONNECTIONS)))
        controller = Controller(client, events, profile)
        address = await stack.enter_async_context(
            probes(listen, ready=lambda: controller.ready, metrics=controller.metrics)
        )
        _log.info("started", extra={"fields": {"profile": profile.name, "gang": profile.gang, "listens": address}})
        writing_events, reconciling = asyncio.create_task(events.run()), asyncio.create_task(controller.run())
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait({reconciling, waiting}, return_when=asyncio.FIRST_COMPLETED)
        reconciling.cancel()
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reconciling
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(events.drain(), _DRAIN_SECONDS)
        writing_events.cancel()


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scheduler.operator", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--gang", choices=sorted(DIALECTS), default="none", help="API of the PodGroups of gangs")
    parser.add_argument(
        "--profile",
        choices=sorted(PROFILES),
        default="training-operator",
        help="how lost replicas are handled",
    )
    parser.add_argument("--scheduler-name", default="", help="schedulerName of pods whose template sets none")
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="/healthz, /readyz, /metrics")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
