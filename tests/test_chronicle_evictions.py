"""Pods that a taint drives out, from history alone. A record of a tale comes 0.1 s after the one before."""

import pytest

from muster.chronicle.evictions import BY_TAINT, carries_taint, driven_out_after, told
from muster.chronicle.questions import Question, Verdict
from muster.subject.dialect import Dialect
from muster.subject.requests import PodRequest, Toleration
from tests.tales import Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN
TAINT = [{"key": "gpu", "value": "true", "effect": "NoExecute"}]


def asked(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def tainted() -> Tale:
    return Tale().node("fickle", 2).settled("guest", "fickle", 1).node("fickle", 2, TAINT)


def after(records: int) -> Tale:
    tale = tainted()
    for _ in range(records - 2):
        tale.event("guest", "Noise", "a tenth of a second passes")
    return tale.mark("guest", BY_TAINT).delete("guest")


@pytest.mark.parametrize(("records", "verdict"), [(5, NO), (9, YES), (10, YES), (30, YES), (70, NO)])
def test_a_guest_goes_when_its_time_is_over(records: int, verdict: Verdict) -> None:
    assert asked(driven_out_after("guest", "fickle", 1), after(records)) is verdict


def test_it_is_open_until_the_guest_goes() -> None:
    question = driven_out_after("guest", "fickle", 1)
    assert asked(question, Tale().node("fickle", 2)) is OPEN
    assert asked(question, Tale().node("fickle", 2).settled("guest", "fickle", 1)) is OPEN
    assert asked(question, tainted()) is OPEN


def test_only_a_taint_drives_out() -> None:
    tale = tainted()
    for _ in range(10):
        tale.event("guest", "Noise", "a tenth of a second passes")
    assert asked(driven_out_after("guest", "fickle", 1), tale.mark("guest").delete("guest")) is NO


def test_a_taint_from_before_the_pod_came_does_not_count() -> None:
    tale = Tale().node("fickle", 2, TAINT).node("fickle", 2).settled("guest", "fickle", 1)
    assert asked(driven_out_after("guest", "fickle", 1), tale.mark("guest", BY_TAINT).delete("guest")) is OPEN


def test_the_taints_of_a_node() -> None:
    assert asked(carries_taint("fickle", "gpu", "NoExecute"), tainted()) is YES
    assert asked(carries_taint("fickle", "gpu", "NoSchedule"), tainted()) is OPEN
    assert asked(carries_taint("fickle", "gpu", "NoExecute"), tainted().node("fickle", 2)) is OPEN


def test_what_is_told_about_a_pod() -> None:
    tale = tainted().event("guest", "TaintManagerEviction", "Marking for deletion Pod tale/guest")
    assert asked(told("guest", "TaintManagerEviction", "Marking for deletion"), tale) is YES
    assert asked(told("guest", "TaintManagerEviction", "Cancelling"), tale) is OPEN
    assert asked(told("guest", "Killing", "Marking"), tale) is OPEN
    assert asked(told("nobody", "TaintManagerEviction", "Marking"), tale) is OPEN


def test_a_toleration_has_a_time_only_if_one_is_given() -> None:
    ever, soon = Toleration("gpu", effect="NoExecute"), Toleration("gpu", effect="NoExecute", seconds=0)
    spec = Dialect("mine").pod(PodRequest("guest", tolerations=(ever, soon)), "tale")["spec"]
    common = {"key": "gpu", "operator": "Exists", "effect": "NoExecute"}
    assert spec["tolerations"] == [common, {**common, "tolerationSeconds": 0}]
