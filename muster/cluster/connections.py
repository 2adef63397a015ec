"""How to reach an API server: a kubeconfig file and a context. Everything else is derived from these two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.cluster.api import Api
    from muster.cluster.fences import Fence


@dataclass(frozen=True)
class Connection:
    """A reachable API server. `api` is shared: one connection pool for the whole process."""

    kubeconfig: Path
    context: str | None = None
    fence: Fence | None = None  # around what we do there, where it is not ours

    @cached_property
    def api(self) -> Api:
        from muster.cluster.api import Api

        return Api.connect(self.kubeconfig, self.context, self.fence)
