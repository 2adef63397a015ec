"""A toy suite whose scenarios have a scene: a made-up history, so that evidence is taken as in a run on a cluster."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.toy_suite import CHECKOUT, ToySuite, feature, make_toy_suite, scenario

SCENES = """
import os, time
from types import SimpleNamespace
import pytest
from pytest_bdd import given, then, when
from muster.errors import BehaviourViolated
from muster.chronicle.stories import tell
from tests import timeline_tales

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> "
HOSTILE += "\\x1b[31mred\\x1b[0m \\udcff ]]> \\u202e `|`\\n::error::x"

@pytest.fixture
def scene(request):
    told, _ = timeline_tales.moved(timeline_tales.preemption(), time.monotonic() - 5)
    for life in told.pods:
        life.name = life.name + os.environ.get("TOY_NAME", "")
    yield SimpleNamespace(chronicle=SimpleNamespace(history=told))

@given("two pods that run")
@when("a third one asks for their place")
def _(scene): ...
@then("one of them has to go")
@then("nobody else is disturbed")
def _(scene): ...
@then("it fails with a story")
def _(scene):
    history = scene.chronicle.history
    raise BehaviourViolated(tell(history, wanted="one victim", seen="two victims", about=("urgent",)))
@then("it fails with hostile words")
def _(scene): raise BehaviourViolated("wanted   peace\\nseen     " + HOSTILE)
@then("it fails with a megabyte")
def _(scene): raise BehaviourViolated("wanted   brevity\\nseen     " + "x" * 2**20 + HOSTILE)
@then("it breaks with hostile words")
def _(scene): raise ValueError(HOSTILE)
"""

STORY = scenario(
    "PRE-02",
    "And two pods that run",
    "When a third one asks for their place",
    "Then one of them has to go",
    "And it fails with a story",
    title="A story is told",
)
GREEN = scenario(
    "PRE-01",
    "And two pods that run",
    "When a third one asks for their place",
    "Then one of them has to go",
    "And nobody else is disturbed",
    title="All is well",
)
HOSTILE = [
    scenario("PRE-03", "Then it fails with hostile words", title="Hostile words"),
    scenario("PRE-04", "Then it fails with a megabyte", title="A megabyte"),
    scenario("PRE-05", "Then it breaks with hostile words", title="Hostile trouble"),
]


def make_report_suite(directory: Path, *scenarios: str) -> ToySuite:
    """The toy suite with the evidence of the real one; its module lies in steps/, where it needs no cluster."""
    suite = make_toy_suite(directory)
    toys = (suite.root / "steps" / "toys.py").read_text(encoding="utf-8")
    own_scene = toys[toys.index("@pytest.fixture\ndef scene") : toys.index("@pytest.fixture\ndef broken_setup")]
    (suite.root / "steps" / "toys.py").write_text(toys.replace(own_scene, ""), encoding="utf-8")
    (suite.root / "steps" / "scenes.py").write_text(SCENES, encoding="utf-8")
    shutil.copy(CHECKOUT / "fixtures" / "evidence.py", suite.root / "steps" / "evidence.py")
    return suite.write(feature(*(scenarios or (GREEN, STORY)), title="Making room"))
