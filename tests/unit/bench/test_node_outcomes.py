"""Verdicts on real and on simulated nodes: kept in a file, combined, and compared."""

from __future__ import annotations

from pathlib import Path

from bench.node_outcomes import (
    Outcome,
    combined,
    pairs,
    read_outcomes,
    same_verdict,
    write_outcomes,
)
from muster.environment.node_plan import NOT_HELD, compared
from muster.suite import paths
from muster.suite.behaviours import read_features

REAL = Outcome("PRE-01", "reference", "real", {"passed": 1}, 8.0)
SIMULATED = Outcome("PRE-01", "reference", "simulated", {"passed": 1}, 2.0)
OTHER = Outcome("PRE-02", "reference", "real", {"passed": 1}, 8.0)


def test_outcomes_are_kept_one_on_a_line(tmp_path: Path) -> None:
    write_outcomes([OTHER, SIMULATED, REAL], tmp_path / "kept.json")
    assert read_outcomes(tmp_path / "kept.json") == [REAL, SIMULATED, OTHER]
    assert len((tmp_path / "kept.json").read_text().splitlines()) == 3 + 2


def test_a_new_outcome_replaces_the_old_one_or_is_added() -> None:
    again = Outcome("PRE-01", "reference", "real", {"passed": 1, "failed": 1}, 5.5)
    assert combined([REAL, OTHER], [again], add=False) == [again, OTHER]
    both, _ = combined([REAL, OTHER], [again], add=True)
    assert (both.verdicts, both.seconds, both.runs) == ({"passed": 2, "failed": 1}, 13.5, 3)


def test_only_what_ran_on_both_is_compared() -> None:
    assert pairs([REAL, SIMULATED, OTHER]) == [(SIMULATED, REAL)]
    assert pairs([REAL, Outcome("PRE-01", "kube-scheduler", "simulated", {"passed": 1}, 2.0)]) == []


def test_a_verdict_that_changes_is_not_the_same() -> None:
    unsteady = Outcome("PRE-01", "reference", "real", {"passed": 2, "failed": 1}, 8.0)
    assert same_verdict(SIMULATED, REAL)
    assert not same_verdict(SIMULATED, unsteady)
    assert not same_verdict(unsteady, unsteady)


def test_the_file_names_behaviours_of_the_suite() -> None:
    known = {one.id for one in read_features(paths.suite_root() / "features").behaviours}
    assert compared() <= known
    assert NOT_HELD.keys() <= known
    assert not compared() & NOT_HELD.keys()
