"""Take part in the leader election beside the main event loop; a process that loses the lease ends at once.

Ending is kube-scheduler's rule, too: nothing that was decided or assumed under the lost lease survives. The write
deadline covers the time until the process has ended.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import NoReturn

from scheduler.client import Access, Client, WriteDeadline
from scheduler.runtime.background_loop import BackgroundLoop
from scheduler.runtime.leader_election import Elector, LeaderElection

_LOST = 1  # exit code, as kube-scheduler's

_log = logging.getLogger(__name__)


class Leadership:
    """`elected` is set in the main loop once this process holds the lease. It must keep the write deadline."""

    def __init__(self, settings: LeaderElection) -> None:
        self.settings = settings
        self.write_deadline: WriteDeadline = settings.new_write_deadline()
        self.elected = asyncio.Event()
        self.identity = f"{socket.gethostname()}_{uuid.uuid4()}"  # as client-go's: unique to the process
        self.may_release = False  # nothing is in flight any more

    @property
    def is_expired(self) -> bool:
        return self.elected.is_set() and not self.write_deadline.is_ahead

    @asynccontextmanager
    async def participate(
        self, background: BackgroundLoop, access: Access, may_renew: Callable[[], bool]
    ) -> AsyncIterator[None]:
        """Run for election until the end of the block, then release the lease if `may_release`."""
        task = asyncio.create_task(background.call(self._run(access, may_renew, asyncio.get_running_loop())))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            if self.may_release:
                await background.call(self._release(access))

    async def _run(self, access: Access, may_renew: Callable[[], bool], main: asyncio.AbstractEventLoop) -> NoReturn:
        try:
            async with self._client(access) as client:
                elector = Elector(client, self.settings, self.identity, self.write_deadline, may_renew=may_renew)
                _log.info("candidate for the lease", extra={"fields": {"identity": self.identity}})
                await elector.acquire()
                _log.info("the lease was acquired")
                main.call_soon_threadsafe(self.elected.set)
                _log.error("the lease was lost: %s", await elector.hold())
        except Exception:  # a bug here must not leave a process that believes to be the leader
            _log.exception("leader election failed")
        os._exit(_LOST)

    async def _release(self, access: Access) -> None:
        async with self._client(access) as client:
            await Elector(client, self.settings, self.identity, self.write_deadline).release()

    def _client(self, access: Access) -> Client:
        """A request may fail and leave time for another before the deadline, as in kube-scheduler."""
        return Client(access, connections=1, attempts=1, seconds=self.settings.renew_deadline / 2)
