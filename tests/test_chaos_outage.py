"""An API server that goes away with a binding: what became of it is found out before the room is given to others."""

from __future__ import annotations

import pytest

from muster import timeouts
from muster.chronicle.facts import bound
from muster.chronicle.invariants import AT_THE_END
from muster.chronicle.questions import eventually
from muster.stage.stage import Stage
from muster.subject.requests import NodeRequest, PodRequest

pytestmark = pytest.mark.plane


def test_an_unknown_outcome_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "CANARY", 60.0)  # the outage itself takes up to 13 s
    stage = Stage("reference")
    stage.start()
    try:
        scene = stage.scene("outage")
        scene.add_nodes([NodeRequest("only", gpus=1)])
        scene.chronicle.prove_live()
        scene.subject.kill()
        scene.subject.stop()
        for pod in ("first", "second"):
            scene.api.create(scene.subject.dialect.pod(PodRequest(pod, gpus=1), scene.namespace))
        monkeypatch.setenv("MUSTER_REFERENCE", "tests.chaos.outage")
        scene.subject.start()
        scene.chronicle.staged(eventually(bound("first")))
        scene.chronicle.prove_live()  # the outage is over, and whoever waited was looked at again
        scene.chronicle.prove_live()
        scene.chronicle.hold(AT_THE_END)
        second = scene.chronicle.history.pod("second")
        assert second is not None
        assert second.bound is None
        stage.strike(scene)
    finally:
        stage.stop()
