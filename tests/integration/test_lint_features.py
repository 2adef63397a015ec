"""Every mistake that a feature file can hold is found before anything runs, with its line and the fix."""

from pathlib import Path

import pytest

from tests.support.toy_suite import CLAIMED, feature, make_toy_suite, scenario

GOOD = scenario("PRE-01", "Then it holds")
DEFECTS = {
    "unparsable": ("Feature: x\n  Scenario: s\n    Given t\n      | a | b |\n      | c |\n", 5, "is not valid Gherkin"),
    "no feature": ("# nothing\n", 1, "has no Feature"),
    "undefined step": (feature(scenario("PRE-01", "Then it hodls")), 7, 'no step definition matches "Then it hodls"'),
    "wrong keyword": (feature(scenario("PRE-01", "Then nothing happens")), 7, 'matches "Then nothing happens"'),
    "unknown tag": (feature(scenario("PRE-01", "Then it holds", tags="@preemtion")), 5, "did you mean @preemption?"),
    "no then": (feature(scenario("PRE-01", "When nothing happens")), 5, "has no Then, so it cannot fail"),
    "no steps": (feature("  @PRE-01 @must\n  Scenario: Empty\n"), 5, "has no Then, so it cannot fail"),
    "no id": (feature("  @must\n  Scenario: s\n    Then it holds"), 5, "has no requirement id"),
    "two ids": (
        feature(scenario("PRE-01", "Then it holds", tags="@PRE-02")),
        5,
        "2 requirement ids (@PRE-01, @PRE-02)",
    ),
    "no level": (feature("  @PRE-01\n  Scenario: s\n    Then it holds"), 5, "has no level"),
    "two levels": (feature(scenario("PRE-01", "Then it holds", tags="@may")), 5, "2 levels (@must, @may)"),
    "duplicate id": (
        feature(GOOD, scenario("PRE-01", "Then it holds", title="Other")),
        10,
        "'PRE-01' is already taken",
    ),
    "duplicate title": (feature(GOOD, scenario("PRE-02", "Then it holds", title="Title of PRE-01")), 10, "the title"),
    "no capability": (feature(GOOD, tags="@doc-1"), 5, "has no capability"),
    "tags on examples": (
        feature(f"{GOOD}\n    @may\n    Examples:\n      | a |\n      | 1 |").replace("Scenario:", "Scenario Outline:"),
        5,
        "has tags on its Examples (@may)",
    ),
    "retired word in a title": (
        feature(scenario("PRE-01", "Then it holds", title="The most important pod runs")),
        5,
        '"important": write priority',
    ),
    "retired phrase in a step": (
        feature(scenario("PRE-01", 'Then pod "a" asks for 1 GPU')),
        7,
        '"asks for": write requests',
    ),
    "retired word in a feature's name": (feature(GOOD, title="Room for gangs"), 2, '"Room": write capacity'),
    "starts with and": (
        feature("  @PRE-01 @must\n  Scenario: s\n    * a node\n    Then it holds"),
        6,
        "the first step",
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_one_line_with_its_place(tmp_path: Path, defect: str) -> None:
    text, line, message = DEFECTS[defect]
    suite = make_toy_suite(tmp_path).write(text)
    run = suite.muster("run")
    assert run.returncode == 2, run.stdout
    place = f"{suite.root / 'features/toys/toys.feature'}:{line}: "
    assert [problem for problem in run.stderr.splitlines() if place in problem and message in problem], run.stderr
    assert "Traceback" not in run.stderr
    assert not list(suite.work.rglob("results.jsonl"))


def test_plain_pytest_reports_all_problems_at_once(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it hodls", "And it hlods", tags="@nope")))
    for options in ([], ["-n", "2"]):
        run = suite.pytest(*options)
        assert run.returncode == 4
        assert run.stderr.count("toys.feature:") == 3
        assert "INTERNALERROR" not in run.stdout + run.stderr


def test_mistakes_in_features_do_not_stop_other_tests(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(scenario("PRE-01", "Then it hodls")))
    (suite.root / "tests").mkdir()
    (suite.root / "tests" / "test_other.py").write_text("def test_other(): pass\n")
    assert suite.pytest("tests").returncode == 0


def test_two_definitions_of_one_step_are_refused(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path).write(feature(GOOD))
    again = "from pytest_bdd import parsers, then\n@then(parsers.parse('it {verb}'))\ndef _(verb): ...\n"
    (suite.root / "steps" / "vague.py").write_text(again)
    run = suite.muster("run")
    assert run.returncode == 2
    assert '2 step definitions match "Then it holds": make them distinct' in run.stderr


def test_a_claimed_capability_without_a_scenario_is_refused(tmp_path: Path) -> None:
    first, *others = CLAIMED.split()
    suite = make_toy_suite(tmp_path).write(feature(GOOD, tags=" ".join(others)))
    for run in (suite.muster("run"), suite.pytest()):
        assert run.returncode in (2, 4)
        assert f"no scenario is tagged {first}: write one" in run.stderr


def test_outlines_are_checked_row_by_row_and_backgrounds_count(tmp_path: Path) -> None:
    rows = "    Examples:\n      | name  |\n      | holds |\n      | falls |\n"
    outline = f"  @PRE-01 @must\n  Scenario Outline: About <name>\n    Then it <name>\n{rows}"
    text = feature(outline).replace("  @PRE-01", "  Background:\n    Given a node\n\n  @PRE-01", 1)
    suite = make_toy_suite(tmp_path).write(text)
    run = suite.muster("run")
    assert run.returncode == 2
    assert run.stderr.count("no step definition matches") == 1
    assert 'matches "Then it falls"' in run.stderr


def test_the_features_of_the_suite_itself_are_clean() -> None:
    from muster import schedulers
    from muster.suite.behaviours import read_features
    from muster.suite.lint import lint
    from muster.suite.paths import suite_root

    catalogue = read_features(suite_root() / "features")
    for name in schedulers.names():
        kind, configuration = schedulers.choose(name)
        assert lint(catalogue, claims=kind.claims(configuration)) == []
