"""What a comparison counts of the results of a run."""

from __future__ import annotations

from bench.compare_nodes import outcomes
from bench.node_outcomes import Outcome
from muster.report.results import Result
from muster.verdicts import Verdict


def result(id_: str, verdict: Verdict, nodes: str, example: str = "") -> Result:
    return Result(id_, "must", [], "", verdict, seconds=1.5, nodes=nodes, example=example)


def test_rows_of_a_behaviour_are_counted_together() -> None:
    rows = [
        result("JOB-04", Verdict.PASSED, "real", "None"),
        result("JOB-04", Verdict.PASSED, "real", "All"),
        result("JOB-04", Verdict.FAILED, "real", "Running"),
    ]
    found = Outcome("JOB-04", "reference", "real", {"passed": 2, "failed": 1}, 4.5)
    assert outcomes(rows, "reference", "real") == [found]


def test_what_ran_elsewhere_or_was_excused_is_left_out() -> None:
    excused = result("GNG-01", Verdict.NOT_SUPPORTED, "real")
    elsewhere = result("QUE-08", Verdict.PASSED, "simulated: a pod requests 8 CPUs, and a worker has 4")
    assert outcomes([excused, elsewhere], "kube-scheduler", "real") == []
    assert [one.id for one in outcomes([excused, elsewhere], "kube-scheduler", "simulated")] == ["QUE-08"]
