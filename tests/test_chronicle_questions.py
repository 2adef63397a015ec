"""Questions answer yes, no or open, from history alone."""

import pytest

from muster.chronicle.facts import bound, gone, marked, nominated, refused, runs, runs_on
from muster.chronicle.preemptions import (
    exactly_preempted,
    no_victim_could_stay,
    nobody_preempted,
    nothing_else_disturbed,
    preempted_for,
)
from muster.chronicle.quantities import readable, thousandths
from muster.chronicle.questions import Question, Verdict, all_of, at, before, eventually, never
from muster.chronicle.rooms import (
    never_more_in_use,
    spread_over,
    takes_the_place_of,
    used_on,
    waits_for_one_victim,
)
from muster.chronicle.sayings import event_names_node, explains, nominated_to_the_node_of, warns
from tests.tales import Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN


def asked(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def full_node() -> Tale:
    return Tale().node("gpu-1", 2).settled("left", "gpu-1", 1, 10).settled("right", "gpu-1", 1, 10)


def test_eventually_is_open_until_it_happens() -> None:
    tale = Tale().node("n", 1).pod("a", 1)
    assert asked(eventually(runs("a")), tale) is OPEN
    assert asked(eventually(runs("a")), tale.run("a", "n")) is YES
    assert asked(eventually(runs_on("a", ("m",))), tale) is OPEN
    assert asked(eventually(runs_on("a", ("m", "n"))), tale) is YES


def test_never_is_yes_until_it_happens() -> None:
    tale = Tale().node("n", 1).pod("a", 1)
    assert asked(never(bound("a")), tale) is YES
    assert asked(never(bound("a")), tale.bind("a", "n")) is NO


def test_before_knows_the_order() -> None:
    tale = full_node().pod("urgent", 1, 100)
    question = before(gone("left"), bound("urgent"))
    assert asked(question, tale) is OPEN
    assert asked(question, full_node().pod("urgent", 1, 100).bind("urgent", "gpu-1")) is NO
    assert asked(question, tale.delete("left").gone("left").bind("urgent", "gpu-1")) is YES


def test_at_looks_at_one_moment() -> None:
    tale = full_node()
    question = at(runs("left"), "nothing wrong", lambda history, moment: "" if moment.version == 4 else "too late")
    assert asked(question, tale) is YES
    assert asked(at(runs("right"), "nothing wrong", lambda *_: "too late"), tale) is NO
    assert asked(at(runs("nobody"), "nothing wrong", lambda *_: ""), tale) is OPEN


def test_all_of_prefers_no_to_open() -> None:
    tale = Tale().node("n", 1).pod("a", 1).bind("a", "n")
    assert asked(all_of("both", [eventually(runs("a")), never(bound("a"))]), tale) is NO
    assert asked(all_of("both", [eventually(runs("a")), eventually(bound("a"))]), tale) is OPEN


@pytest.mark.parametrize(("victims", "verdict"), [((), OPEN), (("left",), YES), (("left", "right"), NO)])
def test_exactly_one_preempted(victims: tuple[str, ...], verdict: Verdict) -> None:
    tale = full_node().pod("urgent", 1, 100)
    for victim in victims:
        tale.preempted(victim, by="urgent")
    assert asked(exactly_preempted(("left", "right"), 1, "urgent"), tale) is verdict


def test_a_preemption_is_tied_to_its_preemptor_unless_an_event_says_otherwise() -> None:
    question = exactly_preempted(("left", "right"), 1, "urgent")
    tale = full_node().pod("urgent", 1, 100).pod("other", 1, 100).mark("left").delete("left")
    assert asked(question, tale) is YES
    assert asked(eventually(preempted_for("left", "urgent")), tale) is OPEN
    assert asked(question, tale.event("left", "Preempted", "Preempted by pod uid-other on node gpu-1")) is NO
    named = full_node().pod("urgent", 1, 100).mark("left").event("left", "Preempted", "Preempted", related="urgent")
    assert asked(question, named) is YES
    assert asked(eventually(preempted_for("left", "urgent")), named) is YES
    assert asked(question, full_node().mark("left").delete("left").pod("urgent", 1, 100)) is NO


def test_more_victims_than_needed_tells_when_it_was_enough() -> None:
    tale = full_node().pod("urgent", 1, 100).preempted("left", by="urgent").preempted("right", by="urgent")
    answer = exactly_preempted(("left", "right"), 1, "urgent").ask(tale.history)
    assert answer.nearest == "1 victim(s) would have been enough: left made room for 1 nvidia.com/gpu"


def test_disturbance_is_anybody_who_was_not_preempted() -> None:
    tale = full_node().pod("urgent", 1, 100).preempted("left", by="urgent")
    assert nothing_else_disturbed(tale.history) == ""
    assert "right (asked to go)" in nothing_else_disturbed(tale.delete("right").history)
    assert "right (ended Failed)" in nothing_else_disturbed(full_node().end("right", "Failed").history)
    assert asked(nobody_preempted(), full_node()) is YES
    assert asked(nobody_preempted(), tale) is NO


def test_a_victim_that_could_have_stayed() -> None:
    tale = Tale().node("n", 4).settled("three", "n", 3, 1).settled("one", "n", 1, 1).pod("urgent", 2, 9)
    for victim in ("three", "one"):
        tale.preempted(victim, by="urgent", node="n").gone(victim)
    assert asked(no_victim_could_stay("urgent"), tale) is OPEN
    answer = no_victim_could_stay("urgent").ask(tale.bind("urgent", "n").history)
    assert (answer.verdict, answer.seen) == (NO, "one went although urgent fits beside it on n")


def test_the_smaller_set_is_minimal() -> None:
    tale = Tale().node("n", 4).settled("three", "n", 3, 1).settled("one", "n", 1, 1).pod("urgent", 2, 9)
    tale.preempted("three", by="urgent", node="n").gone("three").bind("urgent", "n")
    assert asked(no_victim_could_stay("urgent"), tale) is YES


def test_rooms() -> None:
    tale = full_node()
    assert asked(used_on({"gpu-1": 2}), tale) is YES
    assert asked(used_on({"gpu-1": 1}), tale) is OPEN
    assert asked(spread_over(("left", "right"), 2), tale) is NO
    assert asked(spread_over(("left", "right"), 1), tale) is YES
    assert asked(never_more_in_use(2), tale) is YES
    assert asked(never_more_in_use(1), tale) is NO


def test_the_place_of_a_victim() -> None:
    tale = full_node().node("gpu-2", 1).pod("urgent", 1, 100).preempted("left", by="urgent").gone("left")
    question = takes_the_place_of("urgent", ("left", "right"))
    assert asked(question, tale) is OPEN
    assert asked(question, tale.run("urgent", "gpu-1")) is YES
    elsewhere = full_node().node("gpu-2", 1).pod("urgent", 1, 100).preempted("left", by="urgent").run("urgent", "gpu-2")
    assert asked(question, elsewhere) is NO


def test_waiting_for_one_victim() -> None:
    question = waits_for_one_victim("urgent", ("left", "right"))
    tale = full_node().pod("urgent", 1, 100)
    assert asked(question, tale) is OPEN
    assert asked(question, tale.delete("left")) is YES
    assert asked(question, tale.delete("right")) is NO
    early = full_node().pod("urgent", 1, 100).delete("left").bind("urgent", "gpu-1")
    assert asked(question, early) is NO


def test_sayings() -> None:
    tale = full_node().pod("urgent", 1, 100)
    assert asked(eventually(refused("urgent")), tale) is OPEN
    tale.refuse("urgent").event("urgent", "FailedScheduling", "1 Insufficient nvidia.com/gpu", "Warning")
    assert asked(eventually(refused("urgent")), tale) is YES
    assert asked(explains("urgent", ("Unschedulable", "nvidia.com/gpu")), tale) is YES
    assert asked(explains("urgent", ("taint",)), tale) is OPEN
    assert asked(warns("urgent", ("nvidia.com/gpu",)), tale) is YES
    assert asked(warns("urgent", ("taint",)), tale) is OPEN


def test_the_victims_own_words() -> None:
    tale = full_node().pod("urgent", 1, 100).preempted("left", by="urgent", node="elsewhere")
    assert asked(event_names_node("left", "urgent"), tale) is NO
    right = full_node().pod("urgent", 1, 100).preempted("left", by="urgent")
    assert asked(event_names_node("left", "urgent"), right) is YES
    assert asked(eventually(marked("left", "DeletionByTaintManager")), right) is OPEN
    assert asked(before(marked("left", "PreemptionByScheduler"), gone("left")), right.gone("left")) is YES


def test_nominations() -> None:
    tale = full_node().pod("urgent", 1, 100)
    assert asked(eventually(nominated("urgent")), tale) is OPEN
    assert asked(nominated_to_the_node_of("urgent", "left"), tale.nominate("urgent", "gpu-1")) is YES
    other = full_node().pod("urgent", 1, 100).nominate("urgent", "gpu-2")
    assert asked(nominated_to_the_node_of("urgent", "left"), other) is NO


def test_a_recreated_pod_is_another_pod() -> None:
    tale = full_node().delete("left").gone("left").pod("left", 1, 10, uid="uid-left-2")
    assert asked(eventually(runs("left")), tale) is OPEN
    assert len([life for life in tale.history.pods if life.name == "left"]) == 2


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1", 1000),
        ("500m", 500),
        ("1Ki", 1_024_000),
        ("2k", 2_000_000),
        (4, 4000),
        ("1u", 1),
        ("0", 0),
        ("1e3", 1_000_000),
    ],
)
def test_quantities(text: str | int, amount: int) -> None:
    assert thousandths(text) == amount


def test_quantities_are_written_as_people_write_them() -> None:
    assert (readable(4000), readable(500), readable(0)) == ("4", "500m", "0")
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        thousandths("1iKi")
