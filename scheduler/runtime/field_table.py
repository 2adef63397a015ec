"""Every field of the objects that the scheduler reads: honoured, irrelevant to placement, or refused.

No constraint is ignored in silence: a pod, a PodGroup or a queue with a refused field stays pending and names that
field (`refused_fields`). Tests hold the table to the schemas of Kubernetes, Volcano and Koordinator, so that a new
release with a new field fails them; the page of the reference scheduler is generated from it.

A part of the table is one type of the schemas. A field whose type has constraints of its own is `nested`: its fields
are classified in the part of that name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Support(Enum):
    """What becomes of a field that is set."""

    HONOURED = "honoured"
    IRRELEVANT = "irrelevant to placement"
    REFUSED = "refused"
    NESTED = "classified field by field"


@dataclass(frozen=True, slots=True)
class Row:
    """Fields of one part that are treated alike, and why."""

    fields: tuple[str, ...]
    support: Support
    note: str
    part: str = ""  # of nested fields: where their own fields are classified
    met: tuple[object, ...] = ()  # of refused fields: the values that hold anyway


Part = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object: the part of its spec, and the annotations and labels that are read."""

    title: str
    spec: str
    annotations: Part = ()
    labels: Part = ()


def honoured(fields: str, note: str) -> Row:
    return Row(tuple(fields.split()), Support.HONOURED, note)


def irrelevant(fields: str, note: str) -> Row:
    return Row(tuple(fields.split()), Support.IRRELEVANT, note)


def refused(fields: str, note: str, *, except_for: tuple[object, ...] = ()) -> Row:
    return Row(tuple(fields.split()), Support.REFUSED, note, met=except_for)


def nested(fields: str, part: str, note: str = "") -> Row:
    return Row(tuple(fields.split()), Support.NESTED, note, part)


_AFTER_BINDING = "of no effect before the pod is bound"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_POD_TERMS = (
    nested(_REQUIRED, "PodAffinityTerm", "must hold when the pod is bound"),
    nested(_PREFERRED, "WeightedPodAffinityTerm", "ranks the nodes"),
)
_SELECTOR_FIELDS = "key operator values"

