"""`muster up --scheduler NAME`: every built-in scheduler binds a plain pod there. One cluster after the other."""

from __future__ import annotations

from typing import Any

import pytest

from muster import assets
from muster.cluster.resources import POD
from muster.demo.playground import Playground
from muster.schedulers import SCHEDULERS, Scheduler
from muster.schedulers.requests import PodRequest
from tests.support.local_cluster import Watch

pytestmark = pytest.mark.plane


def is_bound(event: str, pod: dict[str, Any]) -> bool:
    return event != "DELETED" and bool(pod["spec"].get("nodeName"))


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=lambda scheduler: scheduler.name)
def test_the_scheduler_binds_a_plain_pod(scheduler: type[Scheduler]) -> None:
    if missing := [name for name in scheduler.assets if assets.find(name) is None]:
        pytest.skip(f"{scheduler.name} is not installed ({', '.join(missing)}): muster assets {scheduler.name}")
    playground = Playground(scheduler=scheduler.name, operator="", print_line=lambda _: None)
    try:
        playground.start(nodes=1, gpus=1, masters=0)
        assert playground.scheduler is not None
        api = playground.cluster.connection.api
        watch = Watch(api)
        api.create(playground.scheduler.dialect.pod_manifest(PodRequest("plain", 1), "default"))
        watch.until(POD, "plain", is_bound)
    finally:
        playground.stop()
