"""What pods and jobs are called in a picture: as the scenario calls them, where the API had to make up a name.

Which pods belong together is read from the labels and annotations that schedulers and operators put on them: a picture
must not depend on a dialect, it is also made when the dialect is what is broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.report.plain_text import one_line

LONGEST_NAME = 40
_GROUPS = ("scheduling.k8s.io/group-name", "pod-group.scheduling.sigs.k8s.io", "scheduling.x-k8s.io/pod-group")
_JOBS = ("training.kubeflow.org/job-name", "job-name")


class Names:
    """The names of one history's pods, and the colour that each job has."""

    def __init__(self, history: History, pods: Sequence[PodLife]) -> None:
        self._called = {made: called for called, made in history.known_as.items()}
        self.job_of = {life.uid: job_of(life) for life in pods}
        self.sizes = Counter(self.job_of.values())
        self.colours = {job: number for number, job in enumerate(dict.fromkeys(self.job_of.values()))}

    def colour(self, life: PodLife) -> int:
        return self.colours[self.job_of[life.uid]]

    def pod(self, life: PodLife) -> str:
        """A pod of job-x7k2p, which the scenario calls A, is A-worker-0 here; its tooltip has the whole name."""
        job = self.job_of[life.uid]
        own = life.name.removeprefix(job) if job in self._called else ""
        return one_line(f"{self._called[job]}{own}" if own else life.name, LONGEST_NAME)

    def job(self, job: str) -> str:
        """As the scenario calls it, its own name behind that."""
        return one_line(f"{self._called[job]} ({job})" if job in self._called else job, LONGEST_NAME)


def job_of(life: PodLife) -> str:
    """The gang or the job that a pod belongs to, or the pod itself."""
    words = {**life.pod.metadata.annotations, **life.pod.metadata.labels}
    return next((words[key] for key in (*_GROUPS, *_JOBS) if words.get(key)), life.name)