PARTS: dict[str, Part] = {
    "PodSpec": (
        nested("affinity", "Affinity"),
        nested("containers", "Container"),
        nested("initContainers", "Container", "count as far as they request more than the containers do"),
        honoured("nodeName", "a pod that has one is bound"),
        honoured("nodeSelector", "required labels of the node"),
        honoured("overhead", "added to the requests"),
        honoured("preemptionPolicy", "Never: the pod preempts nothing"),
        honoured("priority", "orders pods, and decides what may be preempted"),
        nested("resources", "ResourceRequirements", "of the pod as a whole; they replace the sum of its containers"),
        honoured("schedulerName", "pods of other schedulers are never bound and never preempted"),
        nested("schedulingGates", "PodSchedulingGate"),
        nested("tolerations", "Toleration"),
        nested("topologySpreadConstraints", "TopologySpreadConstraint"),
        nested("volumes", "Volume"),
        irrelevant("priorityClassName", "the API server sets priority and preemptionPolicy from it"),
        irrelevant("runtimeClassName", "the API server adds its overhead, node selector and tolerations"),
        irrelevant("hostNetwork", "the API server makes the container ports host ports"),
        irrelevant("os", "select nodes by the label kubernetes.io/os, as for kube-scheduler"),
        irrelevant("evictionResponders", "answer eviction requests; preemption deletes pods, as kube-scheduler's does"),
        irrelevant(
            "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks"
            " ephemeralContainers hostAliases hostIPC hostPID hostUsers hostname hostnameOverride imagePullSecrets"
            " readinessGates restartPolicy securityContext serviceAccount serviceAccountName setHostnameAsFQDN"
            " shareProcessNamespace subdomain terminationGracePeriodSeconds",
            _AFTER_BINDING,
        ),
        refused("resourceClaims", "devices of dynamic resource allocation are not allocated"),
        refused("schedulingGroup", "PodGroups of scheduling.k8s.io are not read"),
    ),
    "Container": (
        nested("ports", "ContainerPort"),
        nested("resources", "ResourceRequirements"),
        nested("restartPolicyRules", "ContainerRestartRule"),
        nested("volumeMounts", "VolumeMount"),
        honoured("restartPolicy", "Always makes an init container a sidecar, which runs as long as the pod"),
        irrelevant("image", "nodes that have it are not preferred, unlike in kube-scheduler"),
        irrelevant(
            "args command env envFrom imagePullPolicy lifecycle livenessProbe name readinessProbe resizePolicy"
            " securityContext startupProbe stdin stdinOnce terminationMessagePath terminationMessagePolicy tty"
            " volumeDevices workingDir",
            _AFTER_BINDING,
        ),
    ),
    "PodSchedulingGate": (honoured("name", "a pod with gates is not considered"),),
    "ContainerPort": (
        honoured("hostIP hostPort protocol", "two pods with the same host port are not on one node"),
        irrelevant("containerPort name", _AFTER_BINDING),
    ),
    "ContainerRestartRule": (
        refused("action", "needs nodes that declare a feature, which is not read", except_for=("Restart",)),
        irrelevant("exitCodes", _AFTER_BINDING),
    ),
    "VolumeMount": (
        refused("bindMountOptions", "needs nodes that declare a feature, which is not read"),
        irrelevant(
            "mountPath mountPropagation name readOnly recursiveReadOnly subPath subPathExpr",
            _AFTER_BINDING,
        ),
    ),
    "ResourceRequirements": (
        honoured("requests", "all resources of the node's allocatable, extended ones included"),
        honoured("limits", "count where a request is missing"),
        refused("claims", "name devices of spec.resourceClaims"),
    ),
    "Affinity": (
        nested("nodeAffinity", "NodeAffinity"),
        nested("podAffinity", "PodAffinity"),
        nested("podAntiAffinity", "PodAntiAffinity"),
    ),
    "NodeAffinity": (
        nested(_REQUIRED, "NodeSelector", "must hold when the pod is bound"),
        nested(_PREFERRED, "PreferredSchedulingTerm", "ranks the nodes"),
    ),
    "NodeSelector": (nested("nodeSelectorTerms", "NodeSelectorTerm", "at least one term must match"),),
    "NodeSelectorTerm": (nested("matchExpressions matchFields", "NodeSelectorRequirement", "all of them must match"),),
    "NodeSelectorRequirement": (honoured(_SELECTOR_FIELDS, "In, NotIn, Exists, DoesNotExist, Gt, Lt"),),
    "PreferredSchedulingTerm": (
        nested("preference", "NodeSelectorTerm"),
        honoured("weight", "added for each term that matches"),
    ),
    "PodAffinity": _POD_TERMS,
    "PodAntiAffinity": _POD_TERMS,
    "WeightedPodAffinityTerm": (
        nested("podAffinityTerm", "PodAffinityTerm"),
        honoured("weight", "for each pod that matches; negative for anti-affinity"),
    ),
    "PodAffinityTerm": (
        nested("labelSelector namespaceSelector", "LabelSelector"),
        honoured("namespaces topologyKey", "where the pods are, and what counts as one place"),
        honoured("matchLabelKeys mismatchLabelKeys", "the API server merges them into the selector"),
    ),
    "LabelSelector": (
        honoured("matchLabels", "required labels"),
        nested("matchExpressions", "LabelSelectorRequirement", "all of them must match"),
    ),
    "LabelSelectorRequirement": (honoured(_SELECTOR_FIELDS, "In, NotIn, Exists, DoesNotExist"),),
    "Toleration": (
        honoured("effect key operator value", "Equal, Exists, Gt, Lt"),
        irrelevant("tolerationSeconds", "read by the controller that evicts pods from tainted nodes"),
    ),
    "TopologySpreadConstraint": (
        honoured("maxSkew minDomains topologyKey whenUnsatisfiable", "DoNotSchedule and ScheduleAnyway"),
        honoured("nodeAffinityPolicy nodeTaintsPolicy", "which nodes count"),
        nested("labelSelector", "LabelSelector"),
        honoured("matchLabelKeys", "the pod's own values are required"),
    ),
    "Volume": (
        nested("persistentVolumeClaim", "PersistentVolumeClaimVolumeSource"),
        nested("ephemeral", "EphemeralVolumeSource"),
        irrelevant("name", "names the volume"),
        irrelevant(
            "cephfs configMap csi downwardAPI emptyDir fc flexVolume flocker gitRepo glusterfs hostPath image nfs"
            " photonPersistentDisk projected quobyte scaleIO secret storageos",
            "kube-scheduler has no rule for them either",
        ),
        refused(
            "awsElasticBlockStore azureDisk azureFile cinder gcePersistentDisk portworxVolume vsphereVolume",
            "the limit of such volumes on a node is not counted",
        ),
        refused("iscsi rbd", "two pods that write to one disk are not kept apart"),
    ),
    "PersistentVolumeClaimVolumeSource": (
        honoured("claimName", "the volume's node affinity restricts the nodes; without a volume, delayed binding"),
        irrelevant("readOnly", _AFTER_BINDING),
    ),
    "EphemeralVolumeSource": (irrelevant("volumeClaimTemplate", "the claim that is created from it is read"),),
    "VolcanoPodGroupSpec": (
        honoured("minMember", "so many members start together, or none"),
        honoured("minTaskMember", "so many of each role, unless their sum exceeds minMember"),
        honoured("minResources", "a group with more than the capability of its queue is not admitted"),
        honoured("priorityClassName", "the priority of the gang, and whether it preempts"),
        honoured("queue", "whose capability limits it"),
        refused("networkTopology", "HyperNodes are not read"),
        refused("subGroupPolicy", "a gang has no gangs inside"),
    ),
    "KoordinatorPodGroupSpec": (
        honoured("minMember", "so many members start together, or none"),
        honoured("scheduleTimeoutSeconds", "so long a gang keeps capacity reserved while its victims terminate"),
        irrelevant("minResources", "minMember members are placed all together anyway"),
    ),
    "QueueSpec": (
        honoured("capability", "the most that its bound pods use"),
        honoured("dequeueStrategy", "fifo: its pending head blocks later work"),
        honoured("reclaimable", "false holds, and true permits what this scheduler never does: nothing is reclaimed"),
        irrelevant("type", "Volcano does not read it either"),
        refused("affinity", "node groups are not read"),
        refused("deserved guarantee", "nothing is reclaimed or kept free"),
        refused("extendClusters", "there is one cluster"),
        refused("parent", "queues have no hierarchy", except_for=("root",)),
        refused("priority", "queues are not ordered", except_for=(0,)),
        refused("weight", "nothing is shared by weight", except_for=(1,)),
    ),
}  # fmt: skip

