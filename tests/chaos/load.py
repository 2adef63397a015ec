"""A random load: single pods and gangs in two queues, with three priorities; created, ended, deleted, re-created.

All pods request only GPUs, and the pods of a job are identical: so the final state can be checked by counting.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from muster.cluster.api import ApiRefused
from muster.cluster.resources import NODE, POD
from muster.environment.scenario import ScenarioContext
from muster.recording.pod_history import PodHistory
from muster.schedulers.requests import GangRequest, NodeRequest, PodRequest, QueueRequest

NODES, GPUS = 4, 4
PRIORITIES = (10, 100, 1000)
_MAX_JOBS = 14  # unfinished: more would only stay pending


@dataclass(frozen=True)
class Job:
    """Identical pods; a single pod is a job without a gang."""

    name: str
    size: int
    gpus: int  # of each pod
    priority: int
    queue: str = ""
    is_gang: bool = False
    min_member: int = 1
    disruption_mode_all: bool = False

    @property
    def pods(self) -> tuple[str, ...]:
        return tuple(f"{self.name}-{number}" for number in range(self.size))


class Load:
    """Seeded. Which pods `apply_random_changes` affects depends on the state of the cluster."""

    def __init__(self, scenario: ScenarioContext, rng: random.Random) -> None:
        self._scenario, self._rng = scenario, rng
        self.jobs: list[Job] = []
        self.cordoned: set[int] = set()  # nodes
        suffix = scenario.namespace.rpartition("-")[2]
        self.queues = {f"narrow-{suffix}": 5, f"wide-{suffix}": 8}

    def set_up(self) -> None:
        scenario = self._scenario
        scenario.add_nodes(NodeRequest(f"chaos-{number}", gpus=GPUS) for number in range(NODES))
        for name, gpus in self.queues.items():
            scenario.groups.add_queue(QueueRequest(name, gpus=gpus))

    def apply_random_changes(self) -> None:
        for _ in range(self._rng.randint(2, 5)):
            changes = [self._submit] * 4 + [self._end, self._remove, self._recreate, self._cordon]
            self._rng.choice(changes)()

    def _submit(self) -> None:
        pods = [pod for job in self.jobs for pod in self.pods(job)]
        if len({pod.name.rpartition("-")[0] for pod in pods if not pod.ended}) >= _MAX_JOBS:
            self._remove()
            return
        job = self._job()
        self.jobs.append(job)
        if job.is_gang:
            request = GangRequest(
                job.name, job.min_member, job.queue, priority=job.priority, disruption_mode_all=job.disruption_mode_all
            )
            self._scenario.groups.submit(request, [self._pod(job, name) for name in job.pods])
        else:
            self._scenario.submit(*(self._pod(job, name) for name in job.pods))

    def _job(self) -> Job:
        rng, name = self._rng, f"job-{len(self.jobs)}"
        queue = rng.choice(["", *self.queues])
        priority, gpus = rng.choice(PRIORITIES), rng.choice((1, 1, 2))
        if rng.random() < 0.4:
            return Job(name, 1, rng.choice((1, 2, 4)), priority, queue)
        size = rng.randint(2, 6)
        min_member = size if rng.random() < 0.7 else rng.randint(2, size)
        return Job(name, size, gpus, priority, queue, True, min_member, disruption_mode_all=rng.random() < 0.2)

    def _pod(self, job: Job, name: str) -> PodRequest:
        if job.is_gang:
            return PodRequest(name, job.gpus, job.priority, gang=job.name)
        return PodRequest(name, job.gpus, job.priority, queue=job.queue)

    def _end(self) -> None:
        """The containers of one pod exit with 0."""
        if pod := self._pick(lambda pod: pod.running is not None and not pod.deleting and not pod.ended):
            patch = {"metadata": {"annotations": {"muster.dev/exit-code": "0"}}}
            try:
                self._scenario.api.patch(POD, pod.name, patch, namespace=pod.namespace)
            except ApiRefused as error:
                if error.status != 404:  # evicted, and not yet recorded
                    raise

    def _remove(self) -> None:
        """A user deletes a pod, or a whole job."""
        pod = self._pick(lambda pod: not pod.deleting)
        if pod is None:
            return
        names = [pod.name]
        if self._rng.random() < 0.5:
            names = [name for job in self.jobs if pod.name in job.pods for name in job.pods]
        for name in names:
            self._scenario.api.delete(POD, name, pod.namespace)

    def _recreate(self) -> None:
        """A controller re-creates a deleted pod."""
        gone = [(job, name) for job in self.jobs for name in job.pods if self._is_gone(name)]
        if not gone:
            return
        job, name = self._rng.choice(gone)
        try:
            self._scenario.submit(self._pod(job, name))
        except ApiRefused as error:
            if error.reason != "AlreadyExists":  # re-created, and not yet recorded
                raise

    def _cordon(self) -> None:
        """Cordon or uncordon a node."""
        node = self._rng.randrange(NODES)
        self.cordoned ^= {node}
        self._scenario.api.patch(NODE, f"chaos-{node}", {"spec": {"unschedulable": node in self.cordoned or None}})

    def pods(self, job: Job) -> list[PodHistory]:
        """The pods of the job that exist."""
        history = self._scenario.recording.history
        with history.changed:
            found = [history.pod(name) for name in job.pods]
        return [pod for pod in found if pod and not pod.gone]

    def _is_gone(self, name: str) -> bool:
        pod = self._scenario.recording.history.pod(name)
        return pod is not None and pod.gone is not None

    def _pick(self, fits: Callable[[PodHistory], bool]) -> PodHistory | None:
        pods = [pod for job in self.jobs for pod in self.pods(job) if fits(pod)]
        return self._rng.choice(pods) if pods else None
