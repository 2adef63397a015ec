"""Why a scheduler does not claim a capability, and by which text: the other half of the claims.

By the name of the scheduler, or by name and configuration. A capability that is neither claimed nor here is a mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Absence(NamedTuple):
    """What the source says instead of promising the capability."""

    because: str
    source: str


_KUBERNETES = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
_PLUGINS = "https://github.com/kubernetes-sigs/scheduler-plugins/blob/v0.34.7/"
_VOLCANO = "https://volcano.sh/en/docs/"
_KOORDINATOR = "https://koordinator.sh/docs/"
_YUNIKORN = "https://yunikorn.apache.org/docs/1.8.0/"
_KUEUE = "https://kueue.sigs.k8s.io/docs/"
_KAI = "https://github.com/NVIDIA/KAI-Scheduler/tree/v0.12.0/"
_NO_QUEUES = Absence(
    "pods wait in the order of their priority, and a ResourceQuota limits what may be created, not what is scheduled",
    "https://kubernetes.io/docs/concepts/policy/resource-quotas/",
)
_OPERATORS_MATTER = Absence(
    "the behaviours of jobs are about the operator, which makes no gangs for this scheduler",
    "docs/reference-operator.md",
)
_OTHERS_WALKTHROUGHS = Absence("the walk-throughs are Arena's, Volcano's and Koordinator's", "features/walkthroughs")
_ACTIONS = Absence("the default actions are enqueue, allocate and backfill", f"{_VOLCANO}actions/")
_BETWEEN_QUEUES = Absence(
    "it preempts between queues, for a guaranteed amount, and never by priority alone", f"{_YUNIKORN}design/preemption/"
)
_NEVER = Absence("the default of withinClusterQueue is Never", f"{_KUEUE}concepts/cluster_queue/#preemption")
_OFF = Absence("job-level preemption is off in this configuration", f"{_KOORDINATOR}user-manuals/job-level-preemption/")
_ANY_VICTIMS = Absence(
    "lower-priority pods are preempted, whatever their schedulerName is",
    "https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go",
)
_NOT_RUN = "its configuration keeps kube-scheduler's volume binding, so that the claim is due; it has not been run"

ABSENCES: Mapping[str, Mapping[str, Absence]] = {
    "reference": {
        "any-victims": Absence("it preempts pods of its own schedulerNames only", "docs/reference-scheduler.md"),
    },
    "reference:koordinator": {
        "queues": Absence("it reads no quota of Koordinator", "docs/reference-scheduler.md"),
    },
    "kube-scheduler": {
        "gangs": Absence("the feature gate GenericWorkload is off by default", f"{_KUBERNETES}gang-scheduling/"),
        "job-preemption": Absence(
            "the feature gate GenericWorkload is off by default", f"{_KUBERNETES}workload-aware-preemption/"
        ),
        "queues": _NO_QUEUES,
        "own-victims": _ANY_VICTIMS,
    },
    "kube-scheduler-gangs": {"queues": _NO_QUEUES, "own-victims": _ANY_VICTIMS},
    "scheduler-plugins": {
        "own-victims": _ANY_VICTIMS,
        "queues": Absence(
            "an ElasticQuota is about a namespace: a pod cannot choose another, and one without is not limited",
            f"{_PLUGINS}kep/9-capacity-scheduling/README.md",
        ),
        "job-preemption": Absence(
            "preemption is pod by pod, by its known limitations", f"{_PLUGINS}kep/42-podgroup-coscheduling/README.md"
        ),
        "jobs": _OPERATORS_MATTER,
        "volumes": Absence(_NOT_RUN, f"{_PLUGINS}manifests/coscheduling/scheduler-config.yaml"),
    },
    "volcano": {
        "preemption": _ACTIONS,
        "job-preemption": _ACTIONS,
        "own-victims": _ACTIONS,
        "any-victims": Absence(
            "a victim belongs to a job, and pods of other schedulers belong to none",
            "https://github.com/volcano-sh/volcano/blob/v1.14.1/pkg/scheduler/actions/preempt/preempt.go",
        ),
    },
    "koordinator": {
        "own-victims": Absence(
            "potential victims are selected by priority and labels, whatever their schedulerName is",
            "https://github.com/koordinator-sh/koordinator/blob/v1.8.0/pkg/scheduler/plugins/coscheduling/core/preemption.go",
        ),
        "queues": Absence(
            "an ElasticQuota limits pods one by one; queues of jobs are a proposal",
            "https://github.com/koordinator-sh/koordinator/tree/v1.8.0/docs/proposals/scheduling/20251209-support-job-queuing-and-managment",
        ),
    },
    "koordinator@1.7.0": {"volumes": Absence(_NOT_RUN, f"{_KOORDINATOR}architecture/overview/")},
    "koordinator:preemption-off": {
        "preemption": _OFF,
        "job-preemption": _OFF,
        "own-victims": _OFF,
        "any-victims": _OFF,
    },
    "yunikorn": {
        "preemption": _BETWEEN_QUEUES,
        "job-preemption": _BETWEEN_QUEUES,
        "own-victims": _BETWEEN_QUEUES,
        "any-victims": _BETWEEN_QUEUES,
        "affinity": Absence("all behaviours of affinity are about preemption as well", "docs/behaviours.md"),
        "jobs": _OPERATORS_MATTER,
        "documents": _OTHERS_WALKTHROUGHS,
        "volumes": Absence("no page of its documentation is about volumes", _YUNIKORN),
    },
    "kueue": {
        "preemption": _NEVER,
        "job-preemption": _NEVER,
        "own-victims": _NEVER,
        "any-victims": Absence("Workloads preempt Workloads, and no other pods", f"{_KUEUE}concepts/preemption/"),
        "affinity": Absence(
            "it preempts by quota and topology, and leaves other placement constraints to kube-scheduler",
            f"{_KUEUE}concepts/topology_aware_scheduling/",
        ),
        "jobs": _OPERATORS_MATTER,
        "documents": _OTHERS_WALKTHROUGHS,
    },
    "kai": {
        "any-victims": Absence(
            "a victim is a task of a job in its own PodGroups", f"{_KAI}pkg/scheduler/actions/preempt/preempt.go"
        ),
        "jobs": _OPERATORS_MATTER,
        "documents": _OTHERS_WALKTHROUGHS,
    },
}


def absence(scheduler: str, configuration: str, capability: str) -> Absence | None:
    """Why this configuration does not claim the capability; None: it does, or the reason is missing."""
    names = (scheduler, scheduler.partition("@")[0])  # a release of its own has the absences of the others
    places = (*(f"{name}:{configuration}" for name in names), *names)
    return next((ABSENCES[each][capability] for each in places if capability in ABSENCES.get(each, {})), None)
