"""Which behaviours run: --only, -k, -m and --list agree; and what a run prints meanwhile."""

import time
from pathlib import Path

import pytest

from muster.errors import UsageError
from muster.runner.live_view import SILENCE
from muster.suite.behaviours import Behaviour
from muster.suite.selection import select
from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> ToySuite:
    suite = make_toy_suite(tmp_path_factory.mktemp("selection"))
    suite.write(
        feature(
            scenario("PRE-01", "Then it holds", title="A pod takes GPUs"),
            scenario("PRE-02", "Then it holds", title="A gang is pending", level="should"),
            scenario("PRE-10", "Then it holds", title="Nothing moves", level="may"),
        )
    )
    return suite.write(feature(scenario("TNT-01", "Then it holds"), tags="@taints", title="Taints"), "taints.feature")


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([], ["PRE-01", "PRE-02", "PRE-10", "TNT-01"]),
        (["--only", "PRE-10", "tnt-01"], ["PRE-10", "TNT-01"]),
        (["--only", "PRE-10,TNT-01"], ["PRE-10", "TNT-01"]),
        (["-m", "must"], ["PRE-01", "TNT-01"]),
        (["-m", "must", "-m", "should"], ["PRE-01", "PRE-02", "TNT-01"]),
        (["-m", "must", "-m", "preemption"], ["PRE-01"]),
        (["-k", "gang or nothing"], ["PRE-02", "PRE-10"]),
        (["-k", "not (gang or takes) and PRE"], ["PRE-10"]),
        (["-k", '"takes gpus"'], ["PRE-01"]),
        (["-k", "taints", "-m", "may"], ["PRE-10"]),
    ],
    ids=str,
)
def test_the_list_shows_what_would_run(suite: ToySuite, options: list[str], ids: list[str]) -> None:
    run = suite.muster("run", "--list", *options)
    assert run.returncode == 0, run.stderr
    assert [line.split()[0] for line in run.stdout.splitlines()] == ids
    assert list(suite.work.iterdir()) == []


def test_the_list_is_aligned(suite: ToySuite) -> None:
    lines = suite.muster("run", "--list", "-m", "must").stdout.splitlines()
    columns = [line.index(title) for line, title in zip(lines, ("A pod takes GPUs", "Title of TNT-01"), strict=True)]
    assert columns[0] == columns[1]
    assert lines[1].split()[:3] == ["TNT-01", "must", "taints"]


def test_a_run_runs_what_the_list_shows(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    suite.write(feature(*(scenario(f"PRE-0{number}", "Then it holds") for number in range(1, 5))))
    run = suite.muster("run", "--only", "PRE-02,PRE-03", "-m", "must", "-k", "title")
    assert run.returncode == 0
    assert set(suite.verdicts()) == {"PRE-02", "PRE-03"}
    progress = [line.split()[:4] for line in run.stderr.splitlines() if not line.startswith("...")]
    assert [parts[:2] for parts in progress] == [["PRE-02", "passed"], ["PRE-03", "passed"]]
    assert [parts[2:] for parts in progress] == [[f"{result['seconds']:.1f}", "s"] for result in suite.results()]
    assert (suite.work / "results" / "latest").resolve().name.endswith("-kube-scheduler")


def test_plain_pytest_selects_by_marker_keyword_and_id(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    suite.write(
        feature(scenario("PRE-01", "Then it holds", title="Gang"), scenario("PRE-02", "Then it holds", level="may"))
    )
    for options in (["-m", "must and PRE-01"], ["-k", "gang", "--muster-only", "PRE-01,PRE-02"]):
        run = suite.pytest("-v", *options)
        assert run.returncode == 0, run.stdout + run.stderr
        assert "test_PRE_01 PASSED" in run.stdout
        assert "1 passed, 1 deselected" in run.stdout


def test_plain_pytest_explains_its_trap_with_paths(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    run = suite.pytest("-n", "1", "--alluredir", str(tmp_path / "shown"))
    assert run.returncode != 0
    assert "write options as --option=DIR, without a blank" in run.stdout + run.stderr
    assert suite.pytest(f"--muster-results={suite.work}").returncode == 0
    assert suite.verdicts(suite.work) == {"PRE-01": "passed"}


def test_a_long_step_prints_what_it_waits_for(tmp_path: Path) -> None:
    enough = tmp_path / "enough"
    long = scenario("PRE-01", f"When it takes until there is a file {enough}", "Then it holds")
    suite, started, printed = make_toy_suite(tmp_path).write(feature(long)), time.monotonic(), []
    with suite.start("run") as run:
        assert run.stderr is not None
        for line in run.stderr:
            printed.append(line)
            if line.startswith("... PRE-01  ") and line.endswith('s for "urgent" to run  Title of PRE-01\n'):
                enough.touch()
    assert run.returncode == 0
    assert enough.exists()
    assert sum(line.startswith("...") for line in printed) <= (time.monotonic() - started) / SILENCE


def test_settings_and_packages_of_the_working_directory_are_ignored(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    (suite.work / "steps").mkdir()
    (suite.work / "steps" / "__init__.py").write_text("raise RuntimeError('the wrong steps')\n")
    (suite.work / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--no-such-option'\n")
    (suite.work / "conftest.py").write_text("raise RuntimeError('the wrong conftest')\n")
    run = suite.muster("run", PYTEST_ADDOPTS="--no-such-option", PYTEST_PLUGINS="no_such_plugin")
    assert run.returncode == 0, run.stderr
    assert {entry.name for entry in suite.work.iterdir()} == {"steps", "pyproject.toml", "conftest.py", "results"}


def test_pytest_that_cannot_start_is_explained(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it holds")))
    (suite.root / "steps" / "broken.py").write_text("import no_such_module\n")
    run = suite.muster("run")
    assert run.returncode == 2
    assert "no scenario was run; pytest said:" in run.stderr
    assert "No module named 'no_such_module'" in run.stderr
    assert "pytest.log" in run.stderr


def test_a_keyword_needs_an_expression() -> None:
    behaviour = Behaviour("A title", "Feature", Path("x.feature"), 1, ("PRE-01", "must", "preemption"), ())
    assert select([behaviour], keyword="a and title or nope") == [behaviour]
    for wrong in ("", "and", "a or", "a b", "(a", "a)", "not"):
        with pytest.raises(UsageError):
            select([behaviour], keyword=wrong)


def test_a_run_that_gives_up_prints_one_line(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    suite.write(feature(scenario("PRE-01", "Given a cluster that is in use", "Then it holds")))
    run = suite.muster("run")
    assert run.returncode == 2
    line = "muster: no scenario was run; The cluster is in use by process 7: wait until that has ended."
    assert run.stderr.splitlines()[-1] == line
