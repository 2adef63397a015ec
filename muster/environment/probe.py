"""Proof of life: a pod that nothing stands against, on a node of its own. Not bound means not live.

Each canary selects a label value that its node was given just before. Node changes reach a scheduler in order, so a
bound canary also proves that the scheduler has seen every node change made before it: it is the barrier between
setting up and judging.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from muster.chronicle.history import History
from muster.chronicle.lifelines import CANARY_ROLE, ROLE_LABEL
from muster.chronicle.records import Moment
from muster.cluster.api import Api
from muster.cluster.resources import NODE, POD
from muster.errors import HarnessError
from muster.stage.nodes import node_manifest
from muster.subject.dialect import Dialect
from muster.subject.requests import NodeRequest, PodRequest, Taint, Toleration

NAME = "muster-canary"
_TAINT = Taint("muster.dev/canary", "", "NoExecute")
_GENERATION = "muster.dev/generation"


class Canary:
    """Sings on demand: one node for all canaries, a fresh pod for each."""

    def __init__(self, api: Api, dialect: Dialect, namespace: str, guard: Callable[[], None]) -> None:
        self._api, self._dialect, self._namespace, self._guard = api, dialect, namespace, guard
        self._count = 0

    def install(self) -> None:
        labels = {ROLE_LABEL: CANARY_ROLE, _GENERATION: "0"}
        request = NodeRequest(NAME, taints=(_TAINT,), labels=labels)
        self._api.ensure(node_manifest(request, self._dialect.node_labels))

    def sing(self, history: History, within: float) -> Moment:
        """The moment at which a canary was bound; a HarnessError when none was within so many seconds."""
        self._count += 1
        generation = str(self._count)
        self._api.patch(NODE, NAME, {"metadata": {"labels": {_GENERATION: generation}}})
        deadline = time.monotonic() + within
        self._await(history, lambda: self._labelled(history, generation), deadline, within)
        pod = f"{NAME}-{generation}"
        self._api.create(self._pod(pod, generation))
        try:
            return self._await(history, lambda: self._bound(history, pod), deadline, within)
        finally:
            self._api.delete(POD, pod, self._namespace, grace=0)

    def _pod(self, name: str, generation: str) -> dict[str, object]:
        request = PodRequest(
            name, tolerations=(Toleration(key=_TAINT.key, effect=_TAINT.effect),), labels={ROLE_LABEL: CANARY_ROLE}
        )
        manifest = self._dialect.pod(request, self._namespace)
        manifest["spec"]["nodeSelector"] = {_GENERATION: generation}
        return manifest

    def _await(self, history: History, happened: Callable[[], Moment | None], deadline: float, within: float) -> Moment:
        with history.changed:
            while True:
                self._guard()
                moment = happened()
                if moment is not None:
                    return moment
                left = deadline - time.monotonic()
                if left <= 0:
                    raise HarnessError(
                        f"the scheduler is not live: a pod that nothing stands against was not bound within"
                        f" {within:.0f} s; look at the scheduler's log"
                    )
                history.changed.wait(min(left, 0.5))

    @staticmethod
    def _labelled(history: History, generation: str) -> Moment | None:
        life = history.nodes.get(NAME)
        if life and life.node.metadata.labels.get(_GENERATION) == generation and life.ready:
            return life.states[-1][0]
        return None

    def _bound(self, history: History, name: str) -> Moment | None:
        life = history.pod_in(self._namespace, name)
        return life.bound if life else None
