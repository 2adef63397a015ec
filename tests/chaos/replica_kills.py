"""SIGKILLs of the active one of two replicas, under the load of the other kill tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import yaml

from muster.assertions.invariants import Invariant, no_node_overcommitted
from muster.assertions.preemption_invariants import no_victim_has_equal_or_higher_priority
from muster.cluster.api import Api, ApiRefused
from muster.environment.environment import Environment
from muster.processes import Process
from muster.schedulers.reference import Reference
from tests.chaos.kills import KillLoop

LEASE = {"leaseDuration": "2s", "renewDeadline": "1600ms", "retryPeriod": "400ms"}
_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/muster-scheduler"
_TAKE_OVER_SECONDS = 60.0  # generous: the machine may be busy
_LOOK = 0.05  # seconds
_LOST = 1  # exit code


class TwoReplicas(Reference):
    """Two processes with a lease, each with a directory and a log of its own."""

    started = 0
    losses = 0  # of the lease, without a kill

    def _prepare(self) -> list[Process]:
        return [self._replica(), self._replica()]

    def _replica(self) -> Process:
        self.started += 1
        context, directory = self.context, self.context.directory / f"replica-{self.started}"
        directory.mkdir()
        self.context = replace(context, directory=directory)
        try:
            (process,) = super()._prepare()
        finally:
            self.context = context
        config = directory / "reference.yaml"
        config.write_text(config.read_text() + yaml.safe_dump({"leaderElection": LEASE}))
        return process

    def start_another(self) -> None:
        """In place of those that have ended."""
        for process in self.processes:
            if not process.alive:
                process.kill()  # closes its descriptors
        self.processes = [process for process in self.processes if process.alive] + [self._replica()]
        self.processes[-1].start()

    def check(self) -> None:
        """One that was too slow to renew its lease has ended, as it should; a kubelet would start it again."""
        if any(process.exit_code == _LOST for process in self.processes):
            TwoReplicas.losses += 1
            self.start_another()
        super().check()

    def active(self, api: Api) -> Process | None:
        """The process that holds the lease and has listed everything; None while there is none."""
        try:
            holder = json.loads(api.read(_PATH))["spec"].get("holderIdentity")
        except ApiRefused as refusal:
            if refusal.status != 404:
                raise
            return None
        for process in self.processes:
            lines = _lines(process.log)
            if any(line.get("identity") == holder for line in lines) and process.alive:
                return process if any(line["message"] == "leading" for line in lines) else None
        return None

    @property
    def logs(self) -> list[Path]:
        return [self.context.directory / f"replica-{number}" / "reference.log" for number in range(1, self.started + 1)]


def use_two_replicas(environment: Environment) -> TwoReplicas:
    """Replace the scheduler of a started environment."""
    environment.scheduler.stop()
    replicas = TwoReplicas(environment.scheduler.configuration, environment.scheduler.context)
    environment.scheduler = replicas
    replicas.start()
    return replicas


class ReplicaKillLoop(KillLoop):
    """`take_overs` are the seconds from each kill until the other has listed everything.

    The load goes on while there is no leader: the preemptor of a victim may find its node cordoned, or its queue full
    with pods of a higher priority. So an eviction in vain is no error here.
    """

    invariants: ClassVar[tuple[Invariant, ...]] = (no_node_overcommitted, no_victim_has_equal_or_higher_priority)
    check_every: ClassVar[int] = 8
    max_wait: ClassVar[float] = 1.5

    def __init__(self, environment: Environment, seed: int, log: Callable[[str], None]) -> None:
        assert isinstance(environment.scheduler, TwoReplicas)
        self._replicas = environment.scheduler
        self.take_overs: list[float] = []
        self._killed_at = 0.0
        super().__init__(environment, seed, log)

    def _await_kill_time(self) -> None:
        active = self._await_active()
        if self._killed_at and active.alive:
            self.take_overs.append(time.monotonic() - self._killed_at)
        if "tests.chaos.crash_at_write" in active.argv:
            active.wait(self.max_wait)
        else:
            self._await_changes()

    def _await_active(self) -> Process:
        """The active replica, or one that has crashed at a write already."""
        deadline = time.monotonic() + _TAKE_OVER_SECONDS
        while (active := self._replicas.active(self._scenario.api)) is None:
            if killed := [process for process in self._replicas.processes if process.was_killed]:
                return killed[0]
            self._replicas.check()
            assert time.monotonic() < deadline, "no replica has taken over"
            time.sleep(_LOOK)
        return active

    def _kill(self) -> None:
        self._await_active().kill()
        self._killed_at = time.monotonic()

    def _may_crash(self, number: int) -> bool:
        """One that is started now is the active one after the next kill: its crash is the kill after that."""
        return number % 4 == 1

    def _restart(self, *, will_crash: bool) -> None:
        if will_crash:
            with self._crashing():
                self._replicas.start_another()
        else:
            self._replicas.start_another()

    def _log_files(self) -> list[Path]:
        return self._replicas.logs


def _lines(log: Path) -> Sequence[dict[str, str]]:
    found = []
    for line in log.read_text().splitlines() if log.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:  # being written
            continue
    return [line for line in found if isinstance(line, dict) and "message" in line]
