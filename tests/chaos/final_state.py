"""The state that the cluster must reach when nothing changes any more, checked by counting GPUs.

No pod is terminating then, so there is no reason for a nomination. A pod is pending only if it exceeds its queue's
quota or does not fit, even without the lower-priority pods of its queue. No code is shared with the scheduler.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from muster.recording.history import History
from muster.recording.objects import CustomObject
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import GPU
from muster.recording.questions import Answer, Outcome, Question
from tests.chaos.load import GPUS, NODES, Job

RELEASED = "ReleasedByScheduler"


@dataclass(frozen=True)
class FinalState:
    """Bound, ended and pending pods at the end of the history."""

    jobs: Sequence[Job]
    limits: Mapping[str, int]  # GPUs, by queue
    cordoned: Collection[int]  # nodes
    bound: Mapping[str, list[PodHistory]]  # by job, those that use resources
    ended: Mapping[str, list[PodHistory]]
    pending: Mapping[str, list[PodHistory]]
    terminating: list[str]
    started: frozenset[str]  # gangs whose PodGroup has the phase Running

    def free(self, node: int, without: Sequence[Job] = ()) -> int:
        """Free GPUs of a node; jobs in `without` count as evicted."""
        held = [
            job.gpus
            for job in self.jobs
            if job not in without
            for pod in self.bound[job.name]
            if pod.node == f"chaos-{node}"
        ]
        return GPUS - sum(held)

    def quota_left(self, queue: str, without: Sequence[Job] = ()) -> int:
        used = sum(
            job.gpus * len(self.bound[job.name]) for job in self.jobs if job.queue == queue and job not in without
        )
        return self.limits[queue] - used if queue in self.limits else NODES * GPUS

    def fits(self, job: Job, count: int, without: Sequence[Job] = ()) -> bool:
        slots = sum(self.free(node, without) // job.gpus for node in range(NODES) if node not in self.cordoned)
        return slots >= count and self.quota_left(job.queue, without) >= count * job.gpus


def read_final_state(
    history: History, jobs: Sequence[Job], limits: Mapping[str, int], cordoned: Collection[int] = ()
) -> FinalState:
    bound: dict[str, list[PodHistory]] = {}
    ended: dict[str, list[PodHistory]] = {}
    pending: dict[str, list[PodHistory]] = {}
    terminating: list[str] = []
    for job in jobs:
        pods = [pod for name in job.pods if (pod := history.pod(name)) and not pod.gone]
        terminating += [pod.name for pod in pods if pod.deleting]
        bound[job.name] = [pod for pod in pods if pod.bound and not pod.ended]
        ended[job.name] = [pod for pod in pods if pod.ended]
        pending[job.name] = [pod for pod in pods if not pod.bound]
    started = frozenset(job.name for job in jobs if job.is_gang and _phase(history, job.name) == "Running")
    return FinalState(jobs, limits, cordoned, bound, ended, pending, terminating, started)


def is_stable(jobs: Sequence[Job], limits: Mapping[str, int], cordoned: Collection[int] = ()) -> Question:
    """PENDING while there are problems: only those that persist are violations."""

    def ask(history: History) -> Answer:
        now = read_final_state(history, jobs, limits, cordoned)
        if now.terminating:
            return Answer(Outcome.PENDING, f"still terminating: {', '.join(now.terminating)}")
        problems = [*_partial(history, now), *_starving(now), *_stale_nominations(now)]
        return Answer(Outcome.PENDING if problems else Outcome.TRUE, "; ".join(problems))

    return Question("no partially bound gang, no starving pod, no stale nomination", ask)


def _partial(history: History, now: FinalState) -> list[str]:
    """Gangs with bound pods that never had minMember pods bound at one time."""
    return [
        f"{job.name} has {len(now.bound[job.name])} bound pods and never reached its minMember of {job.min_member}"
        for job in now.jobs
        if job.is_gang and now.bound[job.name] and max_bound_at_once(history, job) < job.min_member
    ]


def partially_bound(history: History, jobs: Sequence[Job]) -> int:
    """The number of gangs that are partially bound now."""
    with history.changed:
        return len(_partial(history, read_final_state(history, jobs, {})))


def max_bound_at_once(history: History, job: Job) -> int:
    """The largest number of pods bound at one time; an ended pod counts until it is deleted."""
    pods = [pod for pod in history.pods if pod.name in job.pods and pod.bound]
    return max(
        (sum(1 for one in pods if one.bound and one.bound <= pod.bound and not _gone_before(one, pod)) for pod in pods
         if pod.bound),
        default=0,
    )  # fmt: skip


def _gone_before(one: PodHistory, other: PodHistory) -> bool:
    return bool(one.deleting and other.bound and one.deleting <= other.bound)


def _starving(now: FinalState) -> list[str]:
    """Pending pods that fit, or that could preempt."""
    starving = []
    for job in now.jobs:
        count = _required_pods(job, now)
        if not count:
            continue
        if now.fits(job, count):
            starving.append(f"{count} pods of {job.name} are pending although they fit")
            continue
        lower_priority = [other for other in now.jobs if other.queue == job.queue and other.priority < job.priority]
        if now.fits(job, count, without=lower_priority):
            starving.append(f"{count} pods of {job.name} are pending although they could preempt lower-priority pods")
    return starving


def _required_pods(job: Job, now: FinalState) -> int:
    """How many pods must start at once for one more to start; 0 when no pod can."""
    pending, bound, ended = (len(by_job[job.name]) for by_job in (now.pending, now.bound, now.ended))
    succeeded = any(pod.latest.status.phase == "Succeeded" for pod in now.ended[job.name])
    if not pending:
        return 0
    has_started = bound >= job.min_member or (bound and bound + ended >= job.min_member)
    if not job.is_gang or has_started or (job.name in now.started and (bound or succeeded)):
        return 1
    missing = job.min_member - bound
    return missing if pending >= missing else 0


def _stale_nominations(now: FinalState) -> list[str]:
    """Nominations that remain although no pod is terminating."""
    return [
        f"{pod.name} is pending with a nomination to {pod.latest.status.nominated_node_name}"
        for pods in now.pending.values()
        for pod in pods
        if pod.latest.status.nominated_node_name
    ]


def capability_violations(history: History, jobs: Sequence[Job], limits: Mapping[str, int]) -> list[str]:
    """Bindings after which a queue exceeded its capability."""
    broken = []
    for queue, limit in limits.items():
        names = {name for job in jobs if job.queue == queue for name in job.pods}
        pods = [pod for pod in history.pods if pod.name in names]
        for pod in pods:
            held = sum(one.requests.get(GPU, 0) for one in pods if pod.bound and one.holds_resources_at(pod.bound))
            if held > 1000 * limit:
                broken.append(f"{pod.name} was bound, and {queue} then used {held // 1000} of {limit} GPUs")
    return broken


def unjustified_releases(history: History, jobs: Sequence[Job]) -> list[str]:
    """Released pods of gangs that had started."""
    gang_of = {name: job.name for job in jobs if job.is_gang for name in job.pods}
    broken = []
    for pod in history.pods:
        if pod.disruption and pod.disrupted and pod.disruption.reason == RELEASED:
            phases = [
                record.object.status.get("phase")
                for record in history.custom_objects("PodGroup", gang_of[pod.name])
                if record.moment < pod.disrupted and isinstance(record.object, CustomObject)
            ]
            if phases and phases[-1] == "Running":
                broken.append(f"{pod.name} was released although its gang {gang_of[pod.name]} was running")
    return broken


def _phase(history: History, gang: str) -> str:
    newest = history.custom_objects("PodGroup", gang)[-1:]
    return next((str(one.object.status.get("phase", "")) for one in newest if isinstance(one.object, CustomObject)), "")
