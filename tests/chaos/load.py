"""A mixed load: single pods and gangs, two queues with limits, three priorities; they come, end, go and come again.

Everything asks for GPUs and nothing else, and the pods of a job are alike: so the judge can tell by counting, and
without a scheduler's own code, who fits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from muster.chronicle.lifelines import PodLife
from muster.cluster.api import ApiRefused
from muster.cluster.resources import NODE, POD
from muster.stage.scene import Scene
from muster.subject.requests import GangRequest, NodeRequest, PodRequest, QueueRequest

NODES, GPUS = 4, 4
PRIORITIES = (10, 100, 1000)
_JOBS_AT_MOST = 14  # that are not over: more would only wait


@dataclass(frozen=True)
class Job:
    """Pods that are alike; a single pod is a job without a gang."""

    name: str
    size: int
    gpus: int  # of each pod
    priority: int
    queue: str = ""
    is_gang: bool = False
    minimum: int = 1
    leaves_whole: bool = False

    @property
    def pods(self) -> tuple[str, ...]:
        return tuple(f"{self.name}-{number}" for number in range(self.size))


class Load:
    """Seeded. `stir` does a few things at once; which pods they meet depends on how the cluster stands."""

    def __init__(self, scene: Scene, chance: random.Random) -> None:
        self._scene, self._chance = scene, chance
        self.jobs: list[Job] = []
        self.shut: set[int] = set()  # nodes that take nobody
        suffix = scene.namespace.rpartition("-")[2]
        self.queues = {f"narrow-{suffix}": 5, f"wide-{suffix}": 8}

    def set_up(self) -> None:
        scene = self._scene
        scene.add_nodes(NodeRequest(f"chaos-{number}", gpus=GPUS) for number in range(NODES))
        for name, gpus in self.queues.items():
            scene.groups.add_queue(QueueRequest(name, gpus=gpus))

    def stir(self) -> None:
        for _ in range(self._chance.randint(2, 5)):
            deeds = [self._submit] * 4 + [self._end, self._remove, self._recreate, self._cordon]
            self._chance.choice(deeds)()

    def _submit(self) -> None:
        lives = [life for job in self.jobs for life in self.lives(job)]
        if len({life.name.rpartition("-")[0] for life in lives if not life.ended}) >= _JOBS_AT_MOST:
            self._remove()
            return
        job = self._job()
        self.jobs.append(job)
        if job.is_gang:
            asked = GangRequest(job.name, job.minimum, job.queue, priority=job.priority, leaves_whole=job.leaves_whole)
            self._scene.groups.submit(asked, [self._pod(job, name) for name in job.pods])
        else:
            self._scene.submit(*(self._pod(job, name) for name in job.pods))

    def _job(self) -> Job:
        chance, name = self._chance, f"job-{len(self.jobs)}"
        queue = chance.choice(["", *self.queues])
        priority, gpus = chance.choice(PRIORITIES), chance.choice((1, 1, 2))
        if chance.random() < 0.4:
            return Job(name, 1, chance.choice((1, 2, 4)), priority, queue)
        size = chance.randint(2, 6)
        minimum = size if chance.random() < 0.7 else chance.randint(2, size)
        return Job(name, size, gpus, priority, queue, True, minimum, leaves_whole=chance.random() < 0.2)

    def _pod(self, job: Job, name: str) -> PodRequest:
        if job.is_gang:
            return PodRequest(name, job.gpus, job.priority, gang=job.name)
        return PodRequest(name, job.gpus, job.priority, queue=job.queue)

    def _end(self) -> None:
        """The processes of one pod come to a good end."""
        if life := self._pick(lambda life: life.running is not None and not life.deleting and not life.ended):
            mark = {"metadata": {"annotations": {"muster.dev/exit-code": "0"}}}
            try:
                self._scene.api.patch(POD, life.name, mark, namespace=life.namespace)
            except ApiRefused as refusal:
                if refusal.status != 404:  # sent away a moment ago, and not heard of yet
                    raise

    def _remove(self) -> None:
        """An owner deletes a pod, or a whole job."""
        life = self._pick(lambda life: not life.deleting)
        if life is None:
            return
        names = [life.name]
        if self._chance.random() < 0.5:
            names = [pod for job in self.jobs if life.name in job.pods for pod in job.pods]
        for name in names:
            self._scene.api.delete(POD, name, life.namespace)

    def _recreate(self) -> None:
        """A controller makes a pod anew that has gone."""
        gone = [(job, name) for job in self.jobs for name in job.pods if self._is_gone(name)]
        if not gone:
            return
        job, name = self._chance.choice(gone)
        try:
            self._scene.submit(self._pod(job, name))
        except ApiRefused as refusal:
            if refusal.reason != "AlreadyExists":  # made anew a moment ago, and not heard of yet
                raise

    def _cordon(self) -> None:
        """A node takes nobody from now on, or again."""
        node = self._chance.randrange(NODES)
        self.shut ^= {node}
        self._scene.api.patch(NODE, f"chaos-{node}", {"spec": {"unschedulable": node in self.shut or None}})

    def lives(self, job: Job) -> list[PodLife]:
        """The pods of the job that exist."""
        history = self._scene.chronicle.history
        with history.changed:
            found = [history.pod(name) for name in job.pods]
        return [life for life in found if life and not life.gone]

    def _is_gone(self, name: str) -> bool:
        life = self._scene.chronicle.history.pod(name)
        return life is not None and life.gone is not None

    def _pick(self, fits: Callable[[PodLife], bool]) -> PodLife | None:
        lives = [life for job in self.jobs for life in self.lives(job) if fits(life)]
        return self._chance.choice(lives) if lives else None
