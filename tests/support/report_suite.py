"""A toy suite with a constructed history, so that evidence is taken as in a run on a cluster."""

from __future__ import annotations

from pathlib import Path

from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario

STEPS = """
import os, time
from types import SimpleNamespace
import pytest
from pytest_bdd import given, then, when
from muster.environment.kubectl_script import KubectlScript
from muster.errors import ConformanceFailure
from muster.assertions.failure_report import failure_report
from tests.support import timeline_histories

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> "
HOSTILE += "\\x1b[31mred\\x1b[0m \\udcff ]]> \\u202e `|`\\n::error::x"

@pytest.fixture
def scenario(request):
    history, _ = timeline_histories.moved(timeline_histories.preemption(), time.monotonic() - 5)
    for pod in history.pods:
        pod.name = pod.name + os.environ.get("TOY_NAME", "")
    recording = SimpleNamespace(history=history, confirm=lambda: None, close=lambda: None)
    yield SimpleNamespace(failure=None, recording=recording, script=KubectlScript("toys", "pre-02", "muster up"))

@given("two running pods")
@when("a third pod requests their GPUs")
def _(scenario): ...
@then("one of them is preempted")
@then("no other pod is evicted")
def _(scenario): ...
@then("it fails with a report")
def _(scenario):
    history = scenario.recording.history
    raise ConformanceFailure(failure_report(history, wanted="one victim", seen="two victims", about=("urgent",)))
@then("it fails with hostile text")
def _(scenario): raise ConformanceFailure("wanted   peace\\nseen     " + HOSTILE)
@then("it fails with a megabyte")
def _(scenario): raise ConformanceFailure("wanted   brevity\\nseen     " + "x" * 2**20 + HOSTILE)
@then("it breaks with hostile text")
def _(scenario): raise ValueError(HOSTILE)
"""

FAILING = scenario(
    "PRE-02",
    "And two running pods",
    "When a third pod requests their GPUs",
    "Then one of them is preempted",
    "And it fails with a report",
    title="A failure is reported",
)
GREEN = scenario(
    "PRE-01",
    "And two running pods",
    "When a third pod requests their GPUs",
    "Then one of them is preempted",
    "And no other pod is evicted",
    title="All steps pass",
)
HOSTILE = [
    scenario("PRE-03", "Then it fails with hostile text", title="Hostile text"),
    scenario("PRE-04", "Then it fails with a megabyte", title="A megabyte"),
    scenario("PRE-05", "Then it breaks with hostile text", title="Hostile error"),
]


def make_report_suite(directory: Path, *scenarios: str) -> ToySuite:
    """The toy suite with the evidence of the real one; its module is in steps/, where it needs no cluster."""
    suite = make_toy_suite(directory)
    toys = (suite.root / "steps" / "toys.py").read_text(encoding="utf-8")
    own_fixture = toys[toys.index("@pytest.fixture\ndef scenario") : toys.index("@pytest.fixture\ndef broken_setup")]
    (suite.root / "steps" / "toys.py").write_text(toys.replace(own_fixture, ""), encoding="utf-8")
    (suite.root / "steps" / "report_steps.py").write_text(STEPS, encoding="utf-8")
    return suite.write(feature(*(scenarios or (GREEN, FAILING)), title="Victim selection"))
