"""Promised places, from history alone."""

from muster.chronicle.promises import promise_taken_back, promised_while_leaving
from muster.chronicle.questions import Question, Verdict
from tests.tales import Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN


def asked(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def pushed() -> Tale:
    return Tale().node("gpu-1", 1).settled("victim", "gpu-1", 1, 10).pod("urgent", 1, 100)


def test_a_promise_counts_while_the_victim_leaves() -> None:
    question = promised_while_leaving("urgent", "victim")
    tale = pushed()
    assert asked(question, tale) is OPEN
    assert asked(question, tale.nominate("urgent", "gpu-1")) is OPEN
    assert asked(question, tale.delete("victim")) is YES
    assert asked(question, tale.gone("victim")) is NO


def test_a_promise_of_another_node_is_none() -> None:
    tale = pushed().delete("victim").nominate("urgent", "gpu-2")
    assert asked(promised_while_leaving("urgent", "victim"), tale) is OPEN


def test_a_promise_is_taken_back_when_it_is_cleared_or_moved() -> None:
    question = promise_taken_back("urgent", "critical")
    tale = pushed().nominate("urgent", "gpu-1").pod("critical", 1, 200)
    assert asked(question, tale) is OPEN
    assert asked(question, tale.bind("critical", "gpu-1")) is OPEN
    assert asked(question, tale.nominate("urgent", "")) is YES
    moved = pushed().nominate("urgent", "gpu-1").pod("critical", 1, 200).bind("critical", "gpu-1")
    assert asked(question, moved.nominate("urgent", "gpu-2")) is YES


def test_who_was_never_promised_anything_loses_nothing() -> None:
    tale = pushed().pod("critical", 1, 200).bind("critical", "gpu-1")
    assert asked(promise_taken_back("urgent", "critical"), tale) is NO


def test_a_pod_may_live_in_another_namespace_than_the_scenario() -> None:
    tale = pushed()
    tale.history.elsewhere["urgent"] = "kube-system"
    assert tale.history.pod("urgent") is None
    assert tale.history.pod("victim") is not None
