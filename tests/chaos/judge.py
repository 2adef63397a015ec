"""How things must stand when all is quiet, whatever came before: judged by counting GPUs, not by a scheduler's word.

At rest nobody is leaving, so nobody has a reason to hold room for later. Whoever waits then waits because its share or
the nodes have no room for it, not even without those who are less important than it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Thing
from muster.chronicle.quantities import GPU
from muster.chronicle.questions import Answer, Question, Verdict
from tests.chaos.load import GPUS, NODES, Job

RELEASED = "ReleasedByScheduler"


@dataclass(frozen=True)
class Standing:
    """Who has a node and who waits, at the newest moment of the history."""

    jobs: Sequence[Job]
    limits: Mapping[str, int]  # GPUs, by queue
    shut: Collection[int]  # nodes that take nobody
    bound: Mapping[str, list[PodLife]]  # by job, those that hold room
    ended: Mapping[str, list[PodLife]]
    waiting: Mapping[str, list[PodLife]]
    leaving: list[str]
    started: frozenset[str]  # gangs whose group says that they run

    def free(self, node: int, without: Sequence[Job] = ()) -> int:
        """GPUs of a node that nobody holds; jobs may be thought away."""
        held = [
            job.gpus
            for job in self.jobs
            if job not in without
            for life in self.bound[job.name]
            if life.node == f"chaos-{node}"
        ]
        return GPUS - sum(held)

    def share_left(self, queue: str, without: Sequence[Job] = ()) -> int:
        used = sum(
            job.gpus * len(self.bound[job.name]) for job in self.jobs if job.queue == queue and job not in without
        )
        return self.limits[queue] - used if queue in self.limits else NODES * GPUS

    def has_room(self, job: Job, count: int, without: Sequence[Job] = ()) -> bool:
        places = sum(self.free(node, without) // job.gpus for node in range(NODES) if node not in self.shut)
        return places >= count and self.share_left(job.queue, without) >= count * job.gpus


def standing(history: History, jobs: Sequence[Job], limits: Mapping[str, int], shut: Collection[int] = ()) -> Standing:
    bound: dict[str, list[PodLife]] = {}
    ended: dict[str, list[PodLife]] = {}
    waiting: dict[str, list[PodLife]] = {}
    leaving: list[str] = []
    for job in jobs:
        lives = [life for name in job.pods if (life := history.pod(name)) and not life.gone]
        leaving += [life.name for life in lives if life.deleting]
        bound[job.name] = [life for life in lives if life.bound and not life.ended]
        ended[job.name] = [life for life in lives if life.ended]
        waiting[job.name] = [life for life in lives if not life.bound]
    started = frozenset(job.name for job in jobs if job.is_gang and _phase(history, job.name) == "Running")
    return Standing(jobs, limits, shut, bound, ended, waiting, leaving, started)


def at_rest(jobs: Sequence[Job], limits: Mapping[str, int], shut: Collection[int] = ()) -> Question:
    """Open while something is wrong: only what stays wrong is a violation."""

    def ask(history: History) -> Answer:
        now = standing(history, jobs, limits, shut)
        if now.leaving:
            return Answer(Verdict.OPEN, f"still leaving: {', '.join(now.leaving)}")
        wrong = [*_partial(history, now), *_lost(now), *_stale(now)]
        return Answer(Verdict.OPEN if wrong else Verdict.YES, "; ".join(wrong))

    return Question("nobody partial, nobody lost, no stale promise", ask)


def _partial(history: History, now: Standing) -> list[str]:
    """Gangs with somebody on a node that have never had their minimum there at one time."""
    return [
        f"{job.name} has {len(now.bound[job.name])} pods on nodes and never had its minimum of {job.minimum}"
        for job in now.jobs
        if job.is_gang and now.bound[job.name] and most_at_once(history, job) < job.minimum
    ]


def parted(history: History, jobs: Sequence[Job]) -> int:
    """How many gangs are in part on nodes right now, and were never whole."""
    with history.changed:
        return len(_partial(history, standing(history, jobs, {})))


def most_at_once(history: History, job: Job) -> int:
    """How many pods had a node at one time; one that came to its end counts until it is deleted."""
    lives = [life for life in history.pods if life.name in job.pods and life.bound]
    return max(
        (sum(1 for one in lives if one.bound and one.bound <= life.bound and not _left_by(one, life)) for life in lives
         if life.bound),
        default=0,
    )  # fmt: skip


def _left_by(one: PodLife, other: PodLife) -> bool:
    return bool(one.deleting and other.bound and one.deleting <= other.bound)


def _lost(now: Standing) -> list[str]:
    """Whoever waits although there is room, or although room could be made."""
    lost = []
    for job in now.jobs:
        count = _must_start(job, now)
        if not count:
            continue
        if now.has_room(job, count):
            lost.append(f"{count} pods of {job.name} wait although there is room")
            continue
        less = [other for other in now.jobs if other.queue == job.queue and other.priority < job.priority]
        if now.has_room(job, count, without=less):
            lost.append(f"{count} pods of {job.name} wait although those who are less important could go")
    return lost


def _must_start(job: Job, now: Standing) -> int:
    """How many pods have to start at once for one more to start; none when nobody waits who could."""
    waiting, bound, ended = (len(by_job[job.name]) for by_job in (now.waiting, now.bound, now.ended))
    succeeded = any(life.pod.status.phase == "Succeeded" for life in now.ended[job.name])
    if not waiting:
        return 0
    has_begun = bound >= job.minimum or (bound and bound + ended >= job.minimum)
    if not job.is_gang or has_begun or (job.name in now.started and (bound or succeeded)):
        return 1
    missing = job.minimum - bound
    return missing if waiting >= missing else 0


def _stale(now: Standing) -> list[str]:
    """Nobody leaves any more, so nothing is promised any more."""
    return [
        f"{life.name} waits with a nomination to {life.pod.status.nominated_node_name}"
        for lives in now.waiting.values()
        for life in lives
        if life.pod.status.nominated_node_name
    ]


def no_share_is_exceeded(history: History, jobs: Sequence[Job], limits: Mapping[str, int]) -> list[str]:
    """At no binding did a queue's work hold more than its limit."""
    broken = []
    for queue, limit in limits.items():
        names = {name for job in jobs if job.queue == queue for name in job.pods}
        lives = [life for life in history.pods if life.name in names]
        for life in lives:
            held = sum(one.asks.get(GPU, 0) for one in lives if life.bound and one.holds_room_at(life.bound))
            if held > 1000 * limit:
                broken.append(f"{life.name} was bound, and {queue} then held {held // 1000} of {limit} GPUs")
    return broken


def nobody_was_sent_back_in_vain(history: History, jobs: Sequence[Job]) -> list[str]:
    """Only a gang that had not started gives its room back."""
    gang_of = {name: job.name for job in jobs if job.is_gang for name in job.pods}
    broken = []
    for life in history.pods:
        if life.mark and life.marked and life.mark.reason == RELEASED:
            said = [
                record.object.status.get("phase")
                for record in history.thing("PodGroup", gang_of[life.name])
                if record.moment < life.marked and isinstance(record.object, Thing)
            ]
            if said and said[-1] == "Running":
                broken.append(f"{life.name} was released although its gang {gang_of[life.name]} was running")
    return broken


def _phase(history: History, gang: str) -> str:
    newest = history.thing("PodGroup", gang)[-1:]
    return next((str(one.object.status.get("phase", "")) for one in newest if isinstance(one.object, Thing)), "")
