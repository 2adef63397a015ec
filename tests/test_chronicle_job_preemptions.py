"""Questions about preemption for gangs, asked of made-up histories."""

from muster.chronicle.job_preemptions import (
    eviction_told,
    no_gang_victim_could_stay,
    nominated_apart,
    nothing_free,
    preempted_for_gang,
    run_where_nominated,
    victim_names,
    waits_for_victims,
)
from muster.chronicle.questions import Question, Verdict
from tests.tales import Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN
TRAIN = ("train-0", "train-1")
LOW = ("low-east", "low-west")


def asked(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def two_full_nodes() -> Tale:
    tale = Tale().node("east", 4).node("west", 4)
    return tale.settled("low-east", "east", 4, 10).settled("low-west", "west", 4, 10)


def gang_asks() -> Tale:
    return two_full_nodes().pod("train-0", 3, 100).pod("train-1", 3, 100)


def test_victims_go_for_a_gang_whichever_member_asked() -> None:
    question, tale = preempted_for_gang(LOW, 2, "train", TRAIN), gang_asks()
    assert asked(question, tale.preempted("low-east", by="train-1", node="east")) is OPEN
    assert asked(question, tale.preempted("low-west", by="train-0", node="west")) is YES
    assert asked(preempted_for_gang(LOW, 1, "train", TRAIN), tale) is NO


def test_victims_of_others_do_not_count() -> None:
    question = preempted_for_gang(LOW, 1, "train", TRAIN)
    assert asked(question, gang_asks().pod("other", 3, 100).preempted("low-east", by="other", node="east")) is NO
    early = two_full_nodes().mark("low-east").delete("low-east").pod("train-0", 3, 100).pod("train-1", 3, 100)
    assert asked(question, early) is NO
    assert asked(question, gang_asks().mark("low-east").delete("low-east")) is YES


def test_a_victim_names_who_did_it() -> None:
    question = victim_names("low-east", ("some-scheduler", "preemptor: tale/train,"))
    words = "some-scheduler: preempting, preemptor: tale/train, triggerPod: tale/train-1"
    assert asked(question, gang_asks()) is OPEN
    assert asked(question, gang_asks().confess("low-east", words)) is YES
    assert asked(question, gang_asks().confess("low-east", "some-scheduler: preempting")) is NO
    assert asked(question, gang_asks().confess("low-east", words, "DeletionByTaintManager")) is NO
    assert asked(question, gang_asks().delete("low-east").gone("low-east")) is NO


def test_an_event_tells_of_the_eviction() -> None:
    tied = eviction_told("low-east", "Preempted", TRAIN, tied=True)
    plain = eviction_told("low-east", "Evict", TRAIN, tied=False)
    tale = gang_asks().event("low-east", "Evict", "Pod is evicted, because of preempt", "Warning")
    assert (asked(plain, tale), asked(tied, tale)) == (YES, OPEN)
    assert asked(tied, gang_asks().preempted("low-east", by="train-1", node="east")) is YES
    assert asked(tied, gang_asks().preempted("low-east", by="train-1", node="nowhere")) is OPEN
    assert asked(tied, gang_asks().preempted("low-east", by="low-west", node="east")) is OPEN


def test_a_gangs_victim_that_could_have_stayed() -> None:
    tale = Tale().node("n", 4).settled("one", "n", 1, 10).settled("three", "n", 3, 10)
    tale.pod("train-0", 1, 100).pod("train-1", 2, 100)
    question = no_gang_victim_could_stay("train", TRAIN)
    tale.preempted("three", by="train-0", node="n").gone("three").bind("train-0", "n")
    assert asked(question, tale) is OPEN
    assert asked(question, tale.bind("train-1", "n")) is YES
    both = Tale().node("n", 4).settled("one", "n", 1, 10).settled("three", "n", 3, 10)
    both.pod("train-0", 1, 100).pod("train-1", 2, 100).preempted("one", by="train-0", node="n").gone("one")
    both.preempted("three", by="train-0", node="n").gone("three").bind("train-0", "n").bind("train-1", "n")
    assert asked(question, both) is NO


def test_a_gang_waits_for_its_victims() -> None:
    question, tale = waits_for_victims("train", TRAIN, LOW, 1), gang_asks()
    assert asked(question, tale) is OPEN
    assert asked(question, tale.delete("low-east")) is YES
    assert asked(question, gang_asks().delete("low-east").delete("low-west")) is NO
    assert asked(question, tale.bind("train-0", "east")) is NO


def test_nominations_apart_while_both_victims_terminate() -> None:
    question = nominated_apart(TRAIN, LOW)
    tale = gang_asks().delete("low-east").delete("low-west").nominate("train-0", "east")
    assert asked(question, tale) is OPEN
    assert asked(question, tale.nominate("train-1", "west")) is YES
    assert asked(question, tale.gone("low-east").gone("low-west").nominate("train-1", "")) is YES


def test_nominations_before_the_victims_are_asked_to_go_count_once_they_are() -> None:
    tale = gang_asks().nominate("train-0", "east").nominate("train-1", "west").delete("low-east")
    assert asked(nominated_apart(TRAIN, LOW), tale) is OPEN
    assert asked(nominated_apart(TRAIN, LOW), tale.delete("low-west")) is YES


def test_nominations_to_one_node_are_not_apart() -> None:
    tale = gang_asks().delete("low-east").delete("low-west").nominate("train-0", "east").nominate("train-1", "east")
    assert asked(nominated_apart(TRAIN, LOW), tale) is OPEN
    assert asked(nominated_apart(TRAIN, LOW), tale.gone("low-east").gone("low-west")) is NO


def test_victims_one_after_the_other_are_not_one_decision() -> None:
    tale = gang_asks().delete("low-east").nominate("train-0", "east").gone("low-east")
    tale.nominate("train-1", "west").delete("low-west").gone("low-west")
    assert asked(nominated_apart(TRAIN, LOW), tale) is NO


def test_running_where_nominated() -> None:
    question = run_where_nominated(TRAIN)
    tale = gang_asks().nominate("train-0", "east").nominate("train-1", "west").run("train-0", "east")
    assert asked(question, tale.nominate("train-0", "")) is OPEN
    assert asked(question, tale.run("train-1", "west")) is OPEN
    assert asked(question, tale.nominate("train-1", "")) is YES
    elsewhere = gang_asks().nominate("train-0", "east").nominate("train-1", "west")
    assert asked(question, elsewhere.run("train-0", "east").run("train-1", "east")) is NO


def test_nothing_is_free() -> None:
    assert asked(nothing_free(("east", "west"), "nvidia.com/gpu"), two_full_nodes()) is YES
    assert asked(nothing_free(("east",), "nvidia.com/gpu"), Tale().node("east", 4)) is OPEN
