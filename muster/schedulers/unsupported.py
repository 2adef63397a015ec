"""What a scheduler's objects cannot express, for whom, and by which text: the one table of it.

A scenario that asks for such a feature is not-supported, and is never run without it. The verdict, the matrix and
docs/schedulers.md print the source. Whole behaviours that a project does not promise are in `excuses` of its Scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from muster.errors import NotSupported


class Feature(StrEnum):
    """What a scenario may ask of a scheduler's objects; the value follows "is not asked for"."""

    LINKED_GANGS = "linked gangs"
    ROLE_MINIMA = "a minimum for each role of a gang"
    MIXED_GANGS = "a guarantee for gangs of different pods"
    SURPLUS_MEMBERS = "members above the minimum of a gang"
    GANG_AS_UNIT = "preempting a gang as a unit"
    NON_PREEMPTIBLE = "non-preemptible pods"
    PODS_BEFORE_GANG = "pods that are created before their gang"
    MIN_MEMBER_CHANGE = "another minMember of a pending gang"
    GANG_PRIORITY_CHANGE = "a new priority of gangs that are pending"
    MEMBER_DELETION = "deleting a member of a gang"
    DIRECT_BINDING = "a binding that is written in the scheduler's name"
    PHASE = "the phase of group objects"  # one that is named
    RUNNING_COUNT = "a count of running members"
    STRICT_FIFO = "strict FIFO queues"
    HEAD_RESERVATION = "a reservation for the job at the head of a queue"
    WEIGHTS = "weights of queues"
    LENDING = "reclaiming what a queue has lent"
    CLOSING = "closing a queue"
    PREEMPTION_SWITCH = "switching preemption off during a run"


@dataclass(frozen=True)
class Unsupported:
    """Features that a project does not offer; `because` says what the source says instead."""

    features: tuple[Feature, ...]
    because: str
    source: str

    @property
    def text(self) -> str:
        """For the reader of a page."""
        return f"{', '.join(self.features)}: {self.because}"


def not_supported(project: str, table: tuple[Unsupported, ...], feature: Feature, detail: str = "") -> NotSupported:
    """The answer for a scenario that asks for the feature, with its source where the table has one."""
    asked = f"{feature} ({detail})" if detail else feature.value
    row = next((row for row in table if feature in row.features), None)
    if row is None:
        return NotSupported(f"{project} does not support {asked}")
    return NotSupported(f"{project} is not asked for {asked}: {row.because} ({row.source})")


_F = Feature
_KUBERNETES = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
_NATIVE_API = "https://github.com/kubernetes/kubernetes/blob/v1.37.1/staging/src/k8s.io/api/scheduling/v1beta1/types.go"

NATIVE_GANGS = (
    Unsupported(
        (_F.NON_PREEMPTIBLE,), "any pod of lower priority may be preempted", f"{_KUBERNETES}pod-priority-preemption/"
    ),
    Unsupported((_F.ROLE_MINIMA,), "a PodGroup has one minCount for all its pods", _NATIVE_API),
    Unsupported((_F.PHASE, _F.RUNNING_COUNT), "the status has conditions, and none of them is about it", _NATIVE_API),
    Unsupported(
        (_F.LINKED_GANGS,),
        "a PodGroup names no other one; the feature gate CompositePodGroup is alpha, and off",
        "https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/features/kube_features.go",
    ),
    Unsupported(
        (_F.MIXED_GANGS,),
        "its page says under Limitations that a heterogeneous gang may not be placed",
        f"{_KUBERNETES}podgroup-scheduling/",
    ),
)

_PLUGINS_API = "https://github.com/kubernetes-sigs/scheduler-plugins/blob/v0.34.7/apis/scheduling/v1alpha1/types.go"
SCHEDULER_PLUGINS = (
    Unsupported(
        (_F.ROLE_MINIMA, _F.LINKED_GANGS, _F.GANG_AS_UNIT),
        "the spec of its PodGroup is minMember, minResources and scheduleTimeoutSeconds",
        _PLUGINS_API,
    ),
    Unsupported((_F.GANG_PRIORITY_CHANGE,), "its PodGroup has no priority", _PLUGINS_API),
    Unsupported(
        (_F.NON_PREEMPTIBLE,), "any pod of lower priority may be preempted", f"{_KUBERNETES}pod-priority-preemption/"
    ),
)

