"""kube-scheduler with gangs of its own (the gate GenericWorkload): its groups, and preemption for whole groups.

The gate must be on everywhere: where the API server lacks it, a pod loses its group without a word and simply runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from muster.subject.dialect import Dialect
from muster.subject.kube_scheduler import KubeScheduler
from muster.subject.native_gangs_dialect import NativeGangsDialect

_DOCUMENTATION = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
_GATE = "GenericWorkload"


class NativeGangs(KubeScheduler):
    """The same configurations as kube-scheduler's, on a cluster with the gate on."""

    name: ClassVar[str] = "kube-scheduler-gangs"
    feature_gates: ClassVar[Mapping[str, bool]] = {_GATE: True}
    runtime_config: ClassVar[tuple[str, ...]] = ("scheduling.k8s.io/v1beta1=true",)

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return {
            **super().claims(configuration),
            "gangs": _DOCUMENTATION + "gang-scheduling/",
            "job-preemption": _DOCUMENTATION + "workload-aware-preemption/",
        }

    @property
    def dialect(self) -> Dialect:
        return NativeGangsDialect()
