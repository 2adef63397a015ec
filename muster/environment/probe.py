"""The scheduler's liveness probe: one node of its own and one probe pod per call, which fits whatever else happens.

Each probe pod selects a label value that the probe node was given just before. A scheduler sees node changes in order,
so a bound probe pod also proves that it has seen every node change made before: the barrier between set-up and test.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.resources import NODE, POD
from muster.environment.cluster_objects import node_manifest
from muster.errors import HarnessError, SchedulerNotServing
from muster.recording.history import History
from muster.recording.pod_history import PROBE_ROLE, ROLE_LABEL
from muster.recording.records import Moment
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import NodeRequest, PodRequest, Taint, Toleration

NAME = "muster-probe"
_TAINT = Taint("muster.dev/probe", "", "NoExecute")
_GENERATION = "muster.dev/generation"


class SchedulerProbe:
    """Scheduler liveness probe: creates one probe pod per call."""

    def __init__(self, api: Api, dialect: Dialect, namespace: str, check: Callable[[], None]) -> None:
        self._api, self._dialect, self._namespace, self._check = api, dialect, namespace, check
        self._count = 0

    def install(self) -> None:
        labels = {ROLE_LABEL: PROBE_ROLE, _GENERATION: "0"}
        request = NodeRequest(NAME, taints=(_TAINT,), labels=labels)
        self._api.ensure(node_manifest(request, self._dialect.node_labels))

    def run(self, history: History, within: float) -> Moment:
        """The moment at which a probe pod was bound; SchedulerNotServing if it was seen and not bound in time."""
        self._count += 1
        generation = str(self._count)
        self._api.patch(NODE, NAME, {"metadata": {"labels": {_GENERATION: generation}}})
        deadline = time.monotonic() + within
        unseen = HarnessError(f"the recorder did not see the probe pod or its node within {within:.0f} s")
        self._await(history, lambda: self._labelled(history, generation), deadline, unseen)
        pod = f"{NAME}-{generation}"
        self._api.create(self._pod(pod, generation))
        try:
            self._await(history, lambda: self._created(history, pod), deadline, unseen)
            deadline = time.monotonic() + within
            unbound = SchedulerNotServing(f"the scheduler did not bind the probe pod within {within:.0f} s")
            return self._await(history, lambda: self._bound(history, pod), deadline, unbound)
        finally:
            self._api.delete(POD, pod, self._namespace, grace=0)

    def _pod(self, name: str, generation: str) -> dict[str, object]:
        request = PodRequest(
            name, tolerations=(Toleration(key=_TAINT.key, effect=_TAINT.effect),), labels={ROLE_LABEL: PROBE_ROLE}
        )
        manifest = self._dialect.pod_manifest(request, self._namespace)
        manifest["spec"]["nodeSelector"] = {_GENERATION: generation}
        return manifest

    def _await(
        self, history: History, find: Callable[[], Moment | None], deadline: float, too_late: HarnessError
    ) -> Moment:
        with history.changed:
            while True:
                self._check()
                moment = find()
                if moment is not None:
                    return moment
                left = deadline - time.monotonic()
                if left <= 0:
                    raise too_late
                history.changed.wait(min(left, timeouts.HEALTH_CHECK))

    @staticmethod
    def _labelled(history: History, generation: str) -> Moment | None:
        node = history.nodes.get(NAME)
        if node and node.latest.metadata.labels.get(_GENERATION) == generation and node.ready:
            return node.states[-1][0]
        return None

    def _created(self, history: History, name: str) -> Moment | None:
        pod = history.pod_in(self._namespace, name)
        return pod.created if pod else None

    def _bound(self, history: History, name: str) -> Moment | None:
        pod = history.pod_in(self._namespace, name)
        return pod.bound if pod else None
