"""The nodes of a scenario on real nodes of an existing cluster: used as they are, and nothing of them is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muster.cluster.api import Api
from muster.environment.node_plan import NodePlan
from muster.environment.real_nodes import RealNodes
from muster.schedulers.requests import NodeRequest


class PoolNodes(RealNodes):
    """`use` confines pods to the nodes with these names, and is called again with none when the scenario is over."""

    look_at = "kubectl describe node {}"

    def __init__(self, api: Api, labels: dict[str, str], plan: NodePlan, use: Callable[[Sequence[str]], None]) -> None:
        super().__init__(api, labels, plan, None)
        self._use = use
        use(tuple(plan.real.values()))

    def add(self, request: NodeRequest) -> None:
        if self.has_own_objects(request.name):
            super().add(request)
        else:
            self._used.append(request)

    def has_own_objects(self, node: str) -> bool:
        return node not in self._mapping.real.values()

    def open(self, requests: list[NodeRequest]) -> None:
        return

    def remove(self) -> None:
        used, self._used = self._used, []
        super().remove()
        self._used = used
        self._use(())
