"""`muster demo` as users run it, on a suite of steps that need no cluster."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.processes_left import PATIENCE, carriers, until
from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario

DEMO = ("demo", "DOC-1", "--fast", "--scheduler", "kube-scheduler")


@pytest.fixture
def suite(tmp_path: Path) -> ToySuite:
    return make_toy_suite(tmp_path)


def test_every_step_gets_its_tick_in_its_section(suite: ToySuite) -> None:
    steps = ("# 1: nothing", "When nothing happens", "Then it holds", "# 2: still nothing", 'And "it" holds')
    suite.write(feature(scenario("DOC-1", *steps, title="A walk-through"), title="Toy feature"))
    run = suite.muster("demo", "doc-1", "--scheduler", "kube-scheduler")  # not a terminal: no pauses
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == [
        "DOC-1  A walk-through",
        "Toy feature",
        "",
        "   set-up",
        "   ✓ a node",
        "",
        "1  nothing",
        "   ✓ nothing happens",
        "   ✓ it holds",
        "",
        "2  still nothing",
        '   ✓ "it" holds',
        "",
        "DOC-1: every step passed. Everything is gone: no process, no file.",
    ]
    assert run.stderr == "starting a cluster with the scheduler kube-scheduler\n"
    assert list(suite.work.iterdir()) == []


def test_a_failed_step_is_crossed_and_reported(suite: ToySuite) -> None:
    suite.write(feature(scenario("DOC-1", "When nothing happens", "Then it is violated", "And it holds")))
    run = suite.muster(*DEMO)
    assert run.returncode == 1
    assert run.stdout.endswith("   ✗ it is violated\n   failed: wanted   one victim\n   seen     two victims\n")


def test_a_cluster_that_does_not_start_is_a_harness_error(suite: ToySuite) -> None:
    suite.write(feature(scenario("DOC-1", "Then it holds")))
    run = suite.muster(*DEMO, TOY="no-scenario")
    assert run.returncode == 2
    assert "error: the cluster did not start: start it again" in run.stdout


def test_a_demo_that_cannot_start_reports_why(suite: ToySuite) -> None:
    suite.write(feature(scenario("DOC-1", "Then it holds", "And no definition exists for this step")))
    run = suite.muster(*DEMO)
    assert run.returncode == 2
    assert "DOC-1 was not run" in run.stderr
    assert "no step definition matches" in run.stderr


def test_ctrl_c_ends_it_and_cleans_up(suite: ToySuite, tmp_path: Path) -> None:
    left = tmp_path / "cleaned-up"
    suite.write(feature(scenario("DOC-1", "When nothing happens", f"Then it leaves the file {left} when cleaned up")))
    run = suite.start(*DEMO)
    assert run.stdout is not None
    while "nothing happens" not in run.stdout.readline():
        assert run.poll() is None
    until(Path(f"{left}.started").exists)
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=PATIENCE)
    assert run.returncode == 2, stderr
    assert stderr.endswith("stopping\n")
    assert left.exists()
    assert list(carriers(b"MUSTER_SUITE=" + bytes(suite.root))) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("demo",), "the following arguments are required: DOC-n"),
        (("demo", "DOC-9"), "there is no walk-through 'DOC-9': choose from\n  DOC-1  Toys"),
        (("demo", "DOC-1", "--scheduler", "nope"), "unknown scheduler 'nope'"),
        (("demo", "DOC-1", "--scheduler", "kube-scheduler"), "kube-scheduler does not claim gangs, which DOC-1 is"),
    ],
)
def test_usage_errors_start_nothing(suite: ToySuite, arguments: tuple[str, ...], message: str) -> None:
    suite.write(feature(scenario("DOC-1", "Then it holds"), tags="@gangs"))
    run = suite.muster(*arguments)
    assert (run.returncode, run.stdout) == (64, "")
    assert message in run.stderr