_GANG = "gang.scheduling.koordinator.sh"
_KOORDINATOR = "scheduling.koordinator.sh"
_LINKED = (
    honoured(f"{_GANG}/groups", "linked PodGroups, which start together; they must name each other"),
    honoured(f"{_GANG}/match-policy", "once-satisfied, waiting-and-running, only-waiting"),
    honoured(f"{_GANG}/mode", "both modes are alike: a gang that does not fit reserves nothing"),
    honoured("scheduling.muster.dev/disruption-mode", "all: evicted as a unit or not at all"),
    honoured("scheduling.muster.dev/scheduler-name", "admits the PodGroup while it has no pods that name theirs"),
    irrelevant(f"{_GANG}/total-number", "minMember decides"),
    refused(f"{_GANG}/network-topology-spec", "the topology of the network is not read"),
)

POD = Kind(
    "Pod",
    "PodSpec",
    annotations=(
        honoured("scheduling.k8s.io/group-name scheduling.volcano.sh/group-name", "the PodGroup that it belongs to"),
        honoured("scheduling.volcano.sh/queue-name", "its queue, if it belongs to no PodGroup"),
        honoured("volcano.sh/task-spec", "its role in the gang"),
        honoured("volcano.sh/preemptable", "false: it is never a victim"),
        irrelevant(f"{_GANG}/groups {_GANG}/match-policy {_GANG}/mode", "are read on the PodGroup"),
        refused(f"{_GANG}/name {_GANG}/min-available", "a gang needs a PodGroup"),
        refused(f"{_GANG}/network-topology-index", "the topology of the network is not read"),
        refused("volcano.sh/cooldown-time volcano.sh/revocable-zone", "preemption does not depend on the time"),
        refused("volcano.sh/task-priority", "the members of a gang have no order"),
        refused(
            f"volcano.sh/numa-topology-policy {_KOORDINATOR}/numa-topology-spec {_KOORDINATOR}/resource-spec",
            "NUMA nodes and CPUs are not assigned",
        ),
        refused(
            f"{_KOORDINATOR}/device-allocate-hint {_KOORDINATOR}/device-joint-allocate"
            f" {_KOORDINATOR}/gpu-partition-spec",
            "single devices are not chosen",
        ),
        refused(
            f"{_KOORDINATOR}/exact-match-reservation {_KOORDINATOR}/reservation-affinity", "Reservations are not read"
        ),
        refused(f"{_KOORDINATOR}/network-topology-selector", "the topology of the network is not read"),
    ),
    labels=(
        honoured("pod-group.scheduling.sigs.k8s.io", "the PodGroup that it belongs to"),
        honoured("volcano.sh/preemptable", "false: it is never a victim, unless its annotation says otherwise"),
        honoured(f"{_KOORDINATOR}/disable-preemptible", "true: it is never a victim"),
        refused(
            "pod-group.scheduling.sigs.k8s.io/name pod-group.scheduling.sigs.k8s.io/min-available",
            "a gang needs a PodGroup",
        ),
        refused("scheduling.x-k8s.io/pod-group", "PodGroups of scheduling.x-k8s.io are not read"),
        refused("quota.scheduling.koordinator.sh/name", "ElasticQuotas are not read"),
        refused("koordinator.sh/priority", "pods of one priority are ordered by their creation", except_for=("0",)),
        refused("koordinator.sh/qosClass", "CPUs are not assigned", except_for=("BE", "LS", "SYSTEM")),
        refused(f"{_KOORDINATOR}/preemption-policy", "set preemptionPolicy", except_for=("PreemptLowerPriority",)),
        refused(f"{_KOORDINATOR}/pre-allocation-required", "Reservations are not read", except_for=("false",)),
    ),
)
VOLCANO_PODGROUP = Kind(
    "PodGroup of scheduling.volcano.sh/v1beta1",
    "VolcanoPodGroupSpec",
    annotations=(
        *_LINKED,
        irrelevant("volcano.sh/preemptable", "is read on the pods"),
        refused("volcano.sh/jdb-max-unavailable volcano.sh/jdb-min-available", "use a PodDisruptionBudget"),
        refused("volcano.sh/cooldown-time volcano.sh/revocable-zone", "preemption does not depend on the time"),
        refused("volcano.sh/sla-waiting-time", "the order of gangs does not depend on the time"),
        refused(
            "volcano.sh/task-topology-affinity volcano.sh/task-topology-anti-affinity"
            " volcano.sh/task-topology-task-order",
            "use pod affinity",
        ),
    ),
)
KOORDINATOR_PODGROUP = Kind(
    "PodGroup of scheduling.sigs.k8s.io/v1alpha1", "KoordinatorPodGroupSpec", annotations=_LINKED
)
QUEUE = Kind(
    "Queue of scheduling.volcano.sh/v1beta1",
    "QueueSpec",
    annotations=(
        refused("volcano.sh/hierarchy", "queues have no hierarchy", except_for=("root",)),
        refused("volcano.sh/hierarchy-weights", "nothing is shared by weight", except_for=("1",)),
    ),
)
KINDS = (POD, VOLCANO_PODGROUP, KOORDINATOR_PODGROUP, QUEUE)
