"""Hostile objects that the API server accepts, and the reason that must be reported for each.

The API server validates little more than the types of custom resources, much more of pods, and next to nothing of nodes
and of pods that are created with a nodeName.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from muster.recording.quantities import GPU
from muster.schedulers.volcano import VOLCANO_GROUP, VOLCANO_QUEUE

Manifest = dict[str, Any]

LINKED_GROUPS = "gang.scheduling.koordinator.sh/groups"
MEBIBYTE = 1 << 20
_MAX_ANNOTATIONS = 250 << 10  # the API server allows 256 KiB in total
_LONG_NAME = "long-" + "a" * 224 + "-" + "b" * 23  # truncated at 230 characters it would end with a dash
_OVERFLOWING = str(2**62)
_TAINT = {"key": "muster.dev/absurd", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Case:
    """The objects, and the reason that their last pod must report; empty: it is bound."""

    name: str
    reason: str
    objects: tuple[Manifest, ...]
    on_group: bool = False  # whether the PodGroup must report it, too

    @property
    def pod(self) -> str:
        """The pod that must report it: the last one, because earlier ones may be the cause."""
        return [str(one["metadata"]["name"]) for one in self.objects if one["kind"] == "Pod"][-1]

    @property
    def group(self) -> str:
        """The PodGroup that must report it; empty if none must."""
        groups = [str(one["metadata"]["name"]) for one in self.objects if one["kind"] == "PodGroup"]
        return groups[0] if self.on_group else ""


def group(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Manifest:
    metadata = {"name": name, "annotations": annotations or {}}
    return {"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}


def queue(name: str, **capability: Any) -> Manifest:
    spec = {"capability": {GPU if resource == "gpu" else resource: it for resource, it in capability.items()}}
    return {"apiVersion": VOLCANO_QUEUE.api_version, "kind": "Queue", "metadata": {"name": name}, "spec": spec}


def pod(name: str, group: str = "", *, limits: dict[str, str] | None = None, **spec: Any) -> Manifest:
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    container = {"name": "main", "image": "none", "resources": {"limits": limits or {GPU: "1"}}}
    metadata = {"name": name, "annotations": annotations}
    full_spec = {"schedulerName": "muster-scheduler", "containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": full_spec}


def gang(name: str, size: int = 2, annotations: dict[str, str] | None = None, **spec: Any) -> tuple[Manifest, ...]:
    return (group(name, annotations, **spec), *(pod(f"{name}-{number}", name) for number in range(size)))


def cases(namespace: str) -> list[Case]:
    return [*_queues(), *_minimums(), *_linked_groups(namespace), *_texts(), *_quantities(), *_large()]


def _queues() -> list[Case]:
    invalid = {"negative": "-5", "endless": "1e400", "wordy": "abc", "empty": "", "infinite": "inf", "fraction": "1/3"}
    reasons = {"negative": "-5 of nvidia.com/gpu is negative", "endless": "more than any node can have"}
    return [
        Case(
            f"capability-{name}",
            reasons.get(name, "is not a quantity of nvidia.com/gpu"),
            (queue(name, gpu=text), *gang(f"in-{name}", queue=name)),
            on_group=True,
        )
        for name, text in invalid.items()
    ] + [
        Case("unknown-queue", "queue nowhere does not exist", gang("lost", queue="nowhere"), on_group=True),
        Case("nothing-allowed", "queue nothing uses 0 of 0", (queue("nothing", gpu=0), *gang("none", queue="nothing"))),
    ]


def _minimums() -> list[Case]:
    return [
        Case("minimum-0", "", gang("zero", minMember=0)),
        Case("minimum-negative", "", gang("below", minMember=-1)),
        Case("minimum-endless", "2 of 1000000000 pods exist", gang("endless", minMember=10**9)),
        Case("role-without-pods", "0 of 1 ghost pods exist", gang("haunted", minMember=2, minTaskMember={"ghost": 1})),
        Case("roles-negative", "", gang("odd", minMember=2, minTaskMember={"": -3, "b": -(2**31)})),
        Case("roles-that-cancel-out", "2000000000", gang("nil", minTaskMember={"a": 2 * 10**9, "b": -2 * 10**9})),
        Case(
            "class-missing", "PriorityClass ghost does not", gang("classless", priorityClassName="ghost"), on_group=True
        ),
        Case("group-missing", "ghosts does not exist", (pod("memberless-0", "ghosts"),)),
    ]


def _linked_groups(namespace: str) -> list[Case]:
    malformed = ["no list", "{}", "[1, 2]", '["a"]', '["a/b/c"]', "[" * 10_000, "[" + "9" * 5_000 + "]", "null", '""']
    malformed_cases = [
        Case(
            f"partners-malformed-{number}",
            LINKED_GROUPS,
            gang(f"malformed-{number}", 2, {LINKED_GROUPS: text}),
            on_group=True,
        )
        for number, text in enumerate(malformed)
    ]
    ring = [
        gang(f"ring-{one}", 1, {LINKED_GROUPS: json.dumps([f"{namespace}/ring-{other}", f"{namespace}/ring-{one}"])})
        for one, other in (("a", "b"), ("b", "c"), ("c", "a"))
    ]
    missing = json.dumps([f"{namespace}/ghost", "elsewhere/ghost"])
    many = json.dumps([f"{namespace}/{number:x}" for number in range(10_000)])
    return [
        *malformed_cases,
        Case("partners-in-a-ring", "", tuple(one for part in ring for one in part)),
        Case("partners-missing", "does not exist", gang("alone", annotations={LINKED_GROUPS: missing})),
        Case("partners-without-number", "does not exist", gang("popular", annotations={LINKED_GROUPS: many})),
    ]


def _texts() -> list[Case]:
    long_label = {f"{'a' * 63}.{'b' * 63}.{'c' * 63}.{'d' * 61}/{'e' * 63}": "f" * 63}
    labelled = pod("labelled-0", limits={GPU: "100"})
    labelled["metadata"]["labels"] = long_label
    annotated = pod("annotated-0", limits={GPU: "100"})
    annotated["metadata"]["annotations"]["text"] = "ü" * (_MAX_ANNOTATIONS // 2)
    reason = "Insufficient nvidia.com/gpu"
    return [
        Case(
            "queue-in-another-script",
            "queue очередь-队列-🚀 does not exist",
            gang("unicode", queue="очередь-队列-🚀"),
        ),
        Case("group-in-another-script", "группа\n does not exist", (pod("script-0", "группа\n"),)),
        Case("partner-in-another-script", "PodGroup ö/ä", gang("umlaut", 1, {LINKED_GROUPS: '["ö/ä"]'})),
        Case("labels-of-full-length", reason, (labelled,)),
        Case("name-of-full-length", reason, (pod(_LONG_NAME, limits={GPU: "100"}),)),
        Case("annotations-of-full-length", reason, (annotated,)),
        Case("queue-of-a-mebibyte", "does not exist", gang("wordy-queue", queue="q" * MEBIBYTE), on_group=True),
        Case("class-of-a-mebibyte", "does not exist", gang("wordy", priorityClassName="c" * MEBIBYTE), on_group=True),
        Case("spec-of-a-mebibyte", "", gang("wordy-spec", whatever="x" * MEBIBYTE)),
    ]


def _quantities() -> list[Case]:
    invalid = {"cpu": "1e30", "memory": "7Ei", GPU: str(2**63 - 1)}
    single = [
        Case(f"absurd-{number}", "than any node can have", (pod(f"absurd-{number}", limits={resource: amount}),))
        for number, (resource, amount) in enumerate(invalid.items())
    ]
    overflowing = [pod(f"by-hand-{number}", limits={"memory": "4Ei"}, nodeName="hostile-0") for number in range(3)]
    follower = pod("after-overflow", limits={"memory": "1Gi"}, nodeSelector={"kubernetes.io/hostname": "hostile-0"})
    tolerating = {"tolerations": [{"key": _TAINT["key"], "operator": "Exists"}]}
    members = [pod(f"giant-{number}", "giant", limits={"odd/thing": "1"}, **tolerating) for number in range(2)]
    giants = [_giant_node(number) for number in range(3)]
    return [
        *single,
        Case("bound-by-hand-beyond-all-numbers", "Insufficient memory", (*overflowing, follower)),
        Case("nodes-beyond-all-numbers", "", (*giants, group("giant", minMember=2), *members)),
    ]


def _giant_node(number: int) -> Manifest:
    allocatable = {"odd/thing": _OVERFLOWING, "pods": _OVERFLOWING, "memory": "1e30"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"giant-{number}"},
        "spec": {"taints": [_TAINT]},
        "status": {
            "capacity": allocatable,
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _large() -> list[Case]:
    return [Case("bigger-than-the-cluster", "gang", gang("huge", 40, minMember=40))]
