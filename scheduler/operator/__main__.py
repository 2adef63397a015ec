"""`python -m scheduler.operator`: reconcile PyTorchJobs and MPIJobs until stopped.

Of several instances on one cluster all must have --leader-elect.
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
from scheduler.runtime.background_loop import BackgroundLoop
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.leader_election import LeaderElection
from scheduler.runtime.replica import Addresses, Replica, is_address

_USAGE = 64
_ALL_JOBS, _DECLARED_JOBS = "all", "scheduling-policy"
_LEASE = "muster-operator"
_DRAIN_SECONDS = 5.0
_CONNECTIONS, _EVENT_CONNECTIONS = 32, 1  # events may be delayed

_log = logging.getLogger("scheduler.operator")


def main(argv: Sequence[str] | None = None) -> int:
    options = parse(argv)
    logs.to_stderr()
    profile = profile_of(options)
    for flag, address in (("--listen", options.listen), ("--metrics-listen", options.metrics_listen)):
        if not is_address(address):
            _log.error("%s: %r is not HOST:PORT", flag, address)
            return _USAGE
    try:
        access = Access.from_kubeconfig(options.kubeconfig) if options.kubeconfig else Access.from_pod()
    except AccessError as error:
        _log.error("%s", error)
        return _USAGE
    addresses = Addresses(options.listen, options.metrics_listen)
    with BackgroundLoop() as background:
        asyncio.run(
            _run(access, profile, background, addresses, LeaderElection(_LEASE) if options.leader_elect else None)
        )
    return 0


async def _run(
    access: Access, profile: Profile, background: BackgroundLoop, addresses: Addresses, election: LeaderElection | None
) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    replica = Replica(background, election)
    write_deadline, elected = replica.write_deadline, replica.leadership.elected if replica.leadership else None
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            Client(access, connections=_CONNECTIONS, write_deadline=write_deadline, user_agent=_LEASE)
        )
        events_client = Client(access, connections=_EVENT_CONNECTIONS, write_deadline=write_deadline, user_agent=_LEASE)
        events = EventRecorder(await stack.enter_async_context(events_client))
        controller = Controller(client, events, profile)
        serving = replica.serving(addresses, ready=lambda: controller.ready, numbers=controller.metrics)
        await stack.enter_async_context(serving)
        await stack.enter_async_context(replica.participating(access))
        _log.info("started", extra={"fields": {"profile": profile.name, "gang": profile.gang}})
        writing_events, reconciling = asyncio.create_task(events.run()), asyncio.create_task(controller.run(elected))
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait({reconciling, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if not reconciling.done() and await _drain(controller, events) and replica.leadership:
            replica.leadership.may_release = True
        reconciling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reconciling
        writing_events.cancel()


async def _drain(controller: Controller, events: EventRecorder) -> bool:
    """Finish what is being written; whether all of it is."""
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            await controller.queue.close()
            await events.drain()
    except TimeoutError:
        _log.warning("stopped before all writes were done")
        return False
    return True


def profile_of(options: argparse.Namespace) -> Profile:
    return dataclasses.replace(
        PROFILES[options.profile],
        gang=options.gang,
        scheduler_name=options.scheduler_name,
        gang_all_jobs=options.gang_jobs == _ALL_JOBS,
        kubectl_image=options.mpi_kubectl_delivery_image,
    )


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scheduler.operator", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, help="default: the service account of the pod that this runs in")
    parser.add_argument("--gang", choices=sorted(DIALECTS), default="none", help="API of the PodGroups of gangs")
    parser.add_argument(
        "--gang-jobs",
        choices=(_ALL_JOBS, _DECLARED_JOBS),
        default=_ALL_JOBS,
        help="with --gang: which jobs are gangs, all or those with a schedulingPolicy",
    )
    parser.add_argument(
        "--profile",
        choices=sorted(PROFILES),
        default="training-operator",
        help="how lost replicas are handled",
    )
    parser.add_argument("--scheduler-name", default="", help="schedulerName of pods whose template sets none")
    parser.add_argument(
        "--mpi-kubectl-delivery-image",
        default="",
        metavar="IMAGE",
        help="give launchers of MPIJob v1 kubectl by an init container of this image, and a service account for it",
    )
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT", help="/healthz, /livez, /readyz")
    parser.add_argument("--metrics-listen", default="127.0.0.1:0", metavar="HOST:PORT", help="/metrics")
    parser.add_argument("--leader-elect", action="store_true", help="act only while holding a Lease")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
