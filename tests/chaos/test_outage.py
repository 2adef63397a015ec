"""An API outage during a binding: its outcome is read before the resources are given to another pod."""

from __future__ import annotations

import pytest

from muster import timeouts
from muster.assertions.invariants import AT_THE_END
from muster.assertions.pods import bound
from muster.environment.environment import Environment
from muster.recording.questions import eventually
from muster.run_options import RunOptions
from muster.schedulers.requests import NodeRequest, PodRequest

pytestmark = pytest.mark.plane


def test_an_unknown_binding_outcome_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeouts, "PROBE", 60.0)  # the outage itself takes up to 13 s
    environment = Environment(RunOptions())
    environment.start()
    try:
        scenario = environment.scenario("outage")
        scenario.add_nodes([NodeRequest("only", gpus=1)])
        scenario.recording.prove_live()
        scenario.scheduler.kill()
        scenario.scheduler.stop()
        for pod in ("first", "second"):
            scenario.api.create(scenario.scheduler.dialect.pod_manifest(PodRequest(pod, gpus=1), scenario.namespace))
        monkeypatch.setenv("MUSTER_REFERENCE", "tests.chaos.outage")
        scenario.scheduler.start()
        scenario.recording.set_up(eventually(bound("first")))
        scenario.recording.prove_live()  # the outage is over, and pending pods were retried
        scenario.recording.prove_live()
        scenario.recording.check_invariants(AT_THE_END)
        second = scenario.recording.history.pod("second")
        assert second is not None
        assert second.bound is None
        environment.cleanup(scenario)
    finally:
        environment.stop()
