"""What a scenario raises decides its verdict, and the verdicts decide the exit code: proven by running `muster run`."""

from pathlib import Path

import pytest

from muster.errors import ConformanceFailure, HarnessError, NotStaged, NotSupported
from muster.verdicts import Verdict, combined, message_of, verdict_of
from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario

ENDINGS = {
    "PRE-01": ("Then it holds", "passed", ""),
    "PRE-02": ("Then it is violated", "failed", "wanted   one victim\nseen     two victims"),
    "PRE-03": ("Then it is not supported", "not-supported", "gangs are not claimed"),
    "PRE-04": ("Then it is not staged", "not-staged", "the scheduler of an existing cluster cannot be paused"),
    "PRE-05": ("Then it is skipped", "skipped", "asked for"),
    "PRE-06": ("Then it raises a harness error", "error", "the API server is gone: see its log"),
    "PRE-07": ("Then it raises a plain assertion", "error", "AssertionError: odd"),
    "PRE-08": ("Then it raises a value error", "error", "ValueError: bad value (at steps/toys.py:"),
    "PRE-09": ("Given a cluster that cannot start|Then it holds", "error", "the cluster did not start"),
    "PRE-10": ("Given a cluster that cannot stop|Then it holds", "error", "the cluster did not stop"),
    "PRE-11": ("Given a cluster that cannot stop|Then it is violated", "error", "before that the scenario had failed"),
    "PRE-12": ("Given an invariant that breaks at the end|Then it holds", "failed", "wanted   no over-commit"),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[ToySuite, int, str]:
    """One run of every ending, on two workers."""
    suite = make_toy_suite(tmp_path_factory.mktemp("verdicts"))
    suite.write(feature(*(scenario(id_, *steps.split("|")) for id_, (steps, _, _) in ENDINGS.items())))
    run = suite.muster("run", "--workers", "2")
    return suite, run.returncode, run.stdout


@pytest.mark.parametrize("id_", ENDINGS)
def test_each_ending_has_its_verdict_and_its_message(ran: tuple[ToySuite, int, str], id_: str) -> None:
    suite, _, _ = ran
    (result,) = [result for result in suite.results() if result["id"] == id_]
    _, verdict, message = ENDINGS[id_]
    assert result["verdict"] == verdict
    assert message in result["message"]
    assert (result["level"], result["title"], result["round"]) == ("must", f"Title of {id_}", 1)


def test_errors_beat_failures_in_the_exit_code(ran: tuple[ToySuite, int, str]) -> None:
    _, code, out = ran
    assert code == 2
    assert "2 passed" not in out
    assert "1 passed, 2 failed, 6 error, 1 not-supported, 1 not-staged, 1 skipped" in out


def test_a_result_knows_its_steps_up_to_the_one_that_broke(ran: tuple[ToySuite, int, str]) -> None:
    suite, _, _ = ran
    steps = {
        result["id"]: [(s["keyword"], s["text"], s["status"]) for s in result["steps"]] for result in suite.results()
    }
    assert steps["PRE-02"] == [("Given", "a node", "passed"), ("Then", "it is violated", "failed")]
    assert steps["PRE-05"][-1] == ("Then", "it is skipped", "skipped")
    assert steps["PRE-09"][-1] == ("Given", "a cluster that cannot start", "error")


def test_failure_reports_are_printed_in_full_with_a_command_to_reproduce(ran: tuple[ToySuite, int, str]) -> None:
    _, _, out = ran
    report = "PRE-02 failed: Title of PRE-02\n  wanted   one victim\n  seen     two victims\n  repeat   "
    assert report + "muster run --scheduler kube-scheduler --only PRE-02 --keep\n" in out
    assert "Traceback" not in out


@pytest.mark.parametrize(
    ("level", "tags", "steps", "code"),
    [
        ("must", "", "Then it holds", 0),
        ("must", "", "Then it is violated", 1),
        ("should", "", "Then it is violated", 0),
        ("may", "", "Then it is violated", 0),
        ("must", "@cluster", "Then it is violated", 1),
        ("may", "", "Then it raises a harness error", 2),
        ("must", "", "Then it is not supported", 2),
        ("must", "", "Then it is not staged", 2),
        ("must", "", "Then it is skipped", 2),
        ("must", "@gangs", "Then it is violated", 2),
    ],
    ids=lambda value: str(value),
)
def test_only_claimed_musts_of_the_scheduler_decide(
    tmp_path: Path, level: str, tags: str, steps: str, code: int
) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", steps, level=level, tags=tags)))
    run = suite.muster("run")
    assert run.returncode == code, run.stdout + run.stderr
    if tags == "@gangs":
        assert suite.verdicts() == {"PRE-01": "not-supported"}
        assert "kube-scheduler does not claim gangs" in suite.results()[0]["message"]


def test_a_worker_that_dies_is_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    others = [scenario(f"PRE-0{number}", "Then it holds") for number in range(2, 6)]
    suite.write(feature(scenario("PRE-01", "When the worker is killed", "Then it holds"), *others))
    run = suite.muster("run", "--workers", "2")
    assert run.returncode == 2
    assert suite.verdicts() == {"PRE-01": "error"} | {f"PRE-0{number}": "passed" for number in range(2, 6)}
    assert "the worker process died" in run.stdout
    assert next(each["worker"] for each in suite.results() if each["id"] == "PRE-01").startswith("gw")


def test_a_worker_that_dies_in_a_row_of_an_outline_names_the_row(tmp_path: Path) -> None:
    rows = "    Examples:\n      | what              |\n      | nothing happens   |\n      | the worker is killed |\n"
    outline = f"  @PRE-01 @must\n  Scenario Outline: If <what>\n    When <what>\n    Then it holds\n{rows}"
    suite = make_toy_suite(tmp_path).write(feature(outline))
    assert suite.muster("run", "--workers", "2").returncode == 2
    assert suite.verdicts() == {"PRE-01[nothing happens]": "passed", "PRE-01[the worker is killed]": "error"}
    assert suite.muster("run", "--workers", "2", "--repeat", "2").returncode == 2
    died = [(one["example"], one["round"]) for one in suite.results() if one["verdict"] == "error"]
    assert sorted(died) == [("the worker is killed", 1), ("the worker is killed", 2)]


def test_every_row_of_an_outline_is_a_scenario(tmp_path: Path) -> None:
    rows = "    Examples:\n      | name |\n      | one  |\n      | two  |\n"
    outline = f'  @PRE-01 @must\n  Scenario Outline: About <name>\n    Then "<name>" holds\n{rows}'
    suite = make_toy_suite(tmp_path).write(feature(outline))
    run = suite.muster("run", "--repeat", "2")
    assert run.returncode == 0, run.stderr
    shown = [line.split()[:4] for line in run.stdout.splitlines() if line.startswith("PRE-01")]
    assert shown == [[f"PRE-01[{name}]", "must", "passed", "2/2"] for name in ("one", "two")]
    assert "4 scenarios in" in run.stdout


def test_a_cluster_that_does_not_start_is_an_error_before_the_first_step(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    run = suite.muster("run", TOY="no-scenario")
    assert run.returncode == 2
    assert "PRE-01 error: Title of PRE-01\n  the cluster did not start: start it again\n" in run.stdout
    (result,) = suite.results()
    assert result["steps"] == []
    assert suite.allure()["PRE-01"]["status"] == "broken"


def test_plain_pytest_keeps_its_own_exit_codes_and_names_the_verdict(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    suite.write(feature(scenario("PRE-01", "Then it is violated"), scenario("PRE-02", "Then it is not staged")))
    run = suite.pytest("--junitxml", str(tmp_path / "junit.xml"), "-rs")
    assert run.returncode == 1
    assert "1 failed, 1 skipped" in run.stdout
    assert "not-staged: the scheduler of an existing cluster cannot be paused" in run.stdout
    assert '<property name="verdict" value="not-staged"' in (tmp_path / "junit.xml").read_text()
    assert not list(tmp_path.rglob("results.jsonl"))


@pytest.mark.parametrize("raised", ["NotSupported", "NotStaged"])
def test_only_a_scenario_can_be_excused(tmp_path: Path, raised: str) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    unit_test = suite.root / "tests" / "test_unit.py"
    unit_test.parent.mkdir()
    unit_test.write_text(f"import muster.errors\ndef test_unit():\n    raise muster.errors.{raised}('gangs')\n")
    run = suite.pytest("tests")
    assert run.returncode == 1, run.stdout
    assert "1 failed" in run.stdout


def test_verdicts_and_messages_of_exception_groups() -> None:
    violated, trouble = ConformanceFailure("report"), HarnessError("sentence")
    assert verdict_of(None) is Verdict.PASSED
    assert verdict_of(BaseExceptionGroup("teardown", [violated, violated])) is Verdict.FAILED
    assert verdict_of(BaseExceptionGroup("teardown", [violated, trouble])) is Verdict.ERROR
    assert verdict_of(NotSupported("x")) is Verdict.NOT_SUPPORTED
    assert verdict_of(NotStaged("x")) is Verdict.NOT_STAGED
    assert verdict_of(AssertionError("x")) is Verdict.ERROR
    assert message_of(BaseExceptionGroup("teardown", [violated, trouble])) == "report\nsentence"


def test_the_worst_phase_counts() -> None:
    assert combined([]) is Verdict.PASSED
    assert combined([Verdict.PASSED, Verdict.FAILED, Verdict.PASSED]) is Verdict.FAILED
    assert combined([Verdict.PASSED, Verdict.FAILED, Verdict.ERROR]) is Verdict.ERROR
    assert combined([Verdict.ERROR, Verdict.PASSED]) is Verdict.ERROR
    assert combined([Verdict.NOT_SUPPORTED, Verdict.PASSED]) is Verdict.NOT_SUPPORTED


def test_a_run_that_tested_nothing_says_why_and_what_to_do(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(
        feature(scenario("PRE-01", "Then it is not staged"), scenario("PRE-02", "Then it holds", tags="@gangs"))
    )
    run = suite.muster("run")
    assert run.returncode == 2
    assert run.stdout.splitlines()[-1] == (
        "nothing was tested on kube-scheduler: 1 not-supported, 1 not-staged "
        "(PRE-01: the scheduler of an existing cluster cannot be paused): "
        "select behaviours that the scheduler claims (docs/schedulers.md, muster run --list), "
        "or run on a cluster where they can be set up (docs/clusters.md), such as --cluster local"
    )


def test_jobs_decide_for_an_operator_that_was_chosen(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    suite.write(feature(scenario("PRE-01", "Then it holds")))
    suite.write(feature(scenario("JOB-01", "Then it is violated"), title="Jobs", tags="@jobs @cluster"), "jobs.feature")
    run = suite.muster("run")
    assert run.returncode == 0, run.stdout + run.stderr
    passed = "kube-scheduler passes muster: all 1 MUSTs that were tested passed"
    assert run.stdout.splitlines()[-1] == f"{passed}; not counted: 1 failed MUSTs that test the cluster"
    run = suite.muster("run", "--operator", "training-operator")
    assert run.returncode == 1
    named = "kube-scheduler with operator training-operator"
    assert run.stdout.splitlines()[-1] == f"{named} does not pass muster: 1 of 2 MUSTs failed"
    run = suite.muster("run", "--only", "JOB-01")
    assert run.returncode == 1
    named = "the cluster with operator reference"
    assert run.stdout.splitlines()[-1] == f"{named} does not pass muster: 1 of 1 MUSTs failed"