_VOLCANO = "https://github.com/volcano-sh/volcano/blob/v1.14.1/"
_VOLCANO_GROUP = f"{_VOLCANO}config/crd/volcano/bases/scheduling.volcano.sh_podgroups.yaml"
VOLCANO = (
    Unsupported((_F.LINKED_GANGS,), "no field of its PodGroup names another one", _VOLCANO_GROUP),
    Unsupported((_F.GANG_AS_UNIT,), "preempt evicts task by task", "https://volcano.sh/en/docs/actions/#preempt"),
    Unsupported(
        (_F.STRICT_FIFO,),
        "its Queue has a field dequeueStrategy, which the scheduler reads from this pull request on",
        "https://github.com/volcano-sh/volcano/pull/4580",
    ),
    Unsupported(
        (_F.HEAD_RESERVATION,),
        "its action backfill places pods without requests, and reserves nothing",
        "https://volcano.sh/en/docs/actions/#backfill",
    ),
    Unsupported(
        (_F.LENDING,),
        "a queue reclaims by the action reclaim, which is not in this configuration but in volcano:reclaim",
        "https://volcano.sh/en/docs/actions/#reclaim",
    ),
    Unsupported(
        (_F.PREEMPTION_SWITCH,),
        "the actions are its configuration, and this one has preempt; without it the scheduler is asked as volcano",
        "https://volcano.sh/en/docs/actions/#preempt",
    ),
)

_REFERENCE_PAGE = "docs/reference-scheduler.md"
REFERENCE = (
    Unsupported(
        (_F.HEAD_RESERVATION,),
        "the order of a queue is fifo or traverse, and a job has no expected end",
        _REFERENCE_PAGE,
    ),
    Unsupported((_F.LENDING, _F.WEIGHTS), "of a queue it enforces the capability only", _REFERENCE_PAGE),
    Unsupported((_F.ROLE_MINIMA,), "a PodGroup of Koordinator has one minMember", _REFERENCE_PAGE),
)

_KOORDINATOR_GROUP = "https://koordinator.sh/docs/user-manuals/gang-scheduling/"
KOORDINATOR = (
    Unsupported((_F.ROLE_MINIMA,), "its PodGroup has one minMember for all its pods", _KOORDINATOR_GROUP),
    Unsupported((_F.GANG_PRIORITY_CHANGE,), "its PodGroup has no priority", _KOORDINATOR_GROUP),
    Unsupported(
        (_F.GANG_AS_UNIT,),
        "victims are chosen pod by pod, and those that still fit are reprieved",
        "https://koordinator.sh/docs/user-manuals/job-level-preemption/",
    ),
)

_YUNIKORN = "https://yunikorn.apache.org/docs/1.8.0/"
_YUNIKORN_GANGS = f"{_YUNIKORN}user_guide/gang_scheduling/"
_YUNIKORN_QUEUES = f"{_YUNIKORN}user_guide/queue_config/"
YUNIKORN = (
    Unsupported(
        (_F.PODS_BEFORE_GANG, _F.MIN_MEMBER_CHANGE),
        "a gang is the task groups in the annotations of its first pod, and no object of its own",
        _YUNIKORN_GANGS,
    ),
    Unsupported(
        (_F.PHASE, _F.RUNNING_COUNT),
        "a gang is an application, which has no object in the cluster",
        _YUNIKORN_GANGS,
    ),
    Unsupported(
        (_F.LINKED_GANGS, _F.GANG_AS_UNIT), "a task group names no other gang and no way to preempt it", _YUNIKORN_GANGS
    ),
    Unsupported(
        (_F.GANG_PRIORITY_CHANGE,),
        "the priority of an application is that of its pods, which is fixed when they are created",
        f"{_YUNIKORN}user_guide/priorities/",
    ),
    Unsupported(
        (_F.NON_PREEMPTIBLE,),
        "the annotation allow-preemption is a preference",
        f"{_YUNIKORN}design/preemption/",
    ),
    Unsupported(
        (_F.STRICT_FIFO, _F.HEAD_RESERVATION),
        "the policy fifo is the order in which applications are tried; one that does not fit blocks no other",
        f"{_YUNIKORN}user_guide/sorting_policies/",
    ),
    Unsupported((_F.WEIGHTS,), "a queue has a guaranteed and a maximum amount", _YUNIKORN_QUEUES),
    Unsupported(
        (_F.LENDING,),
        "it takes lent capacity back for queues below their guaranteed amount, and has no shares beyond that",
        f"{_YUNIKORN}design/preemption/",
    ),
    Unsupported((_F.CLOSING,), "a queue is in the configuration or not", _YUNIKORN_QUEUES),
)

_KUEUE = "https://kueue.sigs.k8s.io/docs/"
_KUEUE_PODS = "https://github.com/kubernetes-sigs/kueue/blob/v0.18.4/keps/976-plain-pods/README.md"
KUEUE = (
    Unsupported(
        (_F.SURPLUS_MEMBERS, _F.ROLE_MINIMA),
        "a pod group has a total count and no minimum: all of it is admitted together",
        _KUEUE_PODS,
    ),
    Unsupported(
        (_F.PODS_BEFORE_GANG, _F.MIN_MEMBER_CHANGE),
        "a pod group is an annotation of its pods, which must agree on the count",
        _KUEUE_PODS,
    ),
    Unsupported(
        (_F.MEMBER_DELETION,),
        "a pod of a group keeps its finalizer until a pod of another name replaces it",
        f"{_KUEUE_PODS}#pods-replaced-on-failure",
    ),
    Unsupported(
        (_F.DIRECT_BINDING,), "a pod that is not admitted is gated, and the API server refuses its binding", _KUEUE_PODS
    ),
    Unsupported((_F.LINKED_GANGS,), "a Workload is admitted on its own", f"{_KUEUE}concepts/workload/"),
    Unsupported(
        (_F.GANG_PRIORITY_CHANGE,),
        "the priority of a pod group is that of its pods, which is fixed when they are created",
        f"{_KUEUE}concepts/workload/#priority",
    ),
    Unsupported(
        (_F.NON_PREEMPTIBLE,),
        "any lower-priority workload of the queue may be preempted",
        f"{_KUEUE}concepts/preemption/",
    ),
    Unsupported(
        (_F.HEAD_RESERVATION,),
        "the queueing strategies are StrictFIFO and BestEffortFIFO",
        f"{_KUEUE}concepts/cluster_queue/#queueing-strategy",
    ),
    Unsupported(
        (_F.WEIGHTS, _F.LENDING),
        "quota is lent and weighted inside a cohort, and by default a queue is in none",
        f"{_KUEUE}concepts/cluster_queue/#cohort",
    ),
    Unsupported((_F.RUNNING_COUNT,), "a Workload counts no running pods", f"{_KUEUE}concepts/workload/"),
    Unsupported(
        (_F.PREEMPTION_SWITCH,),
        "withinClusterQueue is a field of each queue, and set here; with its default the scheduler is asked as kueue",
        f"{_KUEUE}concepts/cluster_queue/#preemption",
    ),
)

_KAI = "https://github.com/NVIDIA/KAI-Scheduler/blob/v0.12.0/"
_KAI_GROUP = f"{_KAI}pkg/apis/scheduling/v2alpha2/podgroup_types.go"
KAI = (
    Unsupported((_F.LINKED_GANGS,), "no field of its PodGroup names another one", _KAI_GROUP),
    Unsupported(
        (_F.PHASE, _F.RUNNING_COUNT),
        "the field phase exists, and no code of the release writes it",
        _KAI_GROUP,
    ),
    Unsupported(
        (_F.STRICT_FIFO, _F.HEAD_RESERVATION, _F.CLOSING),
        "a queue has a quota, a limit, a priority and a weight",
        f"{_KAI}docs/queues/README.md",
    ),
    Unsupported(
        (_F.PREEMPTION_SWITCH,),
        "preempt is one of its actions; no configuration without it is tested",
        f"{_KAI}docs/developer/action-framework.md",
    ),
)
